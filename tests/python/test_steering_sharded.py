# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings whose parameters or optimizer states are sharded, offered another config every seven steps."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import test_framework_deepspeed as zero
import test_framework_fsdp2 as fsdp2
import torch
import torch.distributed as dist
from offers import ACCEPTED, APPLIED, EVERYTHING, IN_FORCE, REFUSED, WEIGHTS, Offers
from ranks import Recorder, assert_bitwise, run_ranks, state_of
from sharded import batch, loss_of
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.sinks.stream import StreamSink

PUSHED: list[dict[str, Any]] = [
    {**EVERYTHING, "l2_targets": {"linear_hook": ["last"]}},
    {"dynamic_on": False, "wg_distribution": True},
    {**WEIGHTS, "cc_distribution": {"enable": True}},
    {"dynamic_on": True, "xy_distribution": True, "targets": {"blocks.1": {}}, "step_interval": 2},
    {**WEIGHTS, "collect_times": 2},
    {"dynamic_on": True, "step_interval": 0},  # refused
]


def _fsdp2(rank: int, world: int) -> tuple[Any, Any, Callable[[int], None]]:
    model = fsdp2._wrapped(0, world, None, 0.1)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)

    def step(number: int) -> None:
        optimizer.zero_grad()
        loss_of(model(batch(rank, number, 0))).backward()
        optimizer.step()

    return model, optimizer, step


def _zero2(rank: int, world: int) -> tuple[Any, Any, Callable[[int], None]]:
    engine = zero._engine(0, 2, world, 1, 2, 0.1)

    def step(number: int) -> None:
        engine.backward(loss_of(engine(batch(rank, number, 0))))
        engine.step()

    return engine, engine.optimizer, step


def _steered(rank: int, world: int, make: Callable[..., Any], steps: int) -> None:
    states = []
    for is_steered in (False, True):
        torch.manual_seed(0)
        model, optimizer, step = make(rank, world)
        torch.manual_seed(rank)
        if not is_steered:
            for number in range(steps):
                step(number)
        else:
            _train_steered(rank, model, optimizer, step, steps)
        states.append(state_of(model))
    assert_bitwise(states[0], states[1], f"{make.__name__} rank {rank}")


def _train_steered(rank: int, model: Any, optimizer: Any, step: Callable[[int], None], steps: int) -> None:
    offers, recorder = Offers(), Recorder()
    spool = os.path.join(os.environ["TELLTALE_DIR"], str(rank))
    agent = {"join": offers.join, "spool_dir": spool, "batch_ms": 10}
    monitor = TrainerMon(WEIGHTS, sinks=[StreamSink(), recorder], agent=agent)
    monitor.set_monitor(model, optimizer=optimizer)
    offers.wait(0, IN_FORCE)
    accepted = []
    for number in range(steps):
        if number % 7 == 0:
            rev = offers.offer(PUSHED[number // 7 % len(PUSHED)], number + 3)
            if offers.wait(rev, ACCEPTED, REFUSED)["status"] == ACCEPTED:
                accepted.append((rev, number + 3))
        step(number)
    assert monitor.step == steps
    if accepted[-1][1] < steps:
        offers.wait(accepted[-1][0], APPLIED)
    monitor.close()
    applied = [(said["rev"], said["step"]) for said in offers.heard if said["status"] == APPLIED]
    offers.close()
    # All of them, at the step that was named, on every rank, and what they ask for was collected.
    assert applied == [one for one in accepted if one[1] < steps] and len(applied) >= steps // 7 * 5 // 6
    everywhere: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, applied)
    assert everywhere[0] == everywhere[1]
    for kind in (Kind.PARAM_ORIGIN, Kind.EXP_AVG, Kind.ACTV, Kind.GRAD_REDUCED):
        assert any(recorder.found(kind, number) for number in range(steps)), kind
    assert all(recorder.found(Kind.PARAM_ORIGIN, number) for number in range(3, 10))
    assert not any(frame.tables for frame in recorder.frames if 10 <= frame.step < 17)
    assert not [said for said in recorder.sentences if "internal error" in said]


@pytest.mark.parametrize("make", [_fsdp2, _zero2])
def test_sharded_trainings_stay_bitwise_the_same_and_change_at_the_same_step(make: Callable[..., Any]) -> None:
    run_ranks(_steered, make, 200)
