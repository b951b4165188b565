# SPDX-License-Identifier: GPL-3.0-or-later
"""DDP on two ranks: gradients before and after reduction, in all of its ways to hold them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from ranks import run_ranks, watched
from sharded import MICROS, Reference, check, check_same_training, net, train
from telltale.kinds import Kind
from telltale.names import bare_name
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.nn.parallel import DistributedDataParallel as DDP

_WAYS: list[dict[str, Any]] = [
    {},
    {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.0001},
    {"static_graph": True},
]


def _values(rank: int, world: int) -> None:
    once, twice = Reference(rank, world, 1), Reference(rank, world, MICROS)
    for way in _WAYS:
        model = DDP(net(), **way)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer)
        train(model, optimizer, rank, 1)
        check(recorder, once, "sum")
        monitor.close()
        if way.get("static_graph"):
            continue  # torch's own assertion forbids it together with no_sync in the first iteration
        model = DDP(net(), **way)
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer, grad_acc_steps=MICROS)
        train(model, optimizer, rank, MICROS, lambda last, m=model: contextlib.nullcontext() if last else m.no_sync())
        check(recorder, twice, "sum")
        monitor.close()
    _unused(rank, world)


def _unused(rank: int, world: int) -> None:
    """A parameter that takes no part has no gradient, not a stale one."""
    model = net()
    model.extra = torch.nn.Linear(2, 2)
    wrapped = DDP(model, find_unused_parameters=True)
    optimizer = torch.optim.Adam(wrapped.parameters(), 1e-2)
    recorder, monitor = watched(wrapped, optimizer)
    train(wrapped, optimizer, rank, 1)
    assert "extra.weight" not in recorder.names(Kind.GRAD_UNREDUCED, 1)
    assert "extra.weight" in recorder.names(Kind.PARAM_ORIGIN, 1)
    assert any("no gradient arrived" in said and "extra.weight" in said for said in recorder.sentences)
    monitor.close()


def _same(rank: int, world: int, seeds: int, steps: int) -> None:
    for way in _WAYS:

        def make(seed: int, way: dict[str, Any] = way) -> Any:
            model = DDP(net(seed, 0.1), **way)
            return model, torch.optim.AdamW(model.parameters(), 1e-2), lambda m, o, n: train(m, o, rank, 1, steps=n)

        check_same_training(make, seeds, steps, f"DDP {way}")


def _short(rank: int, world: int) -> None:
    _values(rank, world)
    _same(rank, world, 3, 6)


def test_ddp_trains_the_same_bits_and_gradients_are_local_before_and_the_mean_after_reduction() -> None:
    run_ranks(_short)


def _rows(model: torch.nn.Module, rank: int, config: dict[str, Any] | None = None) -> list[list[tuple[Any, ...]]]:
    """What stands of each module's activations and of their gradients, under the names that are shown."""
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(model, optimizer, config)
    train(model, optimizer, rank, 1, steps=1)
    monitor.close()
    return [
        sorted((bare_name(d.name), d.slot.text, float(values["norm"])) for d, values in recorder.found(kind, 0))
        for kind in (Kind.ACTV, Kind.ACTV_GRAD)
    ]


def _names(rank: int, world: int) -> None:
    """The wrapped module is the model: it stands there once, as without the wrapper."""
    alone = _rows(net(), rank)
    assert alone[0][0][0] == ""
    assert _rows(DDP(net()), rank) == alone
    [[*only], _] = _rows(DDP(torch.compile(net(), backend="eager")), rank)
    assert {name for name, *_ in only} == {""}  # nothing can be seen within
    config = {"xy_distribution": True, "targets": {"module": {"output": "tensor"}}}
    assert [row[:2] for row in _rows(DDP(net()), rank, config)[0] if not row[0]] == [("", "output")]
    checkpointed = net()
    for number, block in enumerate(checkpointed.blocks):
        checkpointed.blocks[number] = checkpoint_wrapper(block)
    assert _rows(DDP(checkpointed), rank) == alone


def test_a_module_in_a_wrapper_stands_there_once() -> None:
    run_ranks(_names)


@pytest.mark.long
def test_ddp_trains_bitwise_the_same_for_long() -> None:
    run_ranks(_same, 10, 200)
