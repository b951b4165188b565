# SPDX-License-Identifier: GPL-3.0-or-later
"""What is watched of a model, whatever framework holds it: parameters or their shards, and the optimizers inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from ..kinds import DType, Form
from ..measure import DTYPES, local
from ..series import SeriesDesc
from .hooks import Hook

Arrived = Callable[[int, Any], None]


class GradientHook(Hook):
    """A post-accumulate-grad or tensor hook: hands the gradient to the monitor, returns None, never raises."""

    __slots__ = ("_arrived", "_number", "_of_parameter")

    def __init__(self, arrived: Arrived, number: int, of_parameter: bool) -> None:
        self._arrived = arrived
        self._number = number
        self._of_parameter = of_parameter

    def __call__(self, tensor: Any) -> None:
        self._arrived(self._number, tensor.grad if self._of_parameter else tensor)
        return None


class ParameterSource:
    """One trainable parameter of a plain or DDP-wrapped model; frameworks that shard override what differs.

    All tensors given out are local to this rank: no method here may communicate, synchronise or raise.
    """

    framework = "plain"

    def __init__(self, name: str, parameter: torch.nn.Parameter, optimizer: Any = None, vpp_stage: int = 0) -> None:
        self.name = name
        self.tensor = parameter
        self.optimizer = optimizer
        self.vpp_stage = vpp_stage
        self.form_unreduced = Form.NONE
        self.form_reduced = Form.NONE
        self.note = ""

    def parameter(self) -> Any:
        """The parameter's local values, None when this rank holds none."""
        return local(self.tensor)

    def gradient(self) -> Any:
        """What the optimizer is about to consume, None when there is none."""
        grad = self.tensor.grad
        if grad is None:
            grad = getattr(self.tensor, "main_grad", None)
        return None if grad is None else local(grad)

    def moment(self, which: str) -> Any:
        """The optimizer's "exp_avg" or "exp_avg_sq", None before the first step."""
        if self.optimizer is None:
            return None
        state = self.optimizer.state.get(self.tensor)
        value = state.get(which) if state else None
        return None if value is None else local(value)

    def watch_unreduced(self, arrived: Arrived, number: int) -> list[Any]:
        """Installs what reports this rank's gradient before any reduction; returns removable handles."""
        if not self.tensor.requires_grad:
            return []
        return [self.tensor.register_post_accumulate_grad_hook(GradientHook(arrived, number, True))]

    def describe(self, form: Form = Form.NONE, micro_step: int = -1, full: bool = False) -> SeriesDesc:
        """The series of this parameter; `full`: of the whole tensor though this rank holds a shard."""
        shape, offset, whole = self.shard()
        tensor = self.tensor
        if full and whole:
            shape, offset, whole = whole, -1, ()
        count = 1
        for size in shape:
            count *= size
        return SeriesDesc(
            name=self.name,
            vpp_stage=self.vpp_stage,
            micro_step=micro_step,
            form=form,
            shape=shape,
            dtype=DTYPES.get(tensor.dtype, DType.UNKNOWN),
            numel=count,
            shard_offset=offset,
            full_shape=whole,
            torch_dtype=str(tensor.dtype),
        )

    def shard(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """(local shape, first element in the full tensor or -1, full shape or ())."""
        return tuple(self.tensor.shape), -1, ()

    unreduced_is_full = True  # the unreduced gradient has the full shape even where the rest is a shard


@dataclass
class Discovery:
    """What was found in the objects that the user handed over."""

    framework: str = "plain"
    sources: list[ParameterSource] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)  # the inner torch ones, in stepping order
    notes: list[str] = field(default_factory=list)  # what cannot be observed, in sentences


def inner_optimizers(optimizer: Any) -> list[torch.optim.Optimizer]:
    """The torch optimizers inside whatever wraps them (Accelerate, DeepSpeed, Lightning, Megatron, lists)."""
    found: list[torch.optim.Optimizer] = []
    _collect(optimizer, found, 0)
    return found


def _collect(thing: Any, found: list[torch.optim.Optimizer], depth: int) -> None:
    if thing is None or depth > 6:
        return
    if isinstance(thing, (list, tuple)):
        for entry in thing:
            _collect(entry, found, depth + 1)
        return
    chained = getattr(thing, "chained_optimizers", None)
    if chained:
        _collect(list(chained), found, depth + 1)
        return
    for name in ("optimizer", "_optimizer"):
        inner = getattr(thing, name, None)
        if inner is not None and inner is not thing and hasattr(inner, "param_groups"):
            _collect(inner, found, depth + 1)
            return
    if isinstance(thing, torch.optim.Optimizer) and all(thing is not entry for entry in found):
        found.append(thing)


def owner_of(optimizers: list[torch.optim.Optimizer]) -> dict[int, torch.optim.Optimizer]:
    """id(parameter) -> the optimizer that steps it."""
    return {id(p): opt for opt in optimizers for group in opt.param_groups for p in group["params"]}
