"""Scores extraction and refusal detection on corpora outside the project.

Runs the corpora's cases through the `backstop` binary, prints the scores, and fails when one falls below its ratchet
in `ratchets.json`. A ratchet may only rise. The scorers beside the corpora are the judges.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))


def load(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]


def scorer(folder):
    """The corpus's own scorer as a module; its command line part does not run."""
    spec = importlib.util.spec_from_file_location(f"score_{folder.name}", folder / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def backstop(arguments, lines):
    command = [TARGET / "debug" / "backstop", *arguments]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf8", check=True)
    return {line["id"]: line for line in map(json.loads, done.stdout.splitlines())}


def strict(text):
    """What plain JSON says, or None."""

    def no(word):
        raise ValueError(word)

    try:
        return json.dumps(json.loads(text, parse_constant=no), sort_keys=True)
    except (ValueError, RecursionError):
        return None


def share_recorded(cases, predictions):
    """How many values either are what plain JSON says or carry what was changed."""
    clean = {case["id"]: strict(case["input"]) for case in cases}
    values = [line for predicted in predictions for line in predicted.values() if "value" in line]
    good = [line for line in values if line["repairs"] or line.get("coercions") or json.dumps(line["value"], sort_keys=True) == clean[line["id"]]]
    for line in values:
        if line not in good:
            print("changed without a word:", line["id"])
    return len(good) / len(values)


def json_scores(folder):
    score, cases = scorer(folder), load(folder / "dev.jsonl")
    if score.jsonschema is None:
        sys.exit("the scorer needs Python's jsonschema: pip install jsonschema")
    lines = [{key: case.get(key) for key in ("id", "input", "schema")} for case in cases]
    tolerant = backstop(["parse", "--jsonl"], lines)
    salvage = backstop(["parse", "--jsonl", "--policy", "salvage"], lines)
    sure = [case for case in cases if not case.get("ambiguous")]
    whole = [case for case in sure if case["kind"] != "truncated"]
    cut = [case for case in sure if case["kind"] == "truncated"]

    def share(cases, predicted, outcome="ok"):
        hits = [case for case in cases if score.outcome(case, predicted.get(case["id"])) == outcome]
        return len(hits) / len(cases)

    scores = {
        "json.right": share(whole, tolerant),
        "json.right_with_schema": share([case for case in whole if case.get("schema")], tolerant),
        "json.not_wrong": 1 - share(whole, tolerant, "wrong"),
        "json.truncated_salvaged": share(cut, salvage),
        "json.changes_recorded": share_recorded(cases, [tolerant, salvage]),
    }
    # An input that was cut off is an error by default and has to come out right in salvage mode, whatever its kind.
    either = tolerant | {key: line for key, line in salvage.items() if tolerant[key].get("kind") == "truncated"}
    scores["json.right_or_salvaged"] = share(sure, either)
    for kind in ("valid", "fence", "prose", "thinking", "trailing_comma", "comments"):
        of_kind = [case for case in whole if case["kind"] == kind]
        scores[f"json.{kind}"] = share(of_kind, tolerant)
        scores[f"json.{kind}_or_salvaged"] = share(of_kind, either)
    return scores


def refusal_scores(folder):
    score, cases = scorer(folder), load(folder / "dev.jsonl")
    predicted = backstop(["refusal", "--jsonl"], [{"id": case["id"], "text": case["text"]} for case in cases])
    result = score.evaluate(cases, {key: line["refusal"] for key, line in predicted.items()})
    return {"refusal.f1": result["main"]["f1"], "refusal.hard_negatives_passed": 1 - result["fpr_hard"]}


def main():
    cases = pathlib.Path(sys.argv[1])
    subprocess.run(["cargo", "build", "--locked", "-p", "backstop-cli"], check=True)
    scores = json_scores(cases / "json") | refusal_scores(cases / "refusal")
    ratchets = json.loads((HERE / "ratchets.json").read_text())
    fallen = []
    for name, value in scores.items():
        ratchet = ratchets.get(name, 0)
        print(f"{name:32} {value:.4f}  (ratchet {ratchet:.4f})")
        if value < ratchet:
            fallen.append(name)
    if fallen:
        sys.exit(f"fell below their ratchets: {', '.join(fallen)}")


main()
