# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings on two ranks under each framework, with the values that a monitor must report computed beside them."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable

import torch
import torch.distributed as dist
from ranks import Recorder, assert_all, assert_bitwise, state_of, watched
from telltale.kinds import Form, Kind
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)

MICROS = 2
STEPS = 2


class Block(nn.Module):
    """Odd sizes, so that shards are uneven."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(6, 7)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.drop(torch.tanh(self.inner(x)))[:, :6]


class Net(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(dropout) for _ in range(2))
        self.last = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def net(seed: int = 0, dropout: float = 0.0) -> Net:
    torch.manual_seed(seed)
    return Net(dropout)


def batch(rank: int, step: int, micro: int) -> torch.Tensor:
    return torch.randn(4, 6, generator=torch.Generator().manual_seed(1000 * rank + 10 * step + micro))


def loss_of(output: torch.Tensor) -> torch.Tensor:
    return output.float().square().mean()


class Reference:
    """The same training without any framework: local gradients of each micro step, their sum, and the mean of the sums
    over all ranks, which Adam steps with."""

    def __init__(
        self, rank: int, world: int, micros: int, divide: bool = False, dtype: torch.dtype | None = None
    ) -> None:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        self.micro: list[list[dict[str, torch.Tensor]]] = []
        self.sums: list[dict[str, torch.Tensor]] = []
        self.reduced: list[dict[str, torch.Tensor]] = []
        self.params: list[dict[str, torch.Tensor]] = [_copy(model)]
        for step in range(STEPS):
            alone = []
            total: dict[str, torch.Tensor] = {}
            for k in range(micros):
                work = net().to(dtype) if dtype else model
                if dtype:
                    work.load_state_dict(model.state_dict())
                work.zero_grad()
                x = batch(rank, step, k)
                loss = loss_of(work(x.to(dtype) if dtype else x))
                (loss / micros if divide else loss).backward()
                alone.append({n: p.grad.detach().float().clone() for n, p in work.named_parameters()})
                for n, gradient in alone[-1].items():
                    total[n] = total[n] + gradient if n in total else gradient.clone()
            self.micro.append(alone)
            self.sums.append(total)
            reduced = {n: g.clone() for n, g in total.items()}
            for gradient in reduced.values():
                dist.all_reduce(gradient)
                gradient /= world
            self.reduced.append(reduced)
            for n, p in model.named_parameters():
                p.grad = reduced[n].clone()
            optimizer.step()
            self.params.append(_copy(model))

    def moment(self) -> dict[str, torch.Tensor]:
        """exp_avg after the first step."""
        return {n: 0.1 * g for n, g in self.reduced[0].items()}


def _copy(model: nn.Module) -> dict[str, torch.Tensor]:
    return {n: p.detach().clone() for n, p in model.named_parameters()}


def train(
    model: Any, optimizer: Any, rank: int, micros: int, quiet: Callable[[bool], Any] | None = None, steps: int = STEPS
) -> None:
    """quiet(is_last_micro) is a context around a micro step."""
    for step in range(steps):
        optimizer.zero_grad()
        for k in range(micros):
            with quiet(k == micros - 1) if quiet else contextlib.nullcontext():
                # With a gradient of its own, so that reentrant checkpoints of the first block have something to do.
                loss_of(model(batch(rank, step, k).requires_grad_())).backward()
        optimizer.step()


def checkpointed(model: Net, is_reentrant: bool) -> Net:
    """Every block in a checkpoint wrapper."""
    kind = CheckpointImpl.REENTRANT if is_reentrant else CheckpointImpl.NO_REENTRANT
    wrapper = functools.partial(checkpoint_wrapper, checkpoint_impl=kind)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=wrapper, check_fn=lambda m: isinstance(m, Block))
    return model


def check_uncalled_modules(rank: int, wrap: Callable[[nn.Module], Any], recorder_of: Callable[[Any, Any], Any]) -> None:
    """nn.MultiheadAttention uses its out_proj's parameters without calling it."""
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    plain = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    plain.load_state_dict(model.state_dict())
    x = torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(rank))
    loss_of(plain(x)).backward()
    wanted = {name: p.grad for name, p in plain.named_parameters() if p.grad is not None}
    wrapped = wrap(model)
    optimizer = torch.optim.Adam(wrapped.parameters(), 1e-2)
    recorder, monitor = recorder_of(wrapped, optimizer)
    loss_of(wrapped(x)).backward()
    optimizer.step()
    assert recorder.names(Kind.GRAD_UNREDUCED, 0) == set(wanted)
    assert_all(recorder, Kind.GRAD_UNREDUCED, 0, wanted, 5e-6, is_complete=False)
    monitor.close()


def check(recorder: Recorder, reference: Reference, unreduced: str, rel: float = 5e-6) -> None:
    """unreduced: "sum" or "micro", what the framework can give; every kind against the reference."""
    for step in range(STEPS):
        wanted = reference.sums[step] if unreduced == "sum" else reference.micro[step][-1]
        assert_all(recorder, Kind.GRAD_UNREDUCED, step, wanted, rel, is_complete=False)
        assert recorder.names(Kind.GRAD_UNREDUCED, step) == set(wanted)
        assert_all(recorder, Kind.GRAD_REDUCED, step, reference.reduced[step], rel)
        # Adam's first update is near lr * sign(g): rounding of a gradient near zero shows in the parameter.
        assert_all(recorder, Kind.PARAM_ORIGIN, step, reference.params[step], 1e-4)
        assert_all(recorder, Kind.PARAM_UPDATED, step, reference.params[step + 1], 1e-4)
    assert not recorder.found(Kind.EXP_AVG, 0)
    assert_all(recorder, Kind.EXP_AVG, 1, reference.moment(), rel)
    assert recorder.found(Kind.EXP_AVG_SQ, 1) and recorder.found(Kind.MG_DIRECTION, 1)
    micros = len(reference.micro[0])
    for desc, _ in recorder.found(Kind.GRAD_UNREDUCED, 0):
        if micros == 1:
            assert not desc.form & (Form.MICRO | Form.ACCUMULATED)
        else:
            assert bool(desc.form & Form.MICRO) == (unreduced == "micro"), desc
            assert bool(desc.form & Form.ACCUMULATED) == (unreduced == "sum"), desc


def check_same_training(
    make: Callable[[int], tuple[Any, Any, Callable[..., None]]], seeds: int, steps: int, what: str
) -> None:
    """make(seed) -> (model, optimizer or None, train(model, optimizer, steps)): bitwise equal when watched."""
    for seed in range(seeds):
        states = []
        for is_watched in (False, True):
            model, optimizer, run = make(seed)
            monitor = None
            if is_watched:
                recorder, monitor = watched(model, optimizer)
            torch.manual_seed(seed + 77)
            run(model, optimizer, steps)
            states.append(state_of(model))
            if monitor is not None:
                assert monitor.step == steps, f"{what}: {monitor.step} steps seen"
                assert recorder.names(Kind.GRAD_UNREDUCED, 0) and recorder.names(Kind.ACTV, 0), what
                assert not any("internal error" in text for text in recorder.sentences), recorder.sentences
                monitor.close()
        assert_bitwise(states[0], states[1], f"{what} seed {seed}")
