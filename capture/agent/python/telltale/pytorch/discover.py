# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds parameters, modules and inner optimizers in what the user hands over."""

from __future__ import annotations

from typing import Any

import torch

from .sources import Discovery, ParameterSource, inner_optimizers, owner_of
from .targets import TargetSet


def discover(chunks: list[torch.nn.Module], optimizer: Any, targets: TargetSet) -> Discovery:
    """Every selected parameter, in the model's order, with the optimizer that steps it. Decided by the objects in use,
    never by what is installed."""
    optimizers = inner_optimizers(optimizer)
    owners = owner_of(optimizers)
    found = Discovery(optimizers=optimizers)
    for chunk, model in enumerate(chunks):
        for name, parameter in model.named_parameters():
            if targets.selects(name, chunk):
                found.sources.append(ParameterSource(name, parameter, owners.get(id(parameter)), chunk))
    return found
