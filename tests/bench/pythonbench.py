# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Python agent adds to a training step, beside msprobe's TrainerMon, in one interleaved run; and what the
state of the server does to it.

    pythonbench.py [--out build/bench.json] [--rounds 12] [--quick]

Every variant trains the same model from the same seed in a process of its own. The processes take turns of a few steps;
what a variant adds is the median over the rounds of the difference to the bare training of the same round, each the
median of its steps. Without mindstudio-probe installed the rows of msprobe are left out; without tensorboard or wandb
theirs, and the row of histograms says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sqlite3
import statistics
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

from benchrows import row, rows_of_others, write
from benchserver import ROOT, BenchServer, states
from benchworker import Worker, histogram_folder
from readbench import frames
from signbench import comparison, probing

STEPS = {"0.83 M": 30, "25 M": 2}  # of a turn
GRADIENTS = {"0.83 M": 0.83e6, "25 M": 25.3e6}
# Who else makes histograms: the module, its name for people, the files that have them.
PEERS = {"tensorboard": ("TensorBoard", "events.out.*"), "wandb": ("W&B", "*.wandb")}


def hooks() -> dict[str, float]:
    """Cost of one gradient hook on a tensor of 16 elements (the kernel's own time is nothing there), microseconds."""
    import torch
    from telltale.pytorch import TrainerMon
    from telltale.sinks.api import ApiSink

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[ApiSink()])
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


