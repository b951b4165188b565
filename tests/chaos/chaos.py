#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks servers, agents, disks, networks and clocks while samples stream, and lets a judge outside of all that say
what became of every one of them. Prints the scoreboard. Run it through `./dev chaos`."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from disks import unmount
from rig import LIVING, Broken, Stopping, Trial
from rows import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "telltale-chaos-"
MARK = "<!-- scoreboard -->"


@dataclass
class Outcome:
    """Of one row."""

    row: Row
    trials: int = 0
    broken: list[str] = field(default_factory=list)  # a sentence each
    errors: list[str] = field(default_factory=list)  # of the harness itself
    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    skipped: str = ""

    @property
    def is_good(self) -> bool:
        if self.skipped:
            return True
        return not self.errors and self.trials > 0 and bool(self.broken) == self.row.must_fail

    def result(self) -> str:
        if self.skipped:
            return f"SKIP: {self.skipped}"
        if self.errors:
            return f"harness: {self.errors[0]}"
        if self.row.must_fail:
            seen = f"{len(self.broken)} of {self.trials} break a promise"
            return f"{seen}, as they must: {first(self.broken)}" if self.broken else f"**{seen}: the judge is blind**"
        if self.broken:
            return f"**{len(self.broken)} broken**: {first(self.broken)}"
        return "; ".join(["none broken"] + [text.format(value) for text, value in sorted(self.figures.items())])

    def bound(self) -> str:
        """With n clean trials the rate of failures is below 3/n, with 95 % confidence."""
        if self.skipped or self.errors or self.broken or not self.trials or self.row.must_fail:
            return ""
        return f"< 3/{self.trials} = {300 / self.trials:.2g} %" if self.trials > 3 else ""


def first(problems: list[str]) -> str:
    return problems[0].split("; ")[0]


def write(text: str, out: Path) -> None:
    """Into a file of its own, or behind the mark of one that has more to say."""
    before = out.read_text() if out.exists() else ""
    out.write_text(before[: before.index(MARK) + len(MARK)] + "\n\n" + text if MARK in before else text)


def table(outcomes: list[Outcome]) -> str:
    lines = ["| row | trials | result | bound (95 %) | time |", "|---|---|---|---|---|"]
    for one in outcomes:
        lines.append(f"| {one.row.title} | {one.trials} | {one.result()} | {one.bound()} | {one.seconds:.0f} s |")
    return "\n".join(lines)


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return (
        f"{day}, {commit.stdout.strip() or 'unknown commit'}, {os.cpu_count()} cores, {memory} GiB, "
        f"Linux {platform.release()}"
    )


