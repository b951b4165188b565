# SPDX-License-Identifier: GPL-3.0-or-later
"""fully_shard on two ranks."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from ranks import assert_all, assert_bitwise, run_ranks, state_of, watched
from sharded import (
    MICROS,
    STEPS,
    Reference,
    check,
    check_same_training,
    check_uncalled_modules,
    checkpointed,
    net,
    train,
)
from telltale.kinds import DType, Form, Kind
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def _wrapped(seed: int, world: int, policy: Any = None, dropout: float = 0.0) -> Any:
    return _shard(net(seed, dropout), world, **({"mp_policy": policy} if policy else {}))


def _shard(model: Any, world: int, is_grouped: bool = False, **more: Any) -> Any:
    mesh = init_device_mesh("cpu", (world,))
    blocks = list(model.blocks)
    for block in [blocks] if is_grouped else blocks:
        fully_shard(block, mesh=mesh, **more)
    return fully_shard(model, mesh=mesh, **more)


def _compiled(rank: int, world: int) -> None:
    """Blocks compiled in place: no hook goes into them, and what is lost by that is said by name."""
    states = []
    for is_watched in (False, True):
        torch._dynamo.reset()
        model = net()
        for block in model.blocks:
            block.compile(backend="aot_eager")
        _shard(model, world)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        if is_watched:
            recorder, monitor = watched(model, optimizer)
        train(model, optimizer, rank, 1)
        states.append(state_of(model))
    assert_bitwise(states[0], states[1], "FSDP2 with compiled blocks")
    assert recorder.names(Kind.GRAD_UNREDUCED, 1) == {"last.weight", "last.bias"}
    assert len(recorder.names(Kind.GRAD_REDUCED, 1)) == 6
    said = [s for s in recorder.sentences if "compiled in place" in s]
    assert len(said) == 4 and "blocks.0.inner.weight" in said[0]
    monitor.close()


def _edges(rank: int, world: int) -> None:
    """Other ways to shard, blocks inside checkpoints, modules that are used without being called."""
    reference = Reference(rank, world, 1)
    for model in (
        _shard(net(), world, reshard_after_forward=False),
        _shard(net(), world, is_grouped=True),
        _shard(checkpointed(net(), False), world),
        _shard(checkpointed(net(), True), world),
    ):
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer)
        train(model, optimizer, rank, 1)
        check(recorder, reference, "sum")
        monitor.close()
    _compiled(rank, world)
    check_uncalled_modules(rank, lambda m: fully_shard(m, mesh=init_device_mesh("cpu", (world,))), watched)


@contextlib.contextmanager
def _sync(model: Any, on: bool) -> Any:
    model.set_requires_gradient_sync(on)
    yield


def _values(rank: int, world: int) -> None:
    once, twice = Reference(rank, world, 1), Reference(rank, world, MICROS)
    # Reduced after every micro step: only this micro step's gradient is ever there.
    for micros, reference, quiet, gives in (
        (1, once, None, "sum"),
        (MICROS, twice, None, "micro"),
        (MICROS, twice, "last", "sum"),
    ):
        model = _wrapped(0, world)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer, grad_acc_steps=micros)
        train(model, optimizer, rank, micros, (lambda last, m=model: _sync(m, last)) if quiet else None)
        check(recorder, reference, gives)
        monitor.close()
    _mixed_precision(rank, world)
    _edges(rank, world)


def _mixed_precision(rank: int, world: int) -> None:
    """bf16 compute with float32 reduction: the sum over micro steps is not in the leaf, so each is shown alone."""
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = _wrapped(0, world, policy)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(model, optimizer, grad_acc_steps=MICROS)
    train(model, optimizer, rank, MICROS, lambda last: _sync(model, last))
    reference = Reference(rank, world, MICROS, dtype=torch.bfloat16)
    for step in range(STEPS):
        assert_all(recorder, Kind.GRAD_UNREDUCED, step, reference.micro[step][-1], 0.06, is_complete=False)
    found = recorder.found(Kind.GRAD_UNREDUCED, 0)
    assert found and all(desc.form & Form.MICRO for desc, _ in found)
    reduced = recorder.found(Kind.GRAD_REDUCED, 0)
    assert all(desc.dtype is DType.F32 for desc, _ in reduced)
    monitor.close()


def _same(rank: int, world: int, seeds: int, steps: int) -> None:
    def make(seed: int) -> Any:
        model = _wrapped(seed, world, None, 0.1)
        return model, torch.optim.AdamW(model.parameters(), 1e-2), lambda m, o, n: train(m, o, rank, 1, steps=n)

    check_same_training(make, seeds, steps, "FSDP2")


def _short(rank: int, world: int) -> None:
    _values(rank, world)
    _same(rank, world, 3, 6)


def test_fsdp2_trains_the_same_bits_and_gradients_are_whole_before_and_a_shard_after_reduction() -> None:
    run_ranks(_short)


@pytest.mark.long
def test_fsdp2_trains_bitwise_the_same_for_long() -> None:
    run_ranks(_same, 10, 200)
