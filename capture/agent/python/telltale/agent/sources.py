# SPDX-License-Identifier: GPL-3.0-or-later
"""What is watched of a model: parameters, or what of them is on this rank, and the optimizers that step them."""

from __future__ import annotations

import abc
import weakref
from dataclasses import dataclass, field
from typing import Any

from ..kinds import DType, Form
from ..series import SeriesDesc
from .clock import Clock


class Source(abc.ABC):
    """One trainable parameter.

    All tensors given out are local to this rank: no method here may communicate, synchronize or raise.
    """

    unreduced_is_full = True  # the unreduced gradient has the full shape even where the rest is a shard
    is_replicated = True  # each data parallel rank steps all of it, with the same gradient
    arrives_once = False  # the unreduced gradient is seen once per step, not at every micro step

    def __init__(self, name: str, parameter: Any, optimizer: Any = None, vpp_stage: int = 0) -> None:
        self.name = name
        self.tensor = parameter
        self.optimizer = optimizer
        self.vpp_stage = vpp_stage
        self.form_unreduced = Form.NONE
        self.form_reduced = Form.NONE
        self.gradient_definition = ""
        self.place: tuple[weakref.ReferenceType[Any], str] | None = None
        self.unit_key = 0  # which of its optimizer's units steps it: id of a flat parameter, 0 = the only one

    # -- what this rank holds ------------------------------------------------------------------------------------

    @property
    def is_here(self) -> bool:
        """Whether this rank holds any of it; the unreduced gradient may be seen all the same."""
        return True

    @abc.abstractmethod
    def parameter(self) -> Any:
        """The parameter's local values, None when this rank holds none."""

    @abc.abstractmethod
    def gradient(self) -> Any:
        """What the optimizer is about to consume, None when there is none."""

    @abc.abstractmethod
    def moment(self, which: str) -> Any:
        """The optimizer's "exp_avg" or "exp_avg_sq", None before the first step."""

    def stepped(self) -> Any:
        """The object in the optimizer's groups that stands for this parameter."""
        return self.tensor

    @abc.abstractmethod
    def adam(self) -> tuple[int, tuple[float, float], float]:
        """(steps done, betas, eps) of Adam and its kin, steps 0 where there is nothing of the kind."""

    def shard(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """(local shape, first element in the full tensor or -1, full shape or ())."""
        return tuple(self.tensor.shape), -1, ()

    @abc.abstractmethod
    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        """Installs what reports this rank's gradient before any reduction; returns removable handles."""

    def replacement(self) -> Any:
        """The object that has taken the parameter's place in its module, None while it is still the same."""
        return None

    # -- as a series ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def element_type(self) -> tuple[DType, str]:
        """Of the values that parameter() gives, and what the framework calls it."""

    def describe(
        self, form: Form = Form.NONE, micro_step: int = -1, full: bool = False, definition: str = ""
    ) -> SeriesDesc:
        """The series of this parameter; `full`: of the whole tensor though this rank holds a shard."""
        shape, offset, whole = self.shard()
        if full and whole:
            shape, offset, whole = whole, -1, ()
        count = 1
        for size in shape:
            count *= size
        dtype, name = self.element_type()
        return SeriesDesc(
            name=self.name,
            vpp_stage=self.vpp_stage,
            micro_step=micro_step,
            form=form,
            definition=definition,
            shape=shape,
            dtype=dtype,
            numel=count,
            shard_offset=offset,
            full_shape=whole,
            torch_dtype=name,
        )


@dataclass
class Unit:
    """One step() of an inner optimizer. DeepSpeed calls one optimizer several times a step, each time with another flat
    parameter in its groups: `key` is the id of that, 0 when a step() takes all."""

    optimizer: Any
    key: int = 0


@dataclass
class Discovery:
    """What was found in the objects that the user handed over."""

    framework: str = "plain"
    sources: list[Source] = field(default_factory=list)
    optimizers: list[Any] = field(default_factory=list)  # the inner ones, in stepping order
    units: list[Unit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what cannot be observed, in sentences
    grad_acc_steps: int = 1  # as the framework itself says
