# SPDX-License-Identifier: GPL-3.0-or-later
"""Run metrics that the user asks for by telltale.throughput(), local_loss(), expert_load(), loss_scale() and
local_norm(): those that MindSpore Transformers' monitors have, under the same names."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from ..agent.metrics import Finish, norm_of
from ..kinds import Form, Kind
from ..quiet import plain, quiet
from ..rates import Rates
from ..series import PRESENT, Frame, SeriesTable

LOCAL_NORM = "device_local_norm"


class JobMetrics:
    """What is added to each step as it ends. Nothing here waits for a device. Thread: training."""

    def __init__(self) -> None:
        self._rates: Rates | None = None
        self._tokens = 0.0  # of a sample
        self._samples_seen = 0.0
        self._last_end = 0.0
        self._loss: torch.Tensor | None = None
        self._losses = 0
        self._experts: dict[str, torch.Tensor] = {}
        self._scaler: Any = None
        self.wants_local_norm = False

    def throughput(self, rates: Rates, tokens_per_sample: float, samples_seen: float | None) -> None:
        self._rates, self._tokens = rates, tokens_per_sample
        if samples_seen is not None:
            self._samples_seen = samples_seen

    def loss_scale(self, scaler: Any) -> None:
        self._scaler = scaler

    def add_loss(self, loss: Any) -> str:
        """One micro batch's; why it is left out, "" when it is not."""
        value = plain(loss) if isinstance(loss, torch.Tensor) else torch.tensor(float(loss))
        if value is None or value.numel() != 1:
            return "local_loss() takes the loss of a micro batch, one number; what is none is left out"
        with quiet(value.device):
            value = value.reshape(()).double() if value.device.type != "mps" else value.reshape(()).float()
            self._loss = value.clone() if self._loss is None else self._loss + value.to(self._loss.device)
        self._losses += 1
        return ""

    def add_experts(self, layer: str, tokens: Any) -> str:
        """Tokens that each expert of a layer got in one micro batch; why they are left out, "" when they are not."""
        found = tokens if isinstance(tokens, torch.Tensor) else torch.as_tensor(np.asarray(tokens, np.float64))
        value = plain(found)
        if value is None or value.dim() != 1 or not value.numel():
            return "expert_load() takes the tokens of each expert, a list or a tensor of one dimension"
        with quiet(value.device):
            counts = value.float()
            known = self._experts.get(layer)
            same = known is not None and known.shape == counts.shape
            self._experts[layer] = known + counts if known is not None and same else counts.clone()
        return ""

    def step_ends(self) -> dict[str, Any]:
        """The metrics of the step that ends; numbers, and tensors where they are still on a device."""
        now = time.monotonic()
        before, self._last_end = self._last_end, now
        found: dict[str, Any] = {}
        if self._rates is not None:
            if before:
                found |= self._rates.of(now - before)
            if self._rates.samples_per_step > 0:
                found["batch-size"] = self._rates.samples_per_step
                self._samples_seen += self._rates.samples_per_step
                found["telltale.samples_seen"] = self._samples_seen
                if self._tokens > 0:
                    found["telltale.tokens_seen"] = self._samples_seen * self._tokens
        if self._loss is not None:
            with quiet(self._loss.device):
                found["local_loss"] = self._loss / self._losses
            found["device_accum_local_loss"] = self._loss
            self._loss, self._losses = None, 0
        experts, self._experts = self._experts, {}
        for layer, counts in experts.items():
            with quiet(counts.device):
                shares = counts / counts.sum()
            found |= {f"expert_load/{layer}/ep_{i}": share for i, share in enumerate(shares.unbind())}
        if self._scaler is not None:
            # The scale of this step: scaler.update() comes after it.
            scale = getattr(self._scaler, "_scale", None)
            found["loss-scale"] = scale if isinstance(scale, torch.Tensor) else float(self._scaler.get_scale())
        return found


def local_norm_of(table: SeriesTable | None, is_elsewhere: bool) -> tuple[float | None, Finish | None]:
    """The norm of all gradients of this rank before reduction, or, where they are measured on a device, what adds it to
    the step's frame. (None, None) where they are not there as the sum over the micro steps."""
    if table is None or not len(table) or any(desc.form & Form.MICRO for desc in table.series):
        return None, None
    if is_elsewhere:
        return None, _add_to
    rows = _whole_rows(table.series, np.flatnonzero(table.results["flags"][: len(table)] & PRESENT))
    return norm_of(table.results[rows]) if rows.size else None, None


def _add_to(frame: Frame) -> None:
    shots = [shot for shot in frame.tables if shot.kind is Kind.GRAD_UNREDUCED and not shot.stats]
    for shot in shots:
        frame.scalars[LOCAL_NORM] = norm_of(shot.values[_whole_rows(shot.series, np.arange(len(shot.series)))])


def _whole_rows(series: list[Any], rows: np.ndarray) -> np.ndarray:
    """Of each parameter the last micro step's row, which holds what has been accumulated."""
    last: dict[tuple[int, str], int] = {}
    for position in rows.tolist():
        desc = series[position]
        key = desc.vpp_stage, desc.name
        if key not in last or series[last[key]].micro_step <= desc.micro_step:
            last[key] = position
    return np.array(list(last.values()), np.int64)

