# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Python agent adds to a training step on a CUDA card, beside msprobe's TrainerMon, in one interleaved run.

    cudabench.py [--out build/bench.json] [--rounds 6] [--size "120 M"]

Every variant trains the same GPT by AdamW and bf16 autocast, from the same seed, in a process of its own. The
processes take turns of some steps; what a variant adds is the median over the rounds of the difference to the bare
training of the same round. The limit is the time in which the card would read once what is measured, at the speed at
which it copies. Where mindstudio-probe is not installed, or cannot run, the rows of msprobe are left out.
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
from benchserver import ROOT
from benchworker import Worker

STEPS = {"0.83 M": 60, "120 M": 20}  # of a turn
_PEERS_TURNS, _PEERS_STEPS = 2, 2  # its step takes many times as long, and says as much with fewer
_LOOK = 4
_EQUAL = 8
_COPY = 2 << 30
_GOAL_KERNELS = 1.5  # times what reading once takes
_GOAL_STEP = 5.0  # % of the large model's step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(ROOT / "build" / "bench.json"))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--size", choices=STEPS, action="append", help="one size only")
    options = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        print("SKIP cuda: the bench of trainings on a card needs a CUDA device, and torch finds none here")
        return
    out = Path(options.out)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, MONITOR_OUTPUT_DIR=folder, TELLTALE_DIR=folder)
        environment["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # for the steps that must come out bitwise equal
        python_path = [str(ROOT / "capture/agent/python"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, python_path))
        for size in options.size or list(STEPS):
            rows += measure(options.rounds, size, environment)
    write(out, rows_of_others(out, "cuda"), rows)


def measure(rounds: int, size: str, environment: dict[str, str]) -> list[dict[str, Any]]:
    variants = ["bare", "telltale weights", "telltale histograms", "telltale everything"]
    if importlib.util.find_spec("msprobe") is not None:
        variants += ["msprobe weights", "msprobe everything"]
    script = str(Path(__file__).with_name("cudaworker.py"))
    workers: dict[str, Worker] = {}
    taken: dict[str, list[dict[str, float]]] = {}
    try:
        for variant in variants:
            workers[variant] = Worker(variant, size, environment, script)
        for variant in list(variants):
            try:
                workers[variant].ask("steps 2")  # warm before the turns begin
            except SystemExit as failure:
                if not variant.startswith("msprobe"):
                    raise
                variants.remove(variant)
                print(f"left out: {failure}", file=sys.stderr)
        card = workers["bare"].ask(f"copy {_COPY}")
        for turn in range(rounds):
            for variant in variants if turn % 2 == 0 else variants[::-1]:
                is_peer = variant.startswith("msprobe")
                if not is_peer or turn < _PEERS_TURNS:
                    count = _PEERS_STEPS if is_peer else STEPS[size]
                    taken.setdefault(variant, []).append(workers[variant].ask(f"steps {count}"))
            shown = ", ".join(f"{variant} {values[-1]['ms']:.2f}" for variant, values in taken.items())
            print(f"{size}, ms a step: {shown}", file=sys.stderr)
        looks = {v: workers[v].ask(f"look {_LOOK}") for v in variants if not v.startswith("msprobe")}
        digests = {v: workers[v].ask(f"weights {_EQUAL}")["digest"] for v in looks}
        digests["bare, again"] = workers["bare"].ask(f"weights {_EQUAL}")["digest"]
    finally:
        for worker in workers.values():
            worker.close()
    for variant, look in looks.items():
        print(f"{size}, a step of {variant}: {look}", file=sys.stderr)

    def median(variant: str, what: str) -> float:
        return statistics.median(values[what] for values in taken[variant])

    def added(variant: str) -> float:
        pairs = zip(taken[variant], taken["bare"])
        return statistics.median(with_it["ms"] - bare["ms"] for with_it, bare in pairs)

    def add(name: str, value: float, unit: str, goal: float | None = None, better: str = "lower", **more: Any) -> None:
        rows.append(row(f"cuda, {size}: {name}", value, unit, goal, better, device=card["device"], **more))

    rows: list[dict[str, Any]] = []
    bare = median("bare", "ms")
    speed = card["bytes_per_second"]
    is_large = size != "0.83 M"
    add("bare step", bare, "ms", torch=card["torch"])
    add("bare step, in which the host queues it", median("bare", "host_ms"), "ms")
    add("the card copies, bytes read and written", speed / 1e9, "GB/s")
    for what in ("weights", "histograms", "everything"):
        ours, look, plain = f"telltale {what}", looks[f"telltale {what}"], looks["bare"]
        limit = look["read_bytes"] / speed * 1e3
        add(f"{what}, added", added(ours), "ms", limit_value=limit)
        goal = _GOAL_STEP if is_large and what != "everything" else None
        add(f"{what}, share of the step", 100 * added(ours) / bare, "%", goal, limit_value=100 * limit / bare)
        add(f"{what}, in the hooks of gradients and steps", median(ours, "inside_ms"), "ms")
        add(f"{what}, added until a step is queued", median(ours, "host_ms") - median("bare", "host_ms"), "ms")
        add(f"{what}, tensors measured in a step", look["tensors"], "")
        add(f"{what}, bytes measured in a step", look["read_bytes"] / 1e6, "MB")
        add(f"{what}, its kernels on the card", look["own_ms"], "ms", limit_value=limit)
        goal = _GOAL_KERNELS if is_large and what != "histograms" else None
        add(f"{what}, its kernels against reading once", look["own_ms"] / limit, "x", goal)
        add(f"{what}, its launches", look["own_kernels"], "")
        others = look["kernels"] - look["own_kernels"] - plain["kernels"]
        add(f"{what}, launches of torch added", others, "")
        more_ms = look["kernel_ms"] - look["own_ms"] - plain["kernel_ms"]
        add(f"{what}, kernels of torch added", more_ms, "ms")
        add(f"{what}, copies added", look["copies"] - plain["copies"], "")
        add(f"{what}, waits for the card added", look["waits"] - plain["waits"], "", 0)
        add(f"{what}, allocations of the driver added", look["allocations"] - plain["allocations"], "")
        is_equal = digests[ours] == digests["bare"]
        is_known = digests["bare"] == digests["bare, again"]
        if is_known:
            add(f"{what}, weights that differ after {_EQUAL} steps", 0 if is_equal else 1, "", 0)
        else:
            print(f"{size}: two bare trainings differ, so nothing can be said of the weights", file=sys.stderr)
        if f"msprobe {what}" in taken:
            theirs = added(f"msprobe {what}")
            ratio = theirs / max(added(ours), 1e-9)
            extra = {"peer": "msprobe 26.2.0", "peer_value": theirs, "ratio": ratio}
            add(f"{what}, msprobe adds this many times more", ratio, "x", 20, "higher", **extra)
    return rows


if __name__ == "__main__":
    main()
