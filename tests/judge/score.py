# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges recorded trainings by `telltale judge`, and holds what it finds against scenarios.json.

python tests/judge/score.py DIR [--telltale PATH]        DIR as record.py fills it

Prints a table; exits 1 where something is not as it must be.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((Path(__file__).parent / "scenarios.json").read_text("utf-8"))
SEVERITIES = ["notice", "warning", "critical"]


def faults_of(expect: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    """What is not as it must be; nothing where all is."""
    least, most = expect.get("cards", [0, 0])
    said = [] if least <= len(found) <= most else [f"{len(found)} cards, not {least} to {most}"]
    if expect["is"] != "card" or not found:
        return said
    first = found[0]
    if SEVERITIES.index(first["severity"]) < SEVERITIES.index(expect["severity"]):
        said.append(f"is {first['severity']}, not {expect['severity']}")
    low, high = expect["step"]
    if not low <= first["step"] <= high:
        said.append(f"step {first['step']}, not {low} to {high}")
    if "rank" in expect and first["rank"] != expect["rank"]:
        said.append(f"rank {first['rank']}, not {expect['rank']}")
    if first["phase"] not in expect["phase"]:
        said.append(f"phase {first['phase']}, not {' or '.join(expect['phase'])}")
    if "kind" in expect and first["kind"] != expect["kind"]:
        said.append(f"kind {first['kind']}, not {expect['kind']}")
    if not fnmatch.fnmatchcase(first["name"], expect["name"]):
        said.append(f"{first['name']}, not {expect['name']}")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--telltale", type=Path, default=ROOT / "build" / "release" / "bin" / "telltale")
    options = parser.parse_args()
    right = wrong = 0
    for capsule in sorted(options.folder.glob("*.telltale")):
        match = re.fullmatch(r"(clean-)?(.+)-seed(\d+)(-\d+)?", capsule.stem)
        entry = match and TABLE["clean" if match[1] else "scenarios"].get(match[2])
        if not match or not entry:
            print(f"{capsule.stem:<28} is not in scenarios.json")
            continue
        done = subprocess.run(
            [options.telltale, "judge", capsule, "--json"], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        faults = faults_of(entry["expect"], found)
        right += not faults
        wrong += bool(faults)
        print(f"{capsule.stem:<28} {'MISSED  ' + '; '.join(faults) if faults else 'right'}")
        if found:
            print(f"{'':<28} {found[0]['sentence']}")
    print(f"{right} right, {wrong} not as they must be")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
