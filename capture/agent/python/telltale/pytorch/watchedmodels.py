# SPDX-License-Identifier: GPL-3.0-or-later
"""The models that set_monitor() is given: one, its pipeline chunks, or several by name."""

from __future__ import annotations

from typing import Any

import torch


class NamedModels(torch.nn.ModuleDict):
    """Several models that train together, each under its name. Nobody calls it: a step's micro steps are counted by the
    first of them."""

    def __init__(self, models: dict[Any, Any]) -> None:
        super().__init__()
        for name, model in models.items():
            if not isinstance(name, str) or not name or "." in name:
                raise TypeError(f"a model's name is text without dots, not {name!r}")
            self.add_module(name, _module_of(model))


def chunks_of(model: Any) -> list[torch.nn.Module]:
    """The modules to walk; `model` is none by name."""
    return [_module_of(chunk) for chunk in (model if isinstance(model, (list, tuple)) else [model])]


def _module_of(thing: Any) -> torch.nn.Module:
    """The module to walk: a DeepSpeed engine and the like are modules themselves."""
    if isinstance(thing, torch.nn.Module):
        return thing
    for name in ("module", "model"):
        inner = getattr(thing, name, None)
        if isinstance(inner, torch.nn.Module):
            return inner
    raise TypeError(f"set_monitor needs a torch.nn.Module or a list of them, not {type(thing).__name__}")
