# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain PyTorch, DDP, and everything that keeps whole parameters in the modules."""

from __future__ import annotations

from typing import Any

import torch

from ..sources import ParameterSource
from .base import Adapter, Context

SPARSE = "stored rows of a sparse gradient"


class PlainAdapter(Adapter):
    """Has what nobody else knows."""

    framework = "plain"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        if any(isinstance(chunk, torch.nn.parallel.DistributedDataParallel) for chunk in context.chunks):
            self.framework = "ddp"
        if any(type(chunk) is torch.nn.DataParallel for chunk in context.chunks):
            context.note(
                "DataParallel is not supported: on more than one GPU its replicas' activations and unreduced gradients "
                "are not observed; reduced gradients, parameters and moments are"
            )

    @property
    def is_in_use(self) -> bool:
        return True

    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        context = self.context
        source = ParameterSource(name, parameter, context.owners.get(id(parameter)), chunk)
        source.place = context.place(parameter)
        if source.place is not None and getattr(source.place[0](), "sparse", False) is True:
            source.gradient_definition = SPARSE
        return [source]
