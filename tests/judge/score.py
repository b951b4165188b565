# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges recorded trainings by `telltale judge`, and holds what it finds against scenarios.json.

python tests/judge/score.py DIR... [--telltale PATH] [--out results.md]        DIRs as record.py fills them

Prints a table, and writes one; exits 1 where something is not as it must be. What the file of --out says
below NOTES is kept.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import record

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((Path(__file__).parent / "scenarios.json").read_text("utf-8"))
SEVERITIES = ["notice", "warning", "critical"]
NOTES = "## What was tuned on what"


def faults_of(expect: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    """What is not as it must be; nothing where all is."""
    least, most = expect.get("cards", [0, 0])
    said = [] if least <= len(found) <= most else [f"{len(found)} cards, not {least} to {most}"]
    if expect["is"] not in ("card", "difference between attempts") or not found:
        return said
    first = found[0]
    if first["rule"] != expect.get("rule", first["rule"]):
        said.append(f"rule {first['rule']}, not {expect['rule']}")
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


def steps_of(telltale: Path, capsule: Path) -> int:
    """How many steps were trained, one rank's of all attempts."""
    done = subprocess.run([telltale, "inspect", capsule, "--json"], capture_output=True, text=True, check=True)
    sources = json.loads(done.stdout)["sources"]
    return sum(one["last_step"] - one["first_step"] + 1 for one in sources if one["rank"] == sources[0]["rank"])


def clean_page(clean: dict[str, list[tuple[int, int]]]) -> list[str]:
    """How many steps of clean trainings were judged, and how many cards there are of them."""
    lines = ["## Clean steps", "", "| | trainings | steps | false alarms |", "|---|---|---|---|"]
    for name, runs in sorted(clean.items()):
        steps, cards = sum(steps for steps, _ in runs), sum(cards for _, cards in runs)
        lines.append(f"| {name} | {len(runs)} | {steps:,} | {cards} |")
    return lines


def page(results: dict[str, dict[int, str]], clean: dict[str, list[tuple[int, int]]], said: str, notes: str) -> str:
    """The results by scenario and seed, and what is wrong below."""
    seeds = sorted({seed for row in results.values() for seed in row})
    lines = ["| | " + " | ".join(str(seed) for seed in seeds) + " |", "|---" * (len(seeds) + 1) + "|"]
    wrong = []
    for name, row in sorted(results.items()):
        cells = []
        for seed in seeds:
            what = row.get(seed)
            cells.append("" if what is None else "right" if not what else what if what == "not counted" else "WRONG")
            if cells[-1] == "WRONG":
                wrong.append(f"* {name}, seed {seed}: {what}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    head = f"By `score.py`, {date.today()}: {said}. A column is a seed; an empty cell was not recorded.\n"
    lines.insert(0, "# Recorded trainings, judged\n")
    rest = [*(["", *wrong] if wrong else []), "", *clean_page(clean), *(["", notes] if notes else [])]
    return "\n".join([lines[0], head, *lines[1:], *rest]).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--out", type=Path, help="a page of results, by scenario and seed")
    parser.add_argument("--telltale", type=Path, default=ROOT / "build" / "release" / "bin" / "telltale")
    options = parser.parse_args()
    right = wrong = slow = 0
    results: dict[str, dict[int, str]] = {}
    clean: dict[str, list[tuple[int, int]]] = {}
    capsules = [one for folder in options.folders for one in sorted(folder.glob("*.telltale"))]
    for capsule in capsules:
        match = re.fullmatch(r"(cpp-)?(clean-)?(.+)-seed(\d+)(-\d+)?", capsule.stem)
        entry = match and TABLE["clean" if match[2] else "scenarios"].get(match[3])
        if match and entry and match[1]:
            entry = record.of_cpp(entry)
        if not match or not entry:
            print(f"{capsule.stem:<28} is not in scenarios.json")
            continue
        done = subprocess.run(
            [options.telltale, "judge", capsule, "--json"], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        # Whose fault is in its numbers may have a rank that is late, too, of a machine that does other work.
        if entry["expect"]["is"] == "card" and "step" not in entry["expect"]["phase"]:
            late = [one for one in found if one["rule"] == "straggler"]
            found = [one for one in found if one not in late]
            slow += bool(late)
        faults = faults_of(entry["expect"], found)
        if faults and not found and entry.get("is_of_a_quiet_machine"):
            results.setdefault(f"{match[1] or ''}{match[3]}", {})[int(match[4])] = "not counted"
            print(f"{capsule.stem:<28} says nothing: record it on a machine that does nothing else")
            continue
        row = results.setdefault(f"{match[1] or ''}{match[2] or ''}{match[3]}", {})
        # Of one seed there may be a whole and a small training: one that is wrong is told.
        told = "; ".join([found[0]["sentence"], *faults]) if faults and found else "; ".join(faults)
        row[int(match[4])] = row.get(int(match[4])) or told
        if entry["expect"]["is"] in ("none", "event") and not match[1]:
            clean.setdefault(match[3], []).append((steps_of(options.telltale, capsule), len(found)))
        right += not faults
        wrong += bool(faults)
        print(f"{capsule.stem:<28} {'MISSED  ' + '; '.join(faults) if faults else 'right'}")
        if found:
            print(f"{'':<28} {found[0]['sentence']}")
    said = f"{right} right, {wrong} not as they must be"
    if slow:
        said += f" (of {slow} a rank was named for computing longer, too: the machine did other work)"
    print(said)
    if options.out:
        before = options.out.read_text("utf-8") if options.out.exists() else ""
        notes = "".join(before.partition(NOTES)[1:])
        options.out.write_text(page(results, clean, said, notes), "utf-8")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
