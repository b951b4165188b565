# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import torch

from ..agent import engine
from ..agent.sources import Source
from ..config import MonitorConfig
from ..devicecopies import worker
from ..measure import Measurer
from .compiled import is_compiled_in_place
from .framework import PyTorch
from .stephooks import RootHook, hook_steps
from .unreduced import TorchGradients

_STEPS_TO_COMPILE = 3  # people compile before they train, at most after a step to warm up


class Engine(engine.Engine):
    """What of the engine is torch's."""

    framework = PyTorch()
    hook_steps = staticmethod(hook_steps)

    def __init__(self, config: MonitorConfig, measurer: Measurer, rank: int) -> None:
        super().__init__(config, measurer, rank)
        self.dispatcher.make_worker = worker
        self._compiled = 0

    def make_gradients(self, sources: list[Source]) -> TorchGradients:
        return TorchGradients(self, sources)

    def hook_forward(self) -> Any:
        for root in self.roots[:1]:
            if isinstance(root, torch.nn.ModuleDict):  # it only holds several models; the first is called
                root = next(iter(root.values()), root)
            if not is_compiled_in_place(root):
                return root.register_forward_pre_hook(RootHook(self.reference))
        return None

    def look_around(self) -> None:
        """Modules that were compiled after they were given hooks lose them."""
        if self.collected >= _STEPS_TO_COMPILE:
            return
        count = sum(is_compiled_in_place(module) for root in self.roots for module in root.modules())
        if count != self._compiled:
            self._compiled = count
            for part in self.parts:
                if self._is_wanted(part):
                    part.collect(False)
                    part.collect(True)

    def has_skipped(self, optimizer: Any) -> bool:
        """A fused optimizer under a GradScaler steps even on overflow, and leaves the weights as they were."""
        found_inf = getattr(optimizer, "found_inf", None)
        return isinstance(found_inf, torch.Tensor) and found_inf.is_cpu and bool(found_inf)
