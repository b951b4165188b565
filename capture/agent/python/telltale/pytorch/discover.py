# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds parameters, modules and inner optimizers in what the user hands over."""

from __future__ import annotations

from typing import Any

import torch

from ..agent.sources import Discovery
from ..agent.targets import TargetSet
from .frameworks import ADAPTERS, Adapter, Context
from .frameworks.megatron import MegatronAdapter
from .optimizers import inner_optimizers, optimizer_chain, owner_of


def discover(
    chunks: list[torch.nn.Module], optimizer: Any, targets: TargetSet, per_micro_step: bool = False
) -> Discovery:
    """Every selected parameter, in the model's order, with the optimizer that steps it. Decided by the objects in use,
    never by what is installed."""
    handed_over = [optimizer] + [
        chunk.optimizer for chunk in chunks if hasattr(chunk, "zero_optimization_stage") and hasattr(chunk, "optimizer")
    ]
    chain = optimizer_chain([entry for entry in handed_over if entry is not None])
    optimizers = inner_optimizers(chain)
    found = Discovery(optimizers=optimizers)
    places = {
        id(parameter): (module, key)
        for chunk in chunks
        for module in chunk.modules()
        for key, parameter in reversed(module._parameters.items())
        if parameter is not None
    }
    context = Context(chunks, chain, owner_of(optimizers), places, found)
    adapters = [adapter for adapter in (kind(context) for kind in ADAPTERS) if adapter.is_in_use]
    found.framework = adapters[0].framework
    for number, chunk in enumerate(chunks):
        for name, parameter in chunk.named_parameters():
            for source in _sources(adapters, name, parameter, number):
                if targets.selects(source.name, number):
                    found.sources.append(source)
    for adapter in adapters:
        adapter.finish()
        if per_micro_step and isinstance(adapter, MegatronAdapter):
            adapter.use_micro_steps(found)
    return found


def _sources(adapters: list[Adapter], name: str, parameter: Any, chunk: int) -> list[Any]:
    for adapter in adapters:
        known = adapter.sources(name, parameter, chunk)
        if known is not None:
            return known
    return []
