#!/usr/bin/env bash
# backstop beside other crates of its kind, in one run: bash benches/peers.sh
#
# Prints the tables that docs/performance.md explains. Takes about half an hour on two cores, most of it compiling.
set -euo pipefail
cd "$(dirname "$0")/peers"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

cargo build --locked --release --bins
for bin in breaker json calls; do
    "$CARGO_TARGET_DIR/release/$bin"
done
bash ../build_cost.sh
