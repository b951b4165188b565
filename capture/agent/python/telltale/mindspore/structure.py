# SPDX-License-Identifier: GPL-3.0-or-later
"""The net as JSON: the tree that the dashboard shows."""

from __future__ import annotations

import json
from typing import Any

from ..kinds import DType
from .measure import DTYPES

_WORDS = {
    DType.F32: "float32", DType.F64: "float64", DType.F16: "float16", DType.BF16: "bfloat16", DType.I8: "int8",
    DType.U8: "uint8", DType.I16: "int16", DType.I32: "int32", DType.I64: "int64", DType.BOOL: "bool",
}  # fmt: skip


def structure_json(net: Any) -> str:
    """The module tree in the C++ agent's form (capture/agent/torch/structure.h); a parameter that stood before has
    "shared": its first name."""
    known: dict[int, str] = {}
    own: dict[str, list[tuple[str, Any]]] = {}
    for name, parameter in net.parameters_and_names():
        own.setdefault(name.rpartition(".")[0], []).append((name, parameter))
    return json.dumps(_tree(net, "", (), own, known), ensure_ascii=False, separators=(",", ":"))


def _tree(cell: Any, name: str, above: tuple[int, ...], own: dict[str, Any], known: dict[int, str]) -> dict[str, Any]:
    above += (id(cell),)
    parameters = [_parameter(full, parameter, known) for full, parameter in own.get(name, ())]
    children = [
        _tree(child, f"{name}.{key}" if name else key, above, own, known)
        for key, child in cell.name_cells().items()
        if child is not None and id(child) not in above
    ]
    return {"name": name, "type": type(cell).__name__, "parameters": parameters, "children": children}


def _parameter(name: str, parameter: Any, known: dict[int, str]) -> dict[str, Any]:
    dtype = _WORDS.get(DTYPES.get(parameter.dtype, DType.UNKNOWN), "unknown")
    shape = [int(n) for n in parameter.shape]
    described = {"name": name, "shape": shape, "dtype": dtype, "trainable": bool(parameter.requires_grad)}
    if (first := known.setdefault(id(parameter), name)) != name:
        described["shared"] = first
    return described
