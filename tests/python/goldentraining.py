# SPDX-License-Identifier: GPL-3.0-or-later
"""The trainings that msprobe was recorded with, under our TrainerMon writing csv, and where msprobe is installed under
msprobe's own right after, in the same process: same machine, same threads, so the same numbers to the last bit."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from recordedgpt import GPT, TEXT

RECORDED = Path(__file__).resolve().parent.parent / "data" / "msprobe"
THREADS = 2
OURS, ORIGINAL = "ours", "original"
HAS_ORIGINAL = importlib.util.find_spec("msprobe") is not None


def batches(rank: int, t: int = 64, b: int = 8):
    """(inputs, targets), [b, t] each, without end."""
    with open(TEXT, "rb") as file:
        text = torch.tensor(list(file.read()))
    generator = torch.Generator().manual_seed(1 + rank)
    while True:
        start = torch.randint(0, len(text) - t - 1, (b,), generator=generator)
        yield torch.stack([text[j : j + t] for j in start]), torch.stack([text[j + 1 : j + t + 1] for j in start])


def train(
    config: str,
    folder: str,
    steps: int,
    accumulate: int = 1,
    rank: int = 0,
    wrap: Callable[[torch.nn.Module], torch.nn.Module] = lambda model: model,
    before_step: Callable[[Any, int], None] = lambda model, step: None,
    begin: Callable[[int], None] = lambda step: None,
    whose: str = OURS,
    make: Callable[[], torch.nn.Module] = GPT,
) -> None:
    """Trains as the recording did: same seed, batches, order of construction and number of threads. The files go to
    the folder's `whose`."""
    if whose == OURS:
        from telltale.pytorch import TrainerMon
    else:
        # It takes any training for Megatron's where that can be imported, and then sees no gradient before reduction.
        sys.modules["megatron"] = None  # type: ignore[assignment]
        from msprobe.pytorch import TrainerMon

    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    os.environ["MONITOR_OUTPUT_DIR"] = os.path.join(folder, whose)
    try:
        model = make()
        monitor = TrainerMon(config, params_have_main_grad=False)
        net = wrap(model)
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
        monitor.set_monitor(net, optimizer, grad_acc_steps=accumulate, start_iteration=0)
        data = batches(rank)
        for step in range(steps):
            begin(step)
            optimizer.zero_grad()
            for _ in range(accumulate):
                x, y = next(data)
                (F.cross_entropy(net(x).flatten(0, 1), y.flatten()) / accumulate).backward()
            before_step(model, step)
            optimizer.step()
        if whose == OURS:
            monitor.close()
    finally:
        torch.set_num_threads(threads)
        del os.environ["MONITOR_OUTPUT_DIR"]


def poison(model: GPT, step: int) -> None:
    """What the recording did to one gradient at step 8."""
    if step == 8:
        with torch.no_grad():
            model.blocks[2].mlp[0].weight.grad[3, 5] = float("nan")


def train_both(*args: Any, **kwargs: Any) -> None:
    """Ours, then the original where it is installed."""
    train(*args, **kwargs)
    if HAS_ORIGINAL:
        train(*args, **kwargs, whose=ORIGINAL)


def train_single(_rank: int, folder: str) -> None:
    """The recording `single`, into `folder`; a process of its own."""
    train_both(str(RECORDED / "single" / "config.json"), folder, steps=12, before_step=poison)


def train_features(_rank: int, folder: str) -> None:
    """The recording `l2`, into `folder`; a process of its own."""
    train_both(str(RECORDED / "l2" / "config.json"), folder, steps=6)


class Residual(torch.nn.Module):
    """What enters a module is used beside it, too, and in several places inside it."""

    class Inner(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x + self.a(x) * torch.sigmoid(self.b(x))

    def __init__(self) -> None:
        super().__init__()
        self.tok, self.inner, self.head = torch.nn.Embedding(256, 32), self.Inner(), torch.nn.Linear(32, 256)

    def forward(self, ix: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.tok(ix))
        return self.head(x + self.inner(x) * x.sin())


SHARES = {"gpt": GPT, "residual": Residual}


def train_shares(_rank: int, folder: str) -> None:
    """Every module's activations and their gradients of two models, into folders of their own; a process of its own."""
    for name, make in SHARES.items():
        place = Path(folder) / name
        place.mkdir()
        config = {"xy_distribution": True, "all_xy": True, "ops": ["norm", "mean", "min", "max"], "ndigits": 9}
        (place / "config.json").write_text(json.dumps(config))
        train_both(str(place / "config.json"), str(place), steps=3, make=make)


def train_structure(_rank: int, folder: str) -> None:
    """The recording `struct`, which ended the original's training; a process of its own."""
    train(str(RECORDED / "struct" / "config.json"), folder, steps=6)


def train_dynamic(_rank: int, folder: str) -> None:
    """The recording `dyn`: the config file is replaced at the start of steps 3 and 11. A process of its own."""
    from telltale.agent.monitor import latest

    path = Path(folder) / "config.json"
    path.write_bytes((RECORDED / "dyn" / "config.json").read_bytes())
    edits = {3: "edit-step3.json", 11: "edit-step11.json"}

    def begin(step: int) -> None:
        if step in edits:
            path.write_bytes((RECORDED / "dyn" / edits[step]).read_bytes())
            assert latest().config_watch.look_now()

    os.environ["DYNAMIC_MONITOR"] = "True"
    train(str(path), folder, steps=20, begin=begin)


def train_rank(rank: int, folder: str) -> None:
    """One rank of the recording `ddp`, into `folder`; a process of its own."""
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    dist.init_process_group("gloo", init_method=f"file://{folder}.store", rank=rank, world_size=2)
    wrap = torch.nn.parallel.DistributedDataParallel
    try:
        train_both(str(RECORDED / "ddp" / "config.json"), folder, steps=10, accumulate=2, rank=rank, wrap=wrap)
    finally:
        dist.destroy_process_group()


def spawn(function: Callable[..., None], *args: object, ranks: int = 1) -> None:
    """Runs function(rank, *args) in processes of their own; raises what they raise."""
    from ranks import in_processes

    in_processes(function, *args, count=ranks)
