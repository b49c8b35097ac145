"""Counts the instructions of hot paths, and fails when one of them has grown.

Runs each path of `benches/src/bin/hot_paths.rs` under callgrind with two counts: what they differ by is the path alone,
without what starts and stops a process. Unlike time, instructions are the same on a busy machine. `instructions.json`
beside this file has what each path took when it was last looked at; with `--update` it is written anew, which is for
changes that are worth what they cost, and for those that cost less.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
PROGRAM = TARGET / "release" / "hot_paths"
BASELINE = HERE / "instructions.json"
TOLERANCE = 0.10
# Paths with events start a stream or a server: many events, so that those do not show.
COUNTS = {"event": (1_000, 11_000), "": (100, 1_100)}


def instructions(path, count):
    """How many instructions a run takes, in all threads."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", PROGRAM, path, str(count)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{path} failed:\n{done.stderr}")
        totals = [line for line in out.read_text().splitlines() if line.startswith("totals:")]
        return int(totals[-1].split()[1])


def each(path):
    low, high = next(counts for word, counts in COUNTS.items() if path.endswith(word))
    return round((instructions(path, high) - instructions(path, low)) / (high - low))


def main():
    names = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split()
    before = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    now, grown = {}, []
    for name in names:
        now[name] = each(name)
        change = now[name] / before[name] - 1 if name in before else 0
        print(f"{name:<16} {now[name]:>8}  {f'{change:+.1%}' if name in before else 'new'}", flush=True)
        if change > TOLERANCE:
            grown.append(name)
    overhead = now["chain_call"] - now["provider_call"]
    print(f"{'overhead':<16} {overhead:>8}  of a chain's call over the provider's own")
    if "--update" in sys.argv:
        BASELINE.write_text(json.dumps(now, indent=4) + "\n")
    elif grown:
        sys.exit(f"grown by more than {TOLERANCE:.0%}: {', '.join(grown)}; if that is wanted, run with --update")
    elif set(now) != set(before):
        sys.exit("paths came or went; run with --update")


main()