def idle() -> float:
    """What a step costs under a monitor that is switched off, microseconds: the whole of an optimizer that does nothing
    but be one, with it and without."""
    import torch
    from telltale.pytorch import TrainerMon
    from telltale.sinks.api import ApiSink

    class Nothing(torch.optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            return None

    def fastest(optimizer: Nothing) -> float:
        return min(timeit.repeat(optimizer.step, number=20_000, repeat=15)) / 20_000 * 1e6

    model = torch.nn.Linear(4, 4)
    bare, watched = (Nothing(model.parameters(), {}) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.json")
        config.write_text('{"dynamic_on": false, "wg_distribution": true, "xy_distribution": true}')
        os.environ["DYNAMIC_MONITOR"] = "True"
        monitor = TrainerMon(str(config), sinks=[ApiSink()])
        monitor.set_monitor(model, optimizer=watched)
        del os.environ["DYNAMIC_MONITOR"]
        cost = fastest(watched)
        monitor.close()
    return cost - fastest(bare)


def walks() -> dict[str, float]:
    """What finding the shares of the inputs' gradients costs in the small model with every module watched: a step, ms,
    and a module, microseconds."""
    import torch
    from benchgpt import Gpt
    from benchworker import EVERYTHING, SIZES
    from telltale.agent.share import Inputs
    from telltale.pytorch import TrainerMon
    from telltale.sinks.api import ApiSink

    shape = SIZES["0.83 M"]
    model = Gpt(shape["d"], shape["n"], shape["h"], shape["t"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    times: list[int] = []
    watch = Inputs.watch

    def timed(*args: Any) -> Any:
        start = time.perf_counter_ns()
        try:
            return watch(*args)
        finally:
            times.append(time.perf_counter_ns() - start)

    monitor = TrainerMon(EVERYTHING, sinks=[ApiSink()])
    monitor.set_monitor(model, optimizer=optimizer)
    tokens = torch.zeros(shape["b"], shape["t"], dtype=torch.long)
    Inputs.watch = timed  # type: ignore[method-assign]
    steps = []
    try:
        for _ in range(30):
            before = len(times)
            model(tokens).sum().backward()
            optimizer.step()
            steps.append(sum(times[before:]) / 1e6)
    finally:
        Inputs.watch = watch  # type: ignore[method-assign]
        monitor.close()
    times.sort()
    return {"step": statistics.median(steps), "p99": times[len(times) * 99 // 100] / 1e3}


def maps(length: int) -> dict[str, float]:
    """What the attention map of a head takes of the processor, and what torch takes that makes the whole softmax(QK^T)
    and averages it, milliseconds."""
    import torch
    from telltale.pytorch.attentionmaps import attention_maps

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    q, k = torch.randn(1, 8, length, 64), torch.randn(1, 8, length, 64)
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)

    def whole() -> torch.Tensor:
        scores = (q[0, 0] @ k[0, 0].T / 8).masked_fill_(hidden, float("-inf"))
        return torch.nn.functional.avg_pool2d(scores.softmax(-1)[None], length // 64)

    def fastest(call: Any) -> float:
        times = []
        for _ in range(5):
            start = time.process_time_ns()
            call()
            times.append(time.process_time_ns() - start)
        return min(times) / 1e6

    try:
        return {"ours": fastest(lambda: attention_maps(q, k, [0])), "torch": fastest(whole)}
    finally:
        torch.set_num_threads(threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(ROOT / "build" / "bench.json"))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="the small model only")
    options = parser.parse_args()

    sys.path.insert(0, str(ROOT / "capture/agent/python"))
    out = Path(options.out)
    others = rows_of_others(out, "python")
    limit = next((r["peer_value"] for r in others if r["name"] == "kernel_f32"), None)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, MONITOR_OUTPUT_DIR=folder, TELLTALE_DIR=f"{folder}/spool")
        python_path = [str(ROOT / "capture/agent/python"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, python_path))
        for size in ["0.83 M"] if options.quick else list(STEPS):
            with BenchServer(Path(folder, size)) as server:
                rows += measure(options.rounds, size, dict(environment, TELLTALE_JOIN=server.join), limit, server)
        for state, change, steps in states(options.rounds, Path(folder), environment):
            name = f"python, 0.83 M: step with the server {state}, against up"
            rows.append(row(name, change, "%", 1, "lower", step_ms=steps))
    with tempfile.TemporaryDirectory() as folder:
        rows += frames(Path(folder))
        rows += comparison(Path(folder)) + probing(Path(folder))
    cost = hooks()
    rows.append(row("python: gradient hook, p50", cost["p50"], "us", None, "lower"))
    rows.append(row("python: gradient hook, p99", cost["p99"], "us", 50, "lower"))
    rows.append(row("python: step of a monitor that is switched off", idle(), "us", 1, "lower"))
    cost = walks()
    rows.append(row("python, 0.83 M: shares of input gradients, walks a step", cost["step"], "ms", None, "lower"))
    rows.append(row("python: share of an input gradient, walk of a module, p99", cost["p99"], "us", 50, "lower"))

    for length in (256, 1024, 4096):
        cost = maps(length)
        peer = {"peer": "torch, all of softmax(QK^T)", "peer_value": cost["torch"]}
        name = f"python: attention map of a head, {length} x {length} (cpu)"
        rows.append(row(name, cost["ours"], "ms", None, "lower", ratio=cost["torch"] / cost["ours"], **peer))

    write(out, others, rows)


def stored(folder: Path) -> tuple[int, int, int, int]:
    """Of the one run in which gradients have histograms: how many it holds, of how many steps, the bytes of their
    tiles, and those of the coarser levels that pictures of many steps are drawn from."""
    from telltale.kinds import Stat

    for capsule in folder.rglob("*.telltale"):
        file = sqlite3.connect(f"{capsule.as_uri()}?mode=ro", uri=True)
        levels = file.execute(
            "SELECT lvl, sum(last_step - first_step + 1), max(last_step) - min(first_step) + 1, sum(length(data)) "
            "FROM tile WHERE stat = ? GROUP BY lvl ORDER BY lvl",
            (int(Stat.HIST),),  # each tile is one tensor's
        ).fetchall()
        file.close()
        if levels:
            (_, count, steps, fine), *coarser = levels
            return count, steps, fine, sum(size for *_, size in coarser)
    raise SystemExit(f"no run in {folder} has histograms")


def measure(
    rounds: int, size: str, environment: dict[str, str], limit: float | None, server: BenchServer
) -> list[dict[str, Any]]:
    """limit: nanoseconds that this machine needs to read one float32, None where that was not measured. Stops the
    server."""
    ours = ("weights", "histograms", "recorder", "attention", "maps", "everything", "totals")
    variants = ["bare", *(f"telltale {what}" for what in ours)]
    peers = {module: who for module, who in PEERS.items() if importlib.util.find_spec(module) is not None}
    variants += [f"{module} histograms" for module in peers]
    if importlib.util.find_spec("msprobe") is not None:
        variants += ["msprobe weights", "msprobe everything"]
    workers = []
    for variant in variants:
        workers.append(Worker(variant, size, environment))
        workers[-1].steps(0)  # warm before the next one starts
    taken: dict[str, list[float]] = {variant: [] for variant in variants}
    inside: dict[str, list[float]] = {variant: [] for variant in variants}
    computed: dict[str, list[float]] = {variant: [] for variant in variants}
    try:
        for turn in range(rounds):
            for worker in workers if turn % 2 == 0 else workers[::-1]:
                done = worker.steps(STEPS[size])
                taken[worker.variant].append(statistics.median(done["ms"]))
                computed[worker.variant].append(statistics.median(done["cpu_ms"]))
                if done["inside_ms"]:
                    inside[worker.variant].append(statistics.median(done["inside_ms"]))
            shown = ", ".join(f"{variant} {values[-1]:.2f}" for variant, values in taken.items())
            print(f"{size}, ms a step: {shown}", file=sys.stderr)
    finally:
        for worker in workers:
            worker.close()
    server.stop()

    def added(variant: str) -> float:
        return statistics.median(with_it - bare for with_it, bare in zip(taken[variant], taken["bare"]))

    bare = statistics.median(taken["bare"])
    rows = [row(f"python, {size}: bare step", bare, "ms", None, "lower")]
    shares = statistics.median(a - b for a, b in zip(taken["telltale everything"], taken["telltale totals"]))
    rows.append(
        row(f"python, {size}: shares of input gradients in place of totals, added", shares, "ms", None, "lower")
    )
    binned = statistics.median(a - b for a, b in zip(inside["telltale histograms"], inside["telltale weights"]))
    missing = [f"without {who}: {module} is not installed" for module, (who, _) in PEERS.items() if module not in peers]
    note = {"note": "; ".join(missing)} if missing else {}
    name = f"python, {size}: histogram of every gradient, share of the step"
    rows.append(row(name, 100 * binned / bare, "%", 5 if size == "25 M" else None, "lower", **note))
    count, steps, fine, coarse = stored(server.folder)
    name = f"python, {size}: histogram of every gradient, stored"
    # A tile has 256 steps; what shorter runs take for one says nothing of longer ones.
    goal = 24 if steps >= 256 else None
    rows.append(row(name, fine / count, "B", goal, "lower", note="; ".join([f"{steps} steps", *missing])))
    rows.append(row(f"{name}, its share of coarser levels", coarse / count, "B", None, "lower"))
    # With the six statistics, that ours makes as well; and no less than what is surely there, whatever the noise says.
    ours = max(added("telltale histograms"), statistics.median(inside["telltale histograms"]))
    for module, (who, files) in peers.items():
        theirs = added(f"{module} histograms")
        beside = {"peer": who, "peer_value": theirs, "ratio": theirs / ours}
        what = f"python, {size}: histogram of every gradient, {who} adds this many times more"
        rows.append(row(what, theirs / ours, "x", None, "higher", **beside))
        kept = histogram_folder(environment["MONITOR_OUTPUT_DIR"], f"{module} histograms", size).rglob(files)
        each = sum(file.stat().st_size for file in kept) / count
        beside = {"peer": who, "peer_value": each, "ratio": each * count / (fine + coarse)}
        what = f"{name}, {who} keeps this many times more"
        rows.append(row(what, beside["ratio"], "x", None, "higher", **beside))
    more = {
        what: statistics.median(a - b for a, b in zip(computed[f"telltale {what}"], computed["telltale weights"]))
        for what in ("recorder", "everything")
    }
    sent = {"peer": "all of it sent", "peer_value": more["everything"]}
    rows.append(
        row(f"python, {size}: flight recorder, added to weights (cpu)", more["recorder"], "ms", None, "lower", **sent)
    )
    mapped = statistics.median(a - b for a, b in zip(computed["telltale maps"], computed["telltale attention"]))
    rows.append(row(f"python, {size}: maps of 4 heads a layer at every step, added (cpu)", mapped, "ms", None, "lower"))
    for what in ("weights", "everything"):
        ours = added(f"telltale {what}")
        goal = 0.5 if size == "25 M" and what == "weights" else None
        limits = {} if limit is None or what != "weights" else {"limit_value": 2e-4 * GRADIENTS[size] * limit / bare}
        rows.append(row(f"python, {size}: {what}, added", ours, "ms", None, "lower"))
        rows.append(row(f"python, {size}: {what}, share of the step", 100 * ours / bare, "%", goal, "lower", **limits))
        if what == "weights":
            share = 100 * statistics.median(inside["telltale weights"]) / bare
            name = f"python, {size}: weights, in the training thread's hooks"
            rows.append(row(name, share, "%", goal, "lower", **limits))
        if f"msprobe {what}" in taken:
            theirs = added(f"msprobe {what}")
            # Less than a hundredth of the step is inside the noise of a difference.
            ratio = theirs / max(ours, 1e-9)
            extra = {"peer": "msprobe 26.2.0", "peer_value": theirs, "ratio": ratio}
            rows.append(
                row(f"python, {size}: {what}, msprobe adds this many times more", ratio, "x", 20, "higher", **extra)
            )
    return rows


if __name__ == "__main__":
    main()
