# SPDX-License-Identifier: GPL-3.0-or-later
"""DeepSpeed ZeRO 0 to 3 on two ranks, on the CPU."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

import pytest
import torch
from ranks import assert_all, run_ranks, watched
from sharded import MICROS, STEPS, Reference, batch, check, check_same_training, loss_of, net
from telltale.kinds import Form, Kind


def _engine(
    seed: int,
    stage: int,
    world: int,
    micros: int,
    groups: int = 1,
    dropout: float = 0.0,
    bf16: bool = False,
    clip: float = 0.0,
) -> Any:
    os.environ.update(DS_ACCELERATOR="cpu", DS_BUILD_OPS="0")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import deepspeed

    deepspeed.ops.__compatible_ops__ = {}  # else it compiles a shared-memory collective for minutes

    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": micros,
        "train_batch_size": 4 * world * micros,
        "zero_optimization": {"stage": stage, "overlap_comm": False, "stage3_param_persistence_threshold": 0},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": bf16},
        "steps_per_print": 10**9,
        "gradient_clipping": clip,
    }
    model = net(seed, dropout)
    parameters = list(model.parameters())
    cut = len(parameters) // groups
    split = [{"params": parameters[:cut]}, {"params": parameters[cut:]}] if groups > 1 else parameters
    optimizer = torch.optim.Adam(split, 1e-2)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config, dist_init_required=False)
    return engine


def _train(engine: Any, rank: int, micros: int, steps: int = STEPS, dtype: Any = torch.float32) -> None:
    for step in range(steps):
        for k in range(micros):
            engine.backward(loss_of(engine(batch(rank, step, k).to(dtype))))
            engine.step()


def _values(rank: int, world: int, stage: int) -> None:
    # DeepSpeed divides each micro step's loss by their number.
    for micros, groups in ((1, 1), (MICROS, 2)):
        reference = Reference(rank, world, micros, divide=True)
        engine = _engine(0, stage, world, micros, groups)
        # Whatever people hand over: the engine's own optimizer, or nothing but the engine.
        recorder, monitor = watched(engine, engine.optimizer if groups == 1 else None)
        _train(engine, rank, micros)
        assert monitor.step == STEPS, f"{monitor.step} steps seen with {groups} groups"
        check(recorder, reference, "micro" if micros > 1 and stage >= 2 else "sum")
        monitor.close()
    if stage in (1, 2):
        _low_precision(rank, world, stage)


def _low_precision(rank: int, world: int, stage: int) -> None:
    """bf16: gradients arrive in bf16, parameters and moments are the float32 partitions'."""
    engine = _engine(0, stage, world, 1, bf16=True)
    recorder, monitor = watched(engine, engine.optimizer)
    _train(engine, rank, 1, dtype=torch.bfloat16)
    reference = Reference(rank, world, 1, dtype=torch.bfloat16)
    assert_all(recorder, Kind.GRAD_UNREDUCED, 0, reference.sums[0], 0.05, is_complete=False)
    assert_all(recorder, Kind.GRAD_REDUCED, 0, reference.reduced[0], 0.05)
    for kind in (Kind.PARAM_ORIGIN, Kind.EXP_AVG):
        found = recorder.found(kind, 1)
        assert found and all(desc.torch_dtype == "torch.float32" for desc, _ in found)
    assert not any(desc.form & Form.SCALED for desc, _ in recorder.found(Kind.GRAD_UNREDUCED, 0))
    monitor.close()


def _same(rank: int, world: int, stage: int, seeds: int, steps: int) -> None:
    def make(seed: int) -> Any:
        engine = _engine(seed, stage, world, 1, 2, 0.1)
        return engine, engine.optimizer, lambda m, o, n: _train(m, rank, 1, n)

    check_same_training(make, seeds, steps, f"ZeRO {stage}")


def _stages(rank: int, world: int) -> None:
    for stage in range(4):
        _values(rank, world, stage)
        _same(rank, world, stage, 3, 4)


def test_zero_is_read_from_its_partitions_and_trains_bitwise_the_same() -> None:
    run_ranks(_stages)


@pytest.mark.long
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_zero_trains_bitwise_the_same_for_long(stage: int) -> None:
    run_ranks(_same, stage, 10, 200)
