# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Python agent adds to a training step, beside msprobe's TrainerMon, in one interleaved run.

    pythonbench.py [--out build/bench.json] [--rounds 3] [--quick]

Every variant trains the same model from the same seed in a process of its own; variants take turns, and a figure is the
median over all rounds of the lower decile of the steps. Without mindstudio-probe installed the rows of msprobe are left
out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPS = ["norm", "mean", "min", "max", "zeros", "nans"]
WEIGHTS = {"wg_distribution": True, "ops": OPS, "targets": {}}
EVERYTHING = {
    **WEIGHTS,
    "mv_distribution": True,
    "param_distribution": True,
    "mg_direction": True,
    "xy_distribution": True,
    "all_xy": True,
    "stack_info": True,
}
SIZES = {
    "0.83 M": {"d": 128, "n": 4, "h": 4, "t": 64, "b": 8, "steps": 40},
    "25 M": {"d": 512, "n": 8, "h": 8, "t": 128, "b": 16, "steps": 10},
}


def train(variant: str, size: str, steps: int) -> dict[str, Any]:
    """Trains in this process; returns what a quiet step takes, in ms."""
    import torch
    import torch.nn.functional as F
    from benchgpt import Gpt

    torch.manual_seed(0)
    torch.set_num_threads(2)
    shape = SIZES[size]
    text = torch.tensor(list(Path("/usr/share/common-licenses/GPL-3").read_bytes()))
    length = shape["t"]
    model = Gpt(shape["d"], shape["n"], shape["h"], length)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    config = EVERYTHING if variant.endswith("everything") else WEIGHTS
    monitor = None
    if variant.startswith("telltale"):
        from telltale.pytorch import TrainerMon

        monitor = TrainerMon(config)
        monitor.set_monitor(model, optimizer=optimizer)
    elif variant.startswith("msprobe"):
        from msprobe.pytorch import TrainerMon as Original

        path = Path(tempfile.mkdtemp(dir=os.environ["MONITOR_OUTPUT_DIR"])) / "config.json"
        path.write_text(json.dumps(config))
        Original(str(path), params_have_main_grad=False).set_monitor(model, optimizer, grad_acc_steps=1)
    generator = torch.Generator().manual_seed(1)
    times = []
    for _ in range(steps + 3):
        start = time.perf_counter()
        optimizer.zero_grad()
        at = torch.randint(0, len(text) - length - 1, (shape["b"],), generator=generator).tolist()
        x = torch.stack([text[i : i + length] for i in at])
        y = torch.stack([text[i + 1 : i + length + 1] for i in at])
        F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
        times.append((time.perf_counter() - start) * 1e3)
    counters = monitor.counters() if monitor is not None else {}
    if monitor is not None:
        monitor.close()
    # The lower decile: what a step takes when no neighbour has the processor.
    return {"step_ms": sorted(times[3:])[len(times[3:]) // 10], "counters": counters}


def hooks() -> dict[str, float]:
    """Cost of one gradient hook on a tensor of 16 elements (the kernel's own time is nothing there), microseconds."""
    import torch
    from telltale.pytorch import TrainerMon

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon({"wg_distribution": True})
    monitor.set_monitor(model, optimizer=optimizer)
    model(torch.ones(1, 4)).sum().backward()
    hook = next(iter(model.weight._post_accumulate_grad_hooks.values()))
    engine = monitor.engine
    assert engine is not None
    times = []
    for i in range(100_000):
        if i % 1000 == 0:
            optimizer.step()
        start = time.perf_counter_ns()
        hook(model.weight)
        times.append(time.perf_counter_ns() - start)
    monitor.close()
    times.sort()
    return {"p50": times[50_000] / 1e3, "p99": times[99_000] / 1e3}


def run(arguments: list[str], environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, capture_output=True, text=True, timeout=900
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(name: str, value: float, unit: str, goal: float | None, better: str, **more: Any) -> dict[str, Any]:
    passed = None if goal is None else (value <= goal if better == "lower" else value >= goal)
    return {"name": name, "value": value, "unit": unit, "goal": goal, "better": better, "pass": passed, **more}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(ROOT / "build" / "bench.json"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the small model only")
    parser.add_argument("--train", nargs=3, metavar=("VARIANT", "SIZE", "STEPS"), help=argparse.SUPPRESS)
    parser.add_argument("--hooks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        print(json.dumps(train(options.train[0], options.train[1], int(options.train[2]))))
        return
    if options.hooks:
        print(json.dumps(hooks()))
        return

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, MONITOR_OUTPUT_DIR=folder, TELLTALE_DIR=f"{folder}/spool")
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT / "capture/agent/python"), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        server = subprocess.Popen(
            [str(ROOT / "build/release/bin/telltale"), "serve", "--data-dir", folder, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            environment["TELLTALE_JOIN"] = server.stdout.readline().strip()
            rows = measure(options.rounds, ["0.83 M"] if options.quick else list(SIZES), environment)
        finally:
            server.terminate()
            server.wait()
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    others = [r for r in json.loads(out.read_text()) if not r["name"].startswith("python")] if out.exists() else []
    out.write_text(json.dumps(others + rows, indent=1) + "\n")
    for entry in rows:
        goal = "" if entry["goal"] is None else f"  goal {entry['goal']:g} {'pass' if entry['pass'] else 'SHORT'}"
        print(f"{entry['name']:62} {entry['value']:10.3f} {entry['unit']}{goal}")


def measure(rounds: int, sizes: list[str], environment: dict[str, str]) -> list[dict[str, Any]]:
    has_original = importlib.util.find_spec("msprobe") is not None
    variants = ["bare", "telltale weights", "telltale everything"]
    if has_original:
        variants += ["msprobe weights", "msprobe everything"]
    rows = []
    for size in sizes:
        found: dict[str, list[float]] = {variant: [] for variant in variants}
        for turn in range(rounds):
            order = variants if turn % 2 == 0 else variants[::-1]
            for variant in order:
                steps = SIZES[size]["steps"]
                done = run(["--train", variant, size, str(steps)], environment)
                found[variant].append(done["step_ms"])
                print(f"{size}, {variant}: {done['step_ms']:.2f} ms a step", file=sys.stderr)
        step = {variant: statistics.median(values) for variant, values in found.items()}
        bare = step["bare"]
        rows.append(row(f"python, {size}: bare step", bare, "ms", None, "lower"))
        for what in ("weights", "everything"):
            ours = step[f"telltale {what}"] - bare
            goal = 0.5 if size == "25 M" and what == "weights" else None
            share = 100 * ours / bare
            rows.append(row(f"python, {size}: {what}, added", ours, "ms", None, "lower"))
            rows.append(row(f"python, {size}: {what}, share of the step", share, "%", goal, "lower"))
            if has_original:
                theirs = step[f"msprobe {what}"] - bare
                ratio = theirs / ours if ours > 0 else float(theirs > 0) * 1e9
                extra = {"peer": "msprobe 26.2.0", "peer_value": theirs, "ratio": ratio}
                rows.append(
                    row(f"python, {size}: {what}, msprobe adds this many times more", ratio, "x", 20, "higher", **extra)
                )
    cost = run(["--hooks"], environment)
    rows.append(row("python: gradient hook, p50", cost["p50"], "us", None, "lower"))
    rows.append(row("python: gradient hook, p99", cost["p99"], "us", 50, "lower"))
    return rows


if __name__ == "__main__":
    main()
