# SPDX-License-Identifier: GPL-3.0-or-later
"""The model as JSON: the tree that the dashboard shows, and msprobe's module_struct.json with what went through."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import torch

from ..agent.hooks import Hook
from ..agent.recorder import Recorder, Report
from ..names import bare_name
from .compiled import is_recompute, is_recording

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


def module_keys(chunks: Iterable[torch.nn.Module]) -> list[tuple[str, torch.nn.Module]]:
    """("0:blocks.0", module) of every module of every chunk, the root as "0:"."""
    return [(f"{vpp}:{name}", module) for vpp, chunk in enumerate(chunks) for name, module in chunk.named_modules()]


def describe(value: Any) -> dict[str, str]:
    """msprobe's description of what a module was given or gave: {"config": "list[1]", "0": "size=(8, 64),
    dtype=torch.float32"}; {"config": "tensor", "tensor": ...}; of anything else the type alone."""
    if isinstance(value, (tuple, list)):
        described = {"config": f"{type(value).__name__}[{len(value)}]"}
        for i, entry in enumerate(value):
            described[str(i)] = _words(entry)
        return described
    if isinstance(value, torch.Tensor):
        return {"config": "tensor", "tensor": _words(value)}
    return {"config": f"{type(value)}"}


def _words(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"size={tuple(value.shape)}, dtype={value.dtype}"
    return f"{type(value)}"


class _Struct(Hook):
    """Forward hook of one module: describes its first call and asks the tensors of it to say when gradients come."""

    __slots__ = ("_recorder", "_key", "_has_gradients")

    def __init__(self, recorder: StructRecorder, key: str) -> None:
        self._recorder = recorder
        self._key = key
        self._has_gradients = False

    def __call__(self, module: Any, args: Any, kwargs: Any, *output: Any) -> None:
        if is_recording() or not output or not module.training:
            return None
        try:
            self._seen(args, kwargs, output[0])
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self._recorder.failed(error)
        return None

    def _seen(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        entry = self._recorder.entries.get(self._key)
        if entry is None:
            if is_recompute():
                return
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
            entry = {"input": describe(tensors), "output": describe(output)}
            self._recorder.entries[self._key] = entry
        if self._has_gradients or not torch.is_grad_enabled():
            return  # reentrant checkpointing: gradients belong to the second forward
        outputs = output if isinstance(output, tuple) else (output,)
        if not any(isinstance(value, torch.Tensor) and value.requires_grad for value in outputs):
            return
        self._has_gradients = True
        self._listen("input_grad", args)
        self._listen("output_grad", outputs)

    def _listen(self, side: str, values: tuple[Any, ...]) -> None:
        for i, value in enumerate(values):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                handle = value.register_hook(_GradientHook(self._recorder, self._key, side, i))
                if value.is_leaf:  # outlives the step, its hook must not
                    self._recorder.leaf_handles.append(handle)
        self._recorder.sides[self._key, side] = len(values)


class _GradientHook(Hook):
    """Tensor hook: notes shape and type of the gradient, keeps nothing of it."""

    __slots__ = ("_recorder", "_key", "_side", "_index")

    def __init__(self, recorder: StructRecorder, key: str, side: str, index: int) -> None:
        self._recorder = recorder
        self._key = key
        self._side = side
        self._index = index

    def __call__(self, gradient: Any) -> None:
        if isinstance(gradient, torch.Tensor):
            self._recorder.arrived.setdefault((self._key, self._side, self._index), _words(gradient))
        return None


class StructRecorder(Recorder):
    """Records one forward and backward of every given module for module_struct.json, by forward hooks and tensor hooks
    alone. Gradients are of the tensors as a whole (same shape and type as the module's share)."""

    def __init__(self, modules: Iterable[tuple[str, torch.nn.Module]], report: Report | None = None) -> None:
        """modules: module_keys()."""
        super().__init__(modules, report)
        self.leaf_handles: list[Any] = []
        self.entries: dict[str, dict[str, Any]] = {}  # in the order in which forwards ended
        self.sides: dict[tuple[str, str], int] = {}  # (key, side) -> number of values
        self.arrived: dict[tuple[str, str, int], str] = {}

    def _hook(self, key: str, module: torch.nn.Module) -> Any:
        return module.register_forward_hook(_Struct(self, key), with_kwargs=True)

    def remove(self) -> None:
        super().remove()
        for handle in self.leaf_handles:
            handle.remove()
        self.leaf_handles = []

    def failed(self, error: BaseException) -> None:
        """Reports an internal error."""
        if self._report is not None:
            self._report("the module structure", error)

    def to_json(self) -> str:
        """The text of module_struct.json. A module whose outputs got no gradient has no input_grad and output_grad."""
        struct = {}
        for key, entry in self.entries.items():
            struct[key] = dict(entry)
            outputs = self.sides.get((key, "output_grad"), 0)
            if any((key, "output_grad", i) in self.arrived for i in range(outputs)):
                struct[key] |= {side: self._gradients(key, side) for side in ("input_grad", "output_grad")}
        return json.dumps(struct, indent=2)

    def _gradients(self, key: str, side: str) -> dict[str, str]:
        count = self.sides[key, side]
        nothing = f"{type(None)}"
        described = {"config": f"tuple[{count}]"}
        return described | {str(i): self.arrived.get((key, side, i), nothing) for i in range(count)}
