# SPDX-License-Identifier: GPL-3.0-or-later
"""What the MindSpore agent adds to a training step, beside msprobe's TrainerMon on the same net, in turns.

    mindsporebench.py [--out build/bench.json] [--rounds 6]

Measured as pythonbench.py does. Without mindstudio-probe installed the rows of msprobe are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchrows import row, rows_of_others, write
from benchserver import ROOT, BenchServer
from benchworker import Worker
from mindsporeworker import SIZES

STEPS = 5  # of a turn


def measure(rounds: int, size: str, environment: dict[str, str]) -> list[dict[str, Any]]:
    variants = ["bare", "telltale weights", "telltale everything"]
    if importlib.util.find_spec("msprobe") is not None:
        variants += ["msprobe weights", "msprobe everything"]
    script = str(Path(__file__).with_name("mindsporeworker.py"))
    workers = []
    taken: dict[str, list[float]] = {variant: [] for variant in variants}
    try:
        for variant in variants:
            workers.append(Worker(variant, size, environment, script))
            workers[-1].steps(0)  # warm before the next one starts
        for turn in range(rounds):
            for worker in workers if turn % 2 == 0 else workers[::-1]:
                taken[worker.variant].append(statistics.median(worker.steps(STEPS)["ms"]))
            shown = ", ".join(f"{variant} {values[-1]:.1f}" for variant, values in taken.items())
            print(f"mindspore, {size}, ms a step: {shown}", file=sys.stderr)
    finally:
        for worker in workers:
            worker.close()

    def added(variant: str) -> float:
        return statistics.median(with_it - bare for with_it, bare in zip(taken[variant], taken["bare"]))

    bare = statistics.median(taken["bare"])
    rows = [row(f"mindspore, {size}: bare step", bare, "ms", None, "lower")]
    for what in ("weights", "everything"):
        ours = added(f"telltale {what}")
        beside: dict[str, Any] = {}
        if f"msprobe {what}" in taken:
            theirs = added(f"msprobe {what}")
            ratio = theirs / max(ours, bare / 100)  # less than a hundredth of the step is noise
            beside = {"peer": "msprobe 26.2.0", "peer_value": theirs, "ratio": ratio}
        rows.append(row(f"mindspore, {size}: {what}, added", ours, "ms", None, "lower", **beside))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(ROOT / "build" / "bench.json"))
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    out = Path(options.out)
    others = rows_of_others(out, "mindspore")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, BenchServer(Path(folder)) as server:
        environment = dict(os.environ, MONITOR_OUTPUT_DIR=folder, TELLTALE_DIR=f"{folder}/spool")
        python_path = [str(ROOT / "capture/agent/python"), os.environ.get("PYTHONPATH", "")]
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, python_path)), "TELLTALE_JOIN": server.join}
        for size in SIZES:
            rows += measure(options.rounds, size, environment)
    write(out, others, rows)


if __name__ == "__main__":
    main()
