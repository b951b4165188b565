# SPDX-License-Identifier: GPL-3.0-or-later
"""Training ends in the same bits with everything monitored and with nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from models import TRAININGS, Training
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon

EVERYTHING = {
    "wg_distribution": True,
    "mv_distribution": True,
    "param_distribution": True,
    "xy_distribution": True,
    "mg_direction": True,
    "ur_distribution": True,
    "monitor_mbs_grad": True,
    "stack_info": True,
    "print_struct": True,
    "recording_l2_features": True,
    "l2_targets": {"linear_hook": ["head"], "attention_hook": []},
    "telltale": {"attention_hook": True},
    "ops": ["norm", "mean", "min", "max", "zeros", "nans"],
}


def compare(training: Training, seeds: int, steps: int) -> None:
    for seed in range(seeds):
        sink = RecordingSink()

        def watch(model: Any, optimizers: list[Any], micros: int, sink: RecordingSink = sink) -> TrainerMon:
            monitor = TrainerMon(EVERYTHING, sinks=[sink])
            monitor.set_monitor(model, optimizer=optimizers, grad_acc_steps=micros)
            return monitor

        bare = training.run(seed, steps)
        watched = training.run(seed, steps, watch)
        assert watched == bare, f"seed {seed}: the monitored training ends in other bits"
        for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.ACTV, Kind.ACTV_GRAD, Kind.PARAM_UPDATED):
            assert sink.steps(kind) == list(range(steps)), f"{kind.word} was not collected at every step"
        assert not [s for s in sink.sentences() if "internal error" in s]


@pytest.mark.parametrize("name", TRAININGS)
def test_monitored_training_ends_in_the_same_bits(name: str) -> None:
    torch.set_num_threads(1)
    compare(TRAININGS[name], seeds=2, steps=20)


@pytest.mark.long
@pytest.mark.parametrize("name", TRAININGS)
def test_ten_seeds_of_200_steps_end_in_the_same_bits(name: str) -> None:
    torch.set_num_threads(1)
    compare(TRAININGS[name], seeds=10, steps=200)


def test_an_unmonitored_difference_would_be_seen() -> None:
    """The comparison itself can fail: one random number more changes the bits."""
    training = TRAININGS["transformer with dropout"]

    class Disturbing:
        def __init__(self, *_: Any) -> None:
            torch.rand(1)

        def log(self, *_: Any, **__: Any) -> None:
            pass

        close = log

    assert training.run(0, 3) != training.run(0, 3, Disturbing)
