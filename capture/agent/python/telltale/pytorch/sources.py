# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters of a torch model, whatever holds them, and ranges of flat ones."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from ..agent.clock import Clock
from ..agent.hooks import Hook
from ..agent.sources import Source
from ..kinds import DType
from ..measure import DTYPES, local


class GradientHook(Hook):
    """A post-accumulate-grad or tensor hook: hands the gradient to the monitor, returns None, never raises."""

    __slots__ = ("_engine", "_number", "_of_parameter")

    def __init__(self, engine: weakref.ReferenceType[Clock], number: int, of_parameter: bool) -> None:
        self._engine = engine
        self._number = number
        self._of_parameter = of_parameter

    def __call__(self, tensor: Any) -> None:
        engine = self._engine()
        if engine is not None:
            gradient = tensor
            if self._of_parameter:
                gradient = tensor.grad
                if gradient is None:  # taken over by a hook before this one
                    gradient = getattr(tensor, "main_grad", None)
            engine.gradient_arrived(self._number, gradient)
        return None


class ParameterSource(Source):
    """One trainable parameter of a plain or DDP-wrapped model; frameworks that shard override what differs."""

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
        value = self._state(self.tensor, which)
        return None if value is None else local(value)

    def _state(self, key: Any, which: str) -> Any:
        if self.optimizer is None:
            return None
        state = self.optimizer.state.get(key)
        value = state.get(which) if state else None
        return value if isinstance(value, torch.Tensor) else None

    def adam(self) -> tuple[int, tuple[float, float], float]:
        """(steps done, betas, eps) of Adam and its kin, steps 0 where there is nothing of the kind."""
        key = self.stepped()
        if self.optimizer is None or key is None:
            return 0, (0.0, 0.0), 0.0
        for group in self.optimizer.param_groups:
            if "betas" in group and any(entry is key for entry in group["params"]):
                state = self.optimizer.state.get(key) or {}
                steps = state["step"] if "step" in state else group.get("step", 0)
                return _whole(steps), (float(group["betas"][0]), float(group["betas"][1])), float(group.get("eps", 0.0))
        return 0, (0.0, 0.0), 0.0

    # -- before reduction ----------------------------------------------------------------------------------------

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        """Installs what reports this rank's gradient before any reduction; returns removable handles."""
        if not self.tensor.requires_grad:
            return []
        return [self.tensor.register_post_accumulate_grad_hook(GradientHook(engine.reference, number, True))]

    def dtype(self) -> torch.dtype:
        """Of the values that parameter() gives."""
        return self.tensor.dtype

    def element_type(self) -> tuple[DType, str]:
        dtype = self.dtype()
        return DTYPES.get(dtype, DType.UNKNOWN), str(dtype)

    # -- replacement ---------------------------------------------------------------------------------------------

    def replacement(self) -> Any:
        if self.place is None:
            return None
        module = self.place[0]()
        now = module._parameters.get(self.place[1]) if module is not None else None
        return now if isinstance(now, torch.nn.Parameter) and now is not self.tensor else None


class FlatSlice(ParameterSource):
    """A parameter that lies in a range of a flat parameter which the optimizer steps instead of it (FSDP1 without
    original parameters, ZeRO, Megatron's distributed optimizer)."""

    is_replicated = False

    def __init__(
        self,
        name: str,
        parameter: Any,
        optimizer: Any,
        vpp_stage: int,
        flat: Any,
        start: int,
        count: int,
        offset: int,
        full_shape: tuple[int, ...],
    ) -> None:
        """start, count: in the flat parameter (count 0: nothing of it is on this rank); offset: the first of these
        elements in the full parameter."""
        super().__init__(name, parameter, optimizer, vpp_stage)
        self.flat = flat
        self.start = start
        self.count = count
        self.offset = offset
        self.full_shape = full_shape

    @property
    def is_here(self) -> bool:
        return self.count > 0

    def _cut(self, flat: Any) -> Any:
        if flat is None or not self.count:
            return None
        return flat.detach().view(-1)[self.start : self.start + self.count]

    def parameter(self) -> Any:
        return self._cut(self.flat)

    def gradient(self) -> Any:
        return self._cut(self.flat.grad) if self.flat is not None else None

    def moment(self, which: str) -> Any:
        return self._cut(self._state(self.flat, which)) if self.flat is not None else None

    def stepped(self) -> Any:
        return self.flat

    def dtype(self) -> torch.dtype:
        return self.flat.dtype if self.flat is not None else self.tensor.dtype

    def shard(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        total = 1
        for size in self.full_shape:
            total *= size
        if self.count == total:
            return self.full_shape, -1, ()
        return (self.count,), self.offset if self.count else 0, self.full_shape


def _whole(number: Any) -> int:
    """A step count, 0 where reading it would wait for a device."""
    if isinstance(number, torch.Tensor):
        return int(number) if number.is_cpu and number.numel() == 1 else 0
    return int(number) if isinstance(number, (int, float)) else 0
