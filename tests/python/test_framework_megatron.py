# SPDX-License-Identifier: GPL-3.0-or-later
"""The real megatron-core on two ranks. It knows only CUDA devices: the test sends its device calls to the CPU, so what
is shown here is the adapter, not Megatron on a GPU."""

from __future__ import annotations

import contextlib
import logging
import warnings
from typing import Any

import pytest
import torch
from ranks import run_ranks, watched
from sharded import MICROS, STEPS, Reference, batch, check, check_same_training, loss_of, net
from telltale.agent.targets import bare_name
from telltale.kinds import Form, Kind


def _shim() -> None:
    """cuda -> cpu where megatron-core asks for a device or a type name."""
    if getattr(torch, "_telltale_shim", False):
        return
    torch._telltale_shim = True  # type: ignore[attr-defined]
    torch.cuda.current_device = lambda: "cpu"  # type: ignore[assignment,return-value]
    kind = torch.Tensor.type

    def type_name(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or tensor.is_cuda:
            return kind(tensor, *args, **kwargs)
        return kind(tensor).replace("torch.", "torch.cuda.", 1)

    torch.Tensor.type = type_name  # type: ignore[method-assign,assignment]
    for name in ("tensor", "zeros", "empty", "ones"):
        original = getattr(torch, name)

        def on_cpu(*args: Any, _original: Any = original, **kwargs: Any) -> Any:
            if kwargs.get("device") == "cuda":
                kwargs["device"] = "cpu"
            return _original(*args, **kwargs)

        setattr(torch, name, on_cpu)


def _setup(seed: int, is_sharded: bool, clip: float, dropout: float = 0.0, bf16: bool = False) -> tuple[Any, Any]:
    _shim()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    from megatron.core import parallel_state
    from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
    from megatron.core.transformer import TransformerConfig

    if not parallel_state.is_initialized():
        parallel_state.initialize_model_parallel(1, 1)
    config = TransformerConfig(num_layers=1, hidden_size=8, num_attention_heads=1, use_cpu_initialization=True)
    model = net(seed, dropout)
    model.config = config
    if bf16:
        model.bfloat16()
    how = DistributedDataParallelConfig(
        overlap_grad_reduce=False, use_distributed_optimizer=is_sharded, grad_reduce_in_fp32=True
    )
    wrapped = DistributedDataParallel(config, how, model)
    options = OptimizerConfig(
        optimizer="adam",
        lr=1e-2,
        weight_decay=0.0,
        adam_eps=1e-8,
        adam_beta2=0.999,
        use_distributed_optimizer=is_sharded,
        clip_grad=clip,
        params_dtype=torch.bfloat16 if bf16 else torch.float32,
        bf16=bf16,
    )
    return wrapped, get_megatron_optimizer(options, [wrapped])


def _train(model: Any, optimizer: Any, rank: int, micros: int, steps: int = STEPS, dtype: Any = torch.float32) -> None:
    for step in range(steps):
        model.zero_grad_buffer()
        optimizer.zero_grad()
        for k in range(micros):
            with contextlib.nullcontext() if k == micros - 1 else model.no_sync():
                loss_of(model(batch(rank, step, k).to(dtype))).backward()
        model.finish_grad_sync()
        optimizer.step()


def _values(rank: int, world: int, is_sharded: bool) -> None:
    for micros in (1, MICROS):
        reference = Reference(rank, world, micros)
        model, optimizer = _setup(0, is_sharded, 0.0)
        recorder, monitor = watched(model, optimizer, grad_acc_steps=micros)
        _train(model, optimizer, rank, micros)
        check(recorder, reference, "sum")
        assert not any(desc.form & Form.CLIPPED for desc, _ in recorder.found(Kind.GRAD_REDUCED, 0))
        monitor.close()
        assert "start_grad_sync" not in vars(model.bucket_groups[0])
    _each_micro_step(rank, world, is_sharded)
    _clipped(rank, is_sharded)


def _each_micro_step(rank: int, world: int, is_sharded: bool) -> None:
    reference = Reference(rank, world, MICROS)
    model, optimizer = _setup(0, is_sharded, 0.0)
    config = {"wg_distribution": True, "monitor_mbs_grad": True}
    recorder, monitor = watched(model, optimizer, config, grad_acc_steps=MICROS)
    _train(model, optimizer, rank, MICROS)
    found = recorder.found(Kind.GRAD_UNREDUCED, 1)
    assert len(found) == MICROS * len(reference.sums[0])
    for desc, values in found:
        expected = reference.micro[1][desc.micro_step][bare_name(desc.name)]
        assert desc.form & Form.MICRO
        assert abs(float(values["norm"]) - float(expected.norm())) <= 5e-6 * float(expected.norm())
    monitor.close()


def _clipped(rank: int, is_sharded: bool) -> None:
    """What the optimizer consumes is clipped, and says so."""
    model, optimizer = _setup(0, is_sharded, 0.05)
    recorder, monitor = watched(model, optimizer)
    _train(model, optimizer, rank, 1)
    found = recorder.found(Kind.GRAD_REDUCED, 0)
    assert found and all(desc.form & Form.CLIPPED for desc, _ in found)
    assert sum(float(values["sumsq"]) for _, values in found) <= 0.05**2 * 1.001
    monitor.close()


def _same(rank: int, world: int, is_sharded: bool, seeds: int, steps: int) -> None:
    def make(seed: int) -> Any:
        model, optimizer = _setup(seed, is_sharded, 1.0, 0.1)
        wrapped = (model, optimizer, lambda m, o, n: _train(m, o, rank, 1, n))
        return wrapped

    check_same_training(make, seeds, steps, f"Megatron sharded={is_sharded}")


def _all(rank: int, world: int) -> None:
    for is_sharded in (False, True):
        _values(rank, world, is_sharded)
        _same(rank, world, is_sharded, 3, 4)
    _low_precision(rank, world)


def _low_precision(rank: int, world: int) -> None:
    """bf16 model: parameters and moments are the float32 masters'."""
    for is_sharded in (False, True):
        model, optimizer = _setup(0, is_sharded, 0.0, bf16=True)
        recorder, monitor = watched(model, optimizer)
        _train(model, optimizer, rank, 1, dtype=torch.bfloat16)
        for kind in (Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.EXP_AVG, Kind.GRAD_REDUCED):
            found = recorder.found(kind, 1)
            assert found and all(desc.torch_dtype == "torch.float32" for desc, _ in found), (kind, is_sharded)
        monitor.close()


def test_megatron_is_read_from_its_buffers_and_trains_bitwise_the_same() -> None:
    run_ranks(_all)


@pytest.mark.long
@pytest.mark.parametrize("is_sharded", [False, True])
def test_megatron_trains_bitwise_the_same_for_long(is_sharded: bool) -> None:
    run_ranks(_same, is_sharded, 10, 200)
