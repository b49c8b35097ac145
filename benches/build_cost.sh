#!/usr/bin/env bash
# What it costs to build on a client: crates in the tree, and processor time of a cold debug build of an empty crate
# with that one dependency. Processor time instead of the clock on the wall: it depends less on what else is running.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

measure() {
    local name=$1 dependency=$2 folder=$work/crate
    rm -rf "$folder" && mkdir -p "$folder/src" && touch "$folder/src/lib.rs"
    printf '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s\n' \
        "$dependency" >"$folder/Cargo.toml"
    cd "$folder"
    cargo fetch --quiet
    local crates seconds
    crates=$(cargo tree -e normal --prefix none | sed 's/ (\*)$//' | sort -u | grep -c .)
    seconds=$( { time CARGO_TARGET_DIR=$work/target cargo build --offline --quiet 2>/dev/null; } 2>&1 | awk '{print $1 + $2}')
    rm -rf "$work/target"
    # The empty crate itself is not counted.
    printf '%-44s %6s %10.0f\n' "$name" $((crates - 1)) "$seconds"
}

printf '\n%-44s %6s %10s\n' "cold debug build" crates "CPU s"
measure "backstop" "backstop = { path = \"$root/crates/backstop\" }"
measure "backstop: openai, rustls" \
    "backstop = { path = \"$root/crates/backstop\", default-features = false, features = [\"openai\", \"rustls\"] }"
measure "async-openai 0.43.0: chat-completion" \
    'async-openai = { version = "=0.43.0", features = ["chat-completion"] }'
measure "genai 0.7.2" 'genai = "=0.7.2"'
measure "rstructor 0.6.0: openai" \
    'rstructor = { version = "=0.6.0", default-features = false, features = ["derive", "openai"] }'
