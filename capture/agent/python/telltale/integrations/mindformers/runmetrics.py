# SPDX-License-Identifier: GPL-3.0-or-later
"""What MFLossMonitor watches: loss, learning rate, loss scale, norm of all gradients, and how fast the training is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mindspore as ms
import numpy as np

from .jobview import Beside, StepOutput, rate_now
from .modelmetrics import separate_losses
from .outlet import BOARD, NOWHERE, Outlet
from .settings import BoardSettings

_TIMED = ("iteration-time", "throughput", "B-samples-per-day")


@dataclass
class LossParts:
    """What a parallel training's loss is the sum of."""

    micro_batches: int = 1
    interleaved: int = 1
    accumulated: int = 1
    is_per_token: bool = False

    def count(self) -> float:
        parts = float(self.interleaved)
        if not self.is_per_token:
            parts *= self.accumulated
            if ms.get_auto_parallel_context("pipeline_stages") > 1:
                parts *= self.micro_batches
        return parts


class RunMetrics:
    """Thread: training."""

    def __init__(self, beside: Beside, board: BoardSettings, batch: int, rate: Any, parts: LossParts, every: int):
        """every: the steps between two records in files and log; the dashboard gets each."""
        self._beside = beside
        self._board = board
        self._batch = batch
        self._rate = rate
        self._parts = parts
        self._every = every
        self._last = 0
        self.losses: list[float] = []  # of the epoch

    def step(self, outlet: Outlet, step: int, output: StepOutput, rates: Mapping[str, float], optimizer: Any) -> None:
        """A step has ended."""
        is_due = self._beside.loss is None and not 0 < step - self._last < self._every
        if is_due:
            self._last = step
        writes = BOARD if is_due and outlet.has_files else NOWHERE
        rate = output.rate if output.rate is not None else rate_now(self._rate, optimizer)
        loss = None if output.loss is None else output.loss / self._parts.count()
        if loss is not None:
            self.losses.append(loss)
        values = {"learning-rate": rate, "batch-size": float(self._batch) or None, "loss": loss}
        values |= {"loss-scale": output.scale, "grad-norm": output.norm}
        scale_to = writes if self._board.log_loss_scale_to_tensorboard else NOWHERE
        for tag, value in values.items():
            if value is not None:
                outlet.put(tag, value, scale_to if tag == "loss-scale" else writes, has_companion=True)
        self._put_rates(outlet, rates, writes)
        if getattr(self._beside.loss, "print_separate_loss", False):
            for tag, value in separate_losses().items():
                outlet.put(tag, value, NOWHERE)
        if is_due:
            self._say(outlet, output, loss, rate, rates)

    def _put_rates(self, outlet: Outlet, rates: Mapping[str, float], writes: frozenset[str]) -> None:
        timers_to = writes if self._board.log_timers_to_tensorboard else NOWHERE
        for tag, value in rates.items():
            if tag == "iteration-time":
                value = float(int(value))
            if tag != "throughput_linearity":  # TrainingStateMonitor's
                has_companion = tag in ("iteration-time", "throughput")
                outlet.put(tag, value, timers_to if tag in _TIMED else writes, has_companion)

    def _say(
        self, outlet: Outlet, output: StepOutput, loss: float | None, rate: float | None, rates: Mapping[str, float]
    ) -> None:
        """The step's line in the log."""
        parts = [outlet.place]
        if loss is not None:
            parts.append(f"loss:[{loss:5.6f}/{np.mean(self.losses):5.6f}]")
        parts.append(f"per_step_time: {int(rates.get('iteration-time', 0))}ms")
        parts += [f"lr: {rate}"] if rate is not None else []
        parts.append(f"overflow cond: {output.is_overflow}, loss_scale: {output.scale or 'unavailable'}")
        parts.append(f"global_norm: {output.norm}")
        if "throughput" in rates:
            parts.append(f"{rates['throughput']:.5f} samples/s/p")
        if "model-flops-throughput-per-npu" in rates:
            parts.append(f"train_throughput_per_npu: {rates['model-flops-throughput-per-npu']:.3f}T")
        outlet.line("{ " + ", ".join(parts) + " }")
