# SPDX-License-Identifier: GPL-3.0-or-later
"""Which step it is: what parts and hooks ask of the engine, and what hooks tell it."""

from __future__ import annotations

import abc
import weakref
from typing import Any

from ..config import MonitorConfig
from .framework import Framework
from .measurer import AnyMeasurer
from .unreducedrows import UnreducedRows
from .workbench import Workbench


class Clock(Workbench, abc.ABC):
    """Thread: the training thread; gradient hooks may run on autograd's threads. What hooks tell never raises."""

    framework: Framework

    def __init__(self, config: MonitorConfig, measurer: AnyMeasurer, rank: int) -> None:
        super().__init__(config, measurer, rank)
        self.reference: weakref.ReferenceType[Clock] = weakref.ref(self)
        self.micro = 0
        self.grad_acc_steps = 1
        self.active = True  # dynamic start and stop
        self.is_idle = False  # nothing is collected until it is switched on, and nothing was logged in this step
        self.is_logged_to = False  # the program logs metrics of the step in progress, whose forward is to be noticed
        self.collecting = False
        self.collected = 0
        self.attempt = 0  # of the step in progress, counted over the run
        self.has_begun = False
        self.is_counted_outside = False  # an integration calls forward_begins() itself
        self.stop_because: BaseException | None = None
        self.roots: list[Any] = []
        self.unreduced = UnreducedRows()
        self._has_micros = False  # a step has several, as the first one has shown
        self._forwards = 0

    def micro_label(self) -> int:
        """micro_step of a series measured now: -1 when a step has only one."""
        return -1 if self.grad_acc_steps == 1 and self.micro == 0 and not self._has_micros else self.micro

    @property
    def micro_mark(self) -> tuple[int, int, int]:
        """Tells micro steps apart, those of a step that was tried again included."""
        return self.step, self.attempt, self._forwards

    @abc.abstractmethod
    def forward_begins(self) -> None:
        """A forward pass of the whole model begins."""

    @abc.abstractmethod
    def gradient_arrived(self, number: int, gradient: Any) -> None:
        """A parameter's gradient before reduction. Thread: autograd's."""

    @abc.abstractmethod
    def step_begins(self, number: int, optimizer: Any) -> None:
        """An optimizer is about to step."""

    @abc.abstractmethod
    def step_of_log(self) -> int:
        """The step that a metric belongs to which is logged now."""

    @abc.abstractmethod
    def idle_step_of(self, number: int) -> None:
        """As after_step_of(), and in place of all three, while nothing is collected."""

    @abc.abstractmethod
    def gradients_ready(self, number: int, optimizer: Any) -> None:
        """The gradients that the optimizer consumes are there."""

    @abc.abstractmethod
    def after_step_of(self, number: int, optimizer: Any) -> None:
        """An optimizer has stepped; the step ends when every one has."""
