# SPDX-License-Identifier: GPL-3.0-or-later
"""The torch optimizers inside whatever wraps them, and the wrappers on the way: Accelerate, DeepSpeed, Megatron,
Lightning, lists of several."""

from __future__ import annotations

from typing import Any

import torch

_MOST_DEEP = 6


def optimizer_chain(thing: Any) -> list[Any]:
    """Every object from `thing` down to the torch optimizers, outer first, each once."""
    found: list[Any] = []
    _walk(thing, found, 0)
    return found


def _walk(thing: Any, found: list[Any], depth: int) -> None:
    if thing is None or depth > _MOST_DEEP or any(thing is entry for entry in found):
        return
    if isinstance(thing, (list, tuple)):
        for entry in thing:
            _walk(entry, found, depth + 1)
        return
    found.append(thing)
    chained = getattr(thing, "chained_optimizers", None)
    if isinstance(chained, (list, tuple)) and chained:
        _walk(chained, found, depth + 1)
        return
    for name in ("optimizer", "_optimizer"):
        inner = getattr(thing, name, None)
        if inner is not None and inner is not thing and hasattr(inner, "param_groups"):
            _walk(inner, found, depth + 1)
            return


def inner_optimizers(thing: Any) -> list[torch.optim.Optimizer]:
    """The torch optimizers that really step: those that wrap no other one."""
    chain = optimizer_chain(thing)
    return [
        entry
        for entry in chain
        if isinstance(entry, torch.optim.Optimizer)
        and hasattr(entry, "_optimizer_step_pre_hooks")
        and not any(getattr(entry, name, None) in chain for name in ("optimizer", "_optimizer"))
    ]


def owner_of(optimizers: list[torch.optim.Optimizer]) -> dict[int, torch.optim.Optimizer]:
    """id(parameter) -> the optimizer that steps it."""
    return {id(p): opt for opt in optimizers for group in opt.param_groups for p in group["params"]}
