# SPDX-License-Identifier: GPL-3.0-or-later
"""FullyShardedDataParallel on two ranks, with original parameters and with flat ones."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import pytest
import torch
from ranks import run_ranks, watched
from sharded import (
    MICROS,
    Block,
    Reference,
    check,
    check_same_training,
    check_uncalled_modules,
    checkpointed,
    net,
    train,
)
from telltale.agent.targets import bare_name
from telltale.kinds import Form, Kind
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy


def _fsdp(model: nn.Module, use_orig_params: bool = True, **more: Any) -> Any:
    warnings.simplefilter("ignore")
    policy = ModuleWrapPolicy({Block})
    device = torch.device("cpu")
    return FSDP(model, auto_wrap_policy=policy, use_orig_params=use_orig_params, device_id=device, **more)


def _wrapped(seed: int, use_orig_params: bool, dropout: float = 0.0) -> Any:
    return _fsdp(net(seed, dropout), use_orig_params)


def _values(rank: int, world: int) -> None:
    once, twice = Reference(rank, world, 1), Reference(rank, world, MICROS)
    for use_orig_params in (True, False):
        for micros, reference in ((1, once), (MICROS, twice)):
            model = _wrapped(0, use_orig_params)
            optimizer = torch.optim.Adam(model.parameters(), 1e-2)
            recorder, monitor = watched(model, optimizer, grad_acc_steps=micros)
            train(model, optimizer, rank, micros)
            check(recorder, reference, "micro" if micros > 1 else "sum")
            if not use_orig_params:
                assert not any("_flat_param" in name for name in recorder.names(Kind.PARAM_ORIGIN, 0))
            monitor.close()


def _each_micro_step(rank: int, world: int) -> None:
    """monitor_mbs_grad: a value for each micro step, also inside no_sync."""
    reference = Reference(rank, world, MICROS)
    model = _wrapped(0, True)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(
        model, optimizer, {"wg_distribution": True, "monitor_mbs_grad": True}, grad_acc_steps=MICROS
    )
    train(model, optimizer, rank, MICROS, lambda last: contextlib.nullcontext() if last else model.no_sync())
    found = recorder.found(Kind.GRAD_UNREDUCED, 1)
    assert len(found) == MICROS * len(reference.sums[0])
    for desc, values in found:
        assert desc.form & Form.MICRO
        expected = reference.micro[1][desc.micro_step][bare_name(desc.name)]
        assert abs(float(values["norm"]) - float(expected.norm())) <= 5e-6 * float(expected.norm())
    monitor.close()


def _edges(rank: int, world: int) -> None:
    """Other ways to shard, units inside checkpoints, modules that are used without being called."""
    reference = Reference(rank, world, 1)
    for model in (
        _fsdp(net(), sharding_strategy=ShardingStrategy.SHARD_GRAD_OP),
        _fsdp(net(), sharding_strategy=ShardingStrategy.NO_SHARD),
        _fsdp(checkpointed(net(), False)),
        _fsdp(checkpointed(net(), True)),
    ):
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer)
        train(model, optimizer, rank, 1)
        check(recorder, reference, "sum")
        monitor.close()
    check_uncalled_modules(rank, _fsdp, watched)
    _unit_that_runs_twice(rank)


class _Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block, self.last = Block(0.0), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.block(self.block(x)))


def _unit_that_runs_twice(rank: int) -> None:
    """Each run has views of its own with a part of the gradient: no value is better than half of one."""
    model = _fsdp(_Twice())
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(model, optimizer)
    train(model, optimizer, rank, 1)
    for step in range(2):
        assert recorder.names(Kind.GRAD_UNREDUCED, step) == {"last.weight", "last.bias"}
        assert any(name.startswith("block.") for name in recorder.names(Kind.GRAD_REDUCED, step))
    assert any("more than once in a micro step" in sentence for sentence in recorder.sentences)
    monitor.close()


def _same(rank: int, world: int, seeds: int, steps: int) -> None:
    for use_orig_params in (True, False):

        def make(seed: int, use_orig_params: bool = use_orig_params) -> Any:
            model = _wrapped(seed, use_orig_params, 0.1)
            return model, torch.optim.AdamW(model.parameters(), 1e-2), lambda m, o, n: train(m, o, rank, 1, steps=n)

        check_same_training(make, seeds, steps, f"FSDP1 use_orig_params={use_orig_params}")


def _all_values(rank: int, world: int) -> None:
    _values(rank, world)
    _each_micro_step(rank, world)
    _edges(rank, world)


def _short(rank: int, world: int) -> None:
    _all_values(rank, world)
    _same(rank, world, 3, 6)


def test_fsdp1_trains_the_same_bits_and_gradients_are_whole_before_and_a_shard_after_reduction() -> None:
    run_ranks(_short)


@pytest.mark.long
def test_fsdp1_trains_bitwise_the_same_for_long() -> None:
    run_ranks(_same, 10, 200)