class Harness:
    def __init__(self, build: Path, work: Path, seed: int, jobs: int, only: int | None) -> None:
        self._build = build
        self._work = work
        self._seed = seed
        self._jobs = jobs
        self._only = only
        self._lock = threading.Lock()

    def _one(self, row: Row, index: int, count: int, outcome: Outcome) -> None:
        if LIVING.is_stopping:
            return
        name = f"{row.key}-{index}"
        started = time.monotonic()
        problem, is_ours = "", False
        with Trial(self._build, self._work / name, f"{self._seed}:{name}", index, count) as trial:
            try:
                row.run(trial)
            except Stopping:
                return
            except Broken as broken:
                problem = str(broken)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is said in the table
                problem, is_ours = f"{type(error).__name__}: {error}", True
            if LIVING.is_stopping:
                return
            kept = ""
            if problem and not (row.must_fail and not is_ours):
                # What is mounted goes with the trial.
                kept = str(self._build / "chaos" / name)
                shutil.rmtree(kept, ignore_errors=True)
                with contextlib.suppress(OSError):  # a disk without power gives nothing
                    shutil.copytree(trial.folder, kept, ignore=shutil.ignore_patterns("*.img"), dirs_exist_ok=True)
            figures = trial.figures
        with self._lock:
            outcome.trials += 1
            outcome.seconds += time.monotonic() - started
            if is_ours:
                outcome.errors.append(problem)
            elif problem:
                outcome.broken.append(problem)
            for text, value in figures.items():
                outcome.figures[text] = max(outcome.figures.get(text, 0.0), value)
            if kept:
                print(f"{name}: {problem} (see {kept})", file=sys.stderr, flush=True)
        shutil.rmtree(self._work / name, ignore_errors=True)

    def run(self, counts: dict[str, int]) -> list[Outcome]:
        outcomes = []
        work = []
        for row in ROWS:
            if counts.get(row.key, 0) == 0:
                continue
            outcome = Outcome(row, skipped=row.missing())
            outcomes.append(outcome)
            if outcome.skipped:
                print(f"SKIP {row.key}: {outcome.skipped}", file=sys.stderr)
                continue
            trials = range(counts[row.key]) if self._only is None else [self._only]
            work.append([(row, index, counts[row.key], outcome) for index in trials])
        # Rows side by side: most trials wait most of their time, and the long waits are best begun first.
        mixed = [one for rank in range(max(map(len, work), default=0)) for row in work for one in row[rank : rank + 1]]
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            done = [pool.submit(self._one, *one) for one in mixed]
            try:
                concurrent.futures.wait(done)
            except KeyboardInterrupt:
                print("ending", file=sys.stderr)
                LIVING.stop()
        for one in done:
            one.result()
        return outcomes


def sweep() -> None:
    """Takes away what a harness left that was itself killed."""
    for folder in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        pid = folder.name[len(PREFIX) :].split("-")[0]
        if not pid.isdigit() or Path(f"/proc/{pid}").exists():
            continue
        for line in Path("/proc/mounts").read_text().splitlines():
            if line.split()[1].startswith(str(folder)):
                unmount(Path(line.split()[1]))
        shutil.rmtree(folder, ignore_errors=True)
        if shutil.which("ip"):
            spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split()
            for space in spaces:
                if space.startswith(f"ttc{int(pid) % 100000}x"):
                    subprocess.run(["ip", "netns", "del", space], capture_output=True)


def parse() -> argparse.Namespace:
    rows = "\n".join(f"  {row.key:14} {row.full:4} {row.short:3}  {row.title}" for row in ROWS)
    parser = argparse.ArgumentParser(
        prog="./dev chaos",
        description=__doc__,
        epilog=f"rows, with the trials of --all and of the short form:\n{rows}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", metavar="ROW[=COUNT]", help="only these rows (default: all)")
    parser.add_argument("--all", action="store_true", help="the full counts instead of the short form")
    parser.add_argument("--seed", type=int, help="of every moment that is drawn (default: the time)")
    parser.add_argument("--only", type=int, metavar="INDEX", help="one trial of each row, as its name says it")
    parser.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1), help="trials side by side")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the build folder")
    parser.add_argument("--out", type=Path, help="a file for the table (in a README: behind its mark)")
    return parser.parse_args()


def wanted(args: argparse.Namespace) -> dict[str, int]:
    known = {row.key: row.full if args.all else row.short for row in ROWS}
    if not args.rows:
        return known
    counts = {}
    for word in args.rows:
        key, _, count = word.partition("=")
        if key not in known or (count and not count.isdigit()):
            sys.exit(f"chaos: {word!r} is no row; they are {', '.join(known)}")
        counts[key] = int(count) if count else known[key]
    return counts


def main() -> int:
    args = parse()
    counts = wanted(args)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    sweep()
    host = machine()
    seed = args.seed if args.seed is not None else int(time.time())
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        work = tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
        harness = Harness(args.build.resolve(), Path(stack.enter_context(work)), seed, args.jobs, args.only)
        outcomes = harness.run(counts)
    text = f"{host}, seed {seed}, {time.monotonic() - started:.0f} s in all.\n\n{table(outcomes)}\n"
    print(text)
    if args.out:
        write(text, args.out)
    if LIVING.is_stopping:
        return 130
    return 0 if all(one.is_good for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
