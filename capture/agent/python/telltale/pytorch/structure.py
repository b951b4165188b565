# SPDX-License-Identifier: GPL-3.0-or-later
"""The model as JSON: the tree that the dashboard shows."""

from __future__ import annotations

import json
from typing import Any

import torch

from ..names import bare_name

# The words of model/core (dtypeName), for what the wire has no word for: "unknown".
_DTYPE_WORDS = {
    dtype: str(dtype).removeprefix("torch.")
    for dtype in (
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int8,
        torch.uint8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.bool,
    )
}


def structure_json(model: torch.nn.Module) -> str:
    """The module tree in the C++ agent's form (capture/agent/torch/structure.h): {"name": dotted name ("" = the root),
    "type", "parameters": [{"name", "shape", "dtype", "trainable", "device"}], "children": [the same again]}, children
    in registration order. A parameter that stood before has "shared": its first name. A module that contains itself
    ends there."""
    return json.dumps(_tree(model, "", (), {}), ensure_ascii=False, separators=(",", ":"))


def _tree(module: torch.nn.Module, name: str, above: tuple[int, ...], known: dict[int, str]) -> dict[str, Any]:
    prefix = name + "." if name else ""
    node: dict[str, Any] = {"name": bare_name(name), "type": type(module).__name__, "parameters": [], "children": []}
    for key, parameter in module._parameters.items():
        if parameter is not None:
            node["parameters"].append(_parameter(bare_name(prefix + key), parameter, known))
    above += (id(module),)
    for key, child in module._modules.items():
        if child is None or id(child) in above:
            continue
        below = _tree(child, prefix + key, above, known)
        if bare_name(prefix + key) == bare_name(name):  # the module that a wrapper wraps stands in its place
            node["type"] = below["type"]
            node["parameters"] += below["parameters"]
            node["children"] += below["children"]
        else:
            node["children"].append(below)
    return node


def _parameter(name: str, parameter: torch.nn.Parameter, known: dict[int, str]) -> dict[str, Any]:
    shape = getattr(parameter, "ds_shape", None)  # DeepSpeed's stage 3 leaves parameters empty
    if shape is None:
        is_lazy = isinstance(parameter, torch.nn.parameter.UninitializedParameter)
        shape = () if is_lazy else parameter.shape
    dtype = _DTYPE_WORDS.get(parameter.dtype, "unknown")
    described = {"name": name, "shape": [int(n) for n in shape], "dtype": dtype, "trainable": parameter.requires_grad}
    described["device"] = str(parameter.device)
    if (first := known.setdefault(id(parameter), name)) != name:
        described["shared"] = first
    return described
