# SPDX-License-Identifier: GPL-3.0-or-later
"""One training in a process of its own that steps when it is told to, so that several can take turns.

    benchworker.py VARIANT SIZE

VARIANT is "bare", "telltale weights", "telltale histograms" (the same, with one of each reduced gradient),
"tensorboard histograms" and "wandb histograms" (SummaryWriter.add_histogram of each, and run.watch of an offline run at
every step, and nothing else), "telltale recorder" (weights, with a flight recorder that keeps the rest),
"telltale attention" and "telltale maps" (weights and attention; with maps of four heads a layer at every step),
"telltale everything", "telltale totals" (everything, but of the inputs' gradients the totals and not the shares, as
msprobe has them), "msprobe weights" or "msprobe everything". Reads a number of steps a line; answers each with one JSON
line: {"ms": [a step's time, ...], "cpu_ms": [what of it the training thread computed, ...], "inside_ms": [...]}, the
last for telltale alone: what the training thread spent in its gradient and step hooks. Ends with standard input.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
CONFIGS = {
    "weights": WEIGHTS,
    "everything": EVERYTHING,
    "recorder": {**WEIGHTS, "telltale": {"flight_recorder": 32}},
    "histograms": {**WEIGHTS, "telltale": {"histogram": ["grad_reduced"]}},
    "attention": {**WEIGHTS, "telltale": {"attention_hook": True}},
    "maps": {
        **WEIGHTS,
        "telltale": {"attention_hook": True, "attention_maps": {"blocks.*": []}, "attention_maps_interval": 1},
    },
    "totals": {**EVERYTHING, "telltale": {"actv_grad_input": "total"}},
}
SIZES = {
    "0.83 M": {"d": 128, "n": 4, "h": 4, "t": 64, "b": 8},
    "25 M": {"d": 512, "n": 8, "h": 8, "t": 128, "b": 16},
}
_WARM_UP = 3


class Worker:
    """The other end: a training in a process. Thread: one."""

    def __init__(self, variant: str, size: str, environment: dict[str, str], script: str = __file__) -> None:
        self.variant = variant
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            [sys.executable, script, variant, size],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def steps(self, count: int) -> dict[str, Any]:
        """Lets it take `count` steps and one before them, with which the processor's caches become its own."""
        return {name: values[1:] for name, values in self.ask(str(count + 1)).items()}

    def ask(self, line: str) -> dict[str, Any]:
        """What it answers to a line."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(line, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._errors.seek(0)
            raise SystemExit(f"{self.variant} failed:\n{self._errors.read()[-3000:]}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._errors.close()


def clock(engine: Any) -> list[int]:
    """Counts the nanoseconds that the training thread spends in the engine."""
    total = [0]

    def timed(function: Any) -> Any:
        def call(*args: Any) -> Any:
            start = time.perf_counter_ns()
            try:
                return function(*args)
            finally:
                total[0] += time.perf_counter_ns() - start

        return call

    for name in ("forward_begins", "gradient_arrived", "step_begins", "gradients_ready", "after_step_of"):
        setattr(engine, name, timed(getattr(engine, name)))
    return total


def watch_by(watch: Callable[[str], None], config: Any) -> None:
    """Calls `watch` with the path of a file that has the config."""
    path = Path(tempfile.mkdtemp(dir=os.environ["MONITOR_OUTPUT_DIR"])) / "config.json"
    path.write_text(json.dumps(config))
    watch(str(path))


def watch_by_msprobe(model: Any, optimizer: Any, config: Any) -> None:
    # It takes any training for Megatron's where that can be imported, and then sees no gradient before reduction.
    sys.modules["megatron"] = None  # type: ignore[assignment]
    from msprobe.pytorch import TrainerMon as Original

    def watch(path: str) -> None:
        Original(path, params_have_main_grad=False).set_monitor(model, optimizer, grad_acc_steps=1)

    watch_by(watch, config)


def histogram_folder(parent: str, variant: str, size: str) -> Path:
    """Where a training leaves what a peer records of histograms."""
    return Path(parent, f"{variant}, {size}")


def histograms_by(variant: str, model: Any, folder: Path) -> tuple[Callable[[], None], Callable[[], None]]:
    """Histograms of every gradient by a peer: what to call after each backward pass, and at the end."""
    folder.mkdir()
    if variant == "tensorboard histograms":
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(folder))
        steps = itertools.count()

        def add() -> None:
            step = next(steps)
            for name, parameter in model.named_parameters():
                writer.add_histogram(name, parameter.grad, step)

        return add, writer.close
    # It keeps all of its files in the folder, and talks to nobody.
    for what in ("DIR", "CONFIG_DIR", "CACHE_DIR", "DATA_DIR"):
        os.environ[f"WANDB_{what}"] = str(folder)
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_ERROR_REPORTING="false")
    import wandb

    run = wandb.init(project="bench")
    run.watch(model, log="gradients", log_freq=1)
    return lambda: run.log({}), run.finish


def main(variant: str, size: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a monitor prints is not an answer
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
    config = CONFIGS.get(variant.partition(" ")[2])
    monitor = None
    inside = None
    if variant.startswith("telltale"):
        from telltale.pytorch import TrainerMon

        monitor = TrainerMon(config)
        monitor.set_monitor(model, optimizer=optimizer)
        inside = clock(monitor.engine)
    elif variant.startswith("msprobe"):
        watch_by_msprobe(model, optimizer, config)
    record, finish = None, None
    if variant in ("tensorboard histograms", "wandb histograms"):
        folder = histogram_folder(os.environ["MONITOR_OUTPUT_DIR"], variant, size)
        record, finish = histograms_by(variant, model, folder)
    generator = torch.Generator().manual_seed(1)

    def step() -> None:
        optimizer.zero_grad()
        at = torch.randint(0, len(text) - length - 1, (shape["b"],), generator=generator).tolist()
        x = torch.stack([text[i : i + length] for i in at])
        y = torch.stack([text[i + 1 : i + length + 1] for i in at])
        F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
        if record is not None:
            record()
        optimizer.step()

    for _ in range(_WARM_UP):
        step()
    for line in sys.stdin:
        answer: dict[str, list[float]] = {"ms": [], "cpu_ms": [], "inside_ms": []}
        for _ in range(int(line)):
            before = inside[0] if inside is not None else 0
            start, computed = time.perf_counter(), time.thread_time()
            step()
            answer["ms"].append((time.perf_counter() - start) * 1e3)
            answer["cpu_ms"].append((time.thread_time() - computed) * 1e3)
            if inside is not None:
                answer["inside_ms"].append((inside[0] - before) / 1e6)
        print(json.dumps(answer), file=answers, flush=True)
    if monitor is not None:
        monitor.close()
    if finish is not None:
        finish()


if __name__ == "__main__":
    main(*sys.argv[1:])
