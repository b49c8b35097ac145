"""Compares the workspace's rust-version with what its published crates' dependencies need."""

import json
import subprocess
import sys


def number(version):
    return tuple(int(part) for part in (version.split(".") + ["0", "0"])[:3])


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    members = set(metadata["workspace_members"])
    published = [member for member in members if packages[member]["publish"] != []]

    stated = {packages[member]["rust_version"] for member in members}
    if len(stated) != 1 or None in stated:
        sys.exit(f"the members state different rust-versions: {stated}")
    ours = stated.pop()

    seen, queue, needed = set(), list(published), ("0", None)
    while queue:
        package = queue.pop()
        if package in seen:
            continue
        seen.add(package)
        version = packages[package]["rust_version"]
        if package not in members and version and number(version) > number(needed[0]):
            needed = (version, packages[package]["name"])
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                queue.append(dependency["pkg"])

    print(f"rust-version {ours}; the dependencies need {needed[0]} ({needed[1]})")
    if number(ours) > number(needed[0]):
        sys.exit("state no more than the dependencies need")
    if number(ours) < number(needed[0]):
        sys.exit("the dependencies need more than is stated")


main()
