# SPDX-License-Identifier: GPL-3.0-or-later
"""A small training under a TrainerMon that records in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale.pytorch import TrainerMon


def model_of() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


class Run:
    """A small training with a recording sink."""

    def __init__(
        self,
        config: dict[str, Any],
        micros: int = 1,
        model: nn.Module | None = None,
        agent: dict[str, Any] | None = None,
    ) -> None:
        """agent: fields of tt_options, for the sinks that the config names in place of the recording one."""
        self.model = model if model is not None else model_of()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.sink = RecordingSink()
        self.monitor = TrainerMon(config, sinks=None if agent else [self.sink], agent=agent)
        self.monitor.set_monitor(self.model, optimizer=self.optimizer, grad_acc_steps=micros)
        self.micros = micros
        self.gradients: list[list[np.ndarray]] = []  # [step][micro] of the first parameter, cumulative
        self.data = torch.Generator().manual_seed(1)

    def step(self, before_step: Any = None) -> None:
        self.optimizer.zero_grad()
        seen = []
        for _ in range(self.micros):
            self.model(torch.randn(5, 4, generator=self.data)).square().sum().backward()
            seen.append(next(self.model.parameters()).grad.detach().double().numpy().copy())
        self.gradients.append(seen)
        if before_step:
            before_step()
        self.optimizer.step()
