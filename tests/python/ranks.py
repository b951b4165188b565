# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the ranks of a distributed training on this machine, and records what a monitor sends."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
import tempfile
import threading
from multiprocessing import reduction
from typing import Any, Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from telltale.agent.targets import bare_name
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.series import SeriesDesc
from telltale.sinks.base import Sink

EVERYTHING = {
    "wg_distribution": True,
    "mv_distribution": True,
    "param_distribution": True,
    "xy_distribution": True,
    "mg_direction": True,
}


# Processes are forks of one that has loaded these and has run nothing of them: loading takes longer than most tests.
PRELOADED = ["torch", "torch._dynamo", "torch.distributed.fsdp", "torch.distributed.tensor", "torch.optim", "numpy"]


class Output:
    """A descriptor that a process shall have as this process has it now: the server of forks has its own."""

    def __init__(self, number: int, handed: Any = None) -> None:
        self.number = number
        self._handed = handed

    def __reduce__(self) -> tuple[Any, ...]:
        return Output, (self.number, reduction.DupFd(self.number))

    def take(self) -> None:
        handed = self._handed.detach()
        os.dup2(handed, self.number)
        os.close(handed)


def in_processes(work: Callable[..., None], *args: Any, count: int = 1) -> None:
    """work(number, *args) in `count` processes of their own; what one of them raises is raised here."""
    multiprocessing.set_forkserver_preload(PRELOADED)
    here = dict(os.environ), Output(1), Output(2)
    mp.start_processes(_process, (here, work, args), nprocs=count, join=True, start_method="forkserver")


def _process(number: int, here: Any, work: Callable[..., None], args: tuple[Any, ...]) -> None:
    environment, *outputs = here
    os.environ.clear()
    os.environ.update(environment)
    for output in outputs:
        output.take()
    work(number, *args)


def run_ranks(work: Callable[..., None], *args: Any, world: int = 2) -> None:
    """work(rank, world, *args) in `world` processes joined by gloo; what one of them raises is raised here."""
    with tempfile.TemporaryDirectory() as directory:
        in_processes(_rank, world, directory, work, args, count=world)


def _rank(rank: int, world: int, directory: str, work: Callable[..., None], args: tuple[Any, ...]) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank), GLOO_SOCKET_IFNAME="lo")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")  # read by some, used by none: there is a store
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{directory}/store", rank=rank, world_size=world)
    work(rank, world, *args)
    dist.barrier()
    end_rank()


def end_rank() -> None:
    """Ends the process as sys.exit(0) does, but for the interpreter's own end. A thread of gloo may be late in letting
    go of a tensor that Python had given to a collective, for which it takes the interpreter's lock. Where the
    interpreter is ending by then, torch ends the process: "terminate called without an active exception".
    Gloo's threads live as long as anybody knows their group: models in DDP, device meshes, defaults of functions."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


class Recorder(Sink):
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.sentences: list[str] = []

    def write(self, frame: Any) -> None:
        self.frames.append(frame)

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        self.sentences.append(text)

    def found(self, kind: Kind, step: int) -> list[tuple[SeriesDesc, Any]]:
        """What was measured of a kind at a step: (series, STATS record or values)."""
        return [
            (desc, shot.values[i])
            for frame in self.frames
            if frame.step == step
            for shot in frame.tables
            if shot.kind is kind
            for i, desc in enumerate(shot.series)
        ]

    def one(self, kind: Kind, name: str, step: int, micro: int = -1, slot: str = "") -> tuple[SeriesDesc, Any] | None:
        """By bare name, None when it was not measured."""
        for desc, values in self.found(kind, step):
            if bare_name(desc.name) == name and desc.micro_step == micro and desc.slot.text == slot:
                return desc, values
        return None

    def names(self, kind: Kind, step: int) -> set[str]:
        return {bare_name(desc.name) for desc, _ in self.found(kind, step)}

    def scalars(self, step: int) -> dict[str, float]:
        out: dict[str, float] = {}
        for frame in self.frames:
            if frame.step == step:
                out.update(frame.scalars)
        return out


def watched(
    model: Any, optimizer: Any, config: dict[str, Any] | None = None, **more: Any
) -> tuple[Recorder, TrainerMon]:
    """A monitor with a recorder behind it."""
    recorder = Recorder()
    monitor = TrainerMon(dict(config or EVERYTHING), sinks=[recorder])
    monitor.set_monitor(model, optimizer=optimizer, **more)
    return recorder, monitor


def assert_stats(values: Any, tensor: torch.Tensor, what: str = "", rel: float = 2e-6) -> None:
    """That a STATS record is this tensor's."""
    x = tensor.detach().double().flatten()
    assert int(values["numel"]) == x.numel(), f"{what}: {values['numel']} elements, not {x.numel()}"
    for name, expected in (("norm", x.norm()), ("mean", x.mean()), ("min", x.min()), ("max", x.max())):
        got, want = float(values[name]), float(expected)
        tolerance = rel * max(abs(want), float(x.abs().max())) + 1e-12
        assert abs(got - want) <= tolerance, f"{what}: {name} is {got}, not {want}"


def piece(desc: SeriesDesc, full: torch.Tensor) -> torch.Tensor:
    """The part of the full tensor that the series says it is of."""
    if desc.shard_offset < 0:
        assert desc.shape == tuple(full.shape), f"{desc.name}: {desc.shape}, not {tuple(full.shape)}"
        return full
    assert desc.full_shape == tuple(full.shape), f"{desc.name}: {desc.full_shape}, not {tuple(full.shape)}"
    return full.flatten()[desc.shard_offset : desc.shard_offset + desc.numel]


def assert_all(
    recorder: Recorder,
    kind: Kind,
    step: int,
    full: dict[str, torch.Tensor],
    rel: float = 2e-6,
    is_complete: bool = True,
) -> None:
    """That every series of a kind has the statistics of its part of the full tensor, and that the ranks' parts
    together are all of it."""
    covered = {name: 0 for name in full}
    for desc, values in recorder.found(kind, step):
        name = bare_name(desc.name)
        assert_stats(values, piece(desc, full[name]), f"{kind.word} {name} step {step}", rel)
        covered[name] += desc.numel
    if not is_complete:
        return
    everywhere: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, covered)
    for name, tensor in full.items():
        total = sum(rank[name] for rank in everywhere)
        assert total in (tensor.numel(), tensor.numel() * len(everywhere)), f"{kind.word} {name}: {total} elements"


def state_of(model: torch.nn.Module) -> list[torch.Tensor]:
    """Local values of all parameters and buffers, and the state of the random number generator."""
    tensors = [getattr(t, "_local_tensor", t).detach().clone() for t in _held(model)]
    for p in model.parameters():
        if hasattr(p, "ds_tensor"):  # padded at the end with whatever was there
            here = p.ds_tensor.numel()
            tensors.append(p.ds_tensor.detach()[: max(0, p.ds_numel - dist.get_rank() * here)].clone())
    return [*tensors, torch.get_rng_state()]


def _held(model: torch.nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *(buffer for _, buffer in torch.nn.Module.named_buffers(model))]


def assert_bitwise(first: list[torch.Tensor], second: list[torch.Tensor], what: str) -> None:
    assert len(first) == len(second)
    for i, (a, b) in enumerate(zip(first, second)):
        assert a.shape == b.shape and torch.equal(a.view(torch.uint8), b.view(torch.uint8)), f"{what}: tensor {i}"
