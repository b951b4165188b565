# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's module_struct.json: what went through each module."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .framework import Framework
from .hooks import Hook
from .recorder import Recorder, Report


def module_keys(framework: Framework, chunks: Iterable[Any]) -> list[tuple[str, Any]]:
    """("0:blocks.0", module) of every module of every chunk, the root as "0:"."""
    return [(f"{vpp}:{name}", module) for vpp, chunk in enumerate(chunks) for name, module in framework.modules(chunk)]


def describe(kind: Any, value: Any) -> dict[str, str]:
    """msprobe's description of what a module was given or gave: {"config": "list[1]", "0": "size=(8, 64),
    dtype=torch.float32"}; {"config": "tensor", "tensor": ...}; of anything else the type alone."""
    if isinstance(value, (tuple, list)):
        described = {"config": f"{type(value).__name__}[{len(value)}]"}
        for i, entry in enumerate(value):
            described[str(i)] = _words(kind, entry)
        return described
    if isinstance(value, kind):
        return {"config": "tensor", "tensor": _words(kind, value)}
    return {"config": f"{type(value)}"}


def _words(kind: Any, value: Any) -> str:
    if isinstance(value, kind):
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
        if self._recorder.framework.is_recording() or not output or not self._recorder.framework.is_training(module):
            return None
        try:
            self._seen(args, kwargs, output[0])
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self._recorder.failed(error)
        return None

    def _seen(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        framework = self._recorder.framework
        kind = framework.tensor
        entry = self._recorder.entries.get(self._key)
        if entry is None:
            if framework.backward_pass() != -1:
                return
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, kind)]
            entry = {"input": describe(kind, tensors), "output": describe(kind, output)}
            self._recorder.entries[self._key] = entry
        if self._has_gradients or not framework.has_gradients():
            return  # reentrant checkpointing: gradients belong to the second forward
        outputs = output if isinstance(output, tuple) else (output,)
        if not any(isinstance(value, kind) and framework.needs_gradient(value) for value in outputs):
            return
        self._has_gradients = True
        self._listen("input_grad", args)
        self._listen("output_grad", outputs)

    def _listen(self, side: str, values: tuple[Any, ...]) -> None:
        framework = self._recorder.framework
        for i, value in enumerate(values):
            if isinstance(value, framework.tensor) and framework.needs_gradient(value):
                handle = framework.on_gradient(value, _GradientHook(self._recorder, self._key, side, i))
                if framework.is_leaf(value):  # outlives the step, its hook must not
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
        kind = self._recorder.framework.tensor
        if isinstance(gradient, kind):
            self._recorder.arrived.setdefault((self._key, self._side, self._index), _words(kind, gradient))
        return None


class StructRecorder(Recorder):
    """Records one forward and backward of every given module for module_struct.json, by forward hooks and tensor hooks
    alone. Gradients are of the tensors as a whole (same shape and type as the module's share)."""

    def __init__(
        self, framework: Framework, modules: Iterable[tuple[str, Any]], report: Report | None = None
    ) -> None:
        """modules: module_keys()."""
        super().__init__(modules, report)
        self.framework = framework
        self.leaf_handles: list[Any] = []
        self.entries: dict[str, dict[str, Any]] = {}  # in the order in which forwards ended
        self.sides: dict[tuple[str, str], int] = {}  # (key, side) -> number of values
        self.arrived: dict[tuple[str, str, int], str] = {}

    def _hook(self, key: str, module: Any) -> Any:
        return self.framework.after_forward(module, _Struct(self, key), True)

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
