# SPDX-License-Identifier: GPL-3.0-or-later
"""`from telltale.mindspore import PrecisionDebugger`: grad_probe of MindSpore's gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..gradprobe.debugger import Debugger
from ..gradprobe.probe import GradProbe
from ..kinds import DType

_TYPES = {
    np.dtype(np.float32): DType.F32,
    np.dtype(np.float64): DType.F64,
    np.dtype(np.float16): DType.F16,
}


class PrecisionDebugger(Debugger):
    """msprobe's, as far as its grad_probe goes: PrecisionDebugger(config_path).monitor(optimizer), and .stop() at the
    end. There is one in a process, and the methods may be called on the class as well."""

    @staticmethod
    def _framework() -> str:
        import mindspore as ms

        return f"mindspore {ms.__version__}"

    @staticmethod
    def _watch(probe: GradProbe, watched: Any) -> Any:
        return ProbedOptimizers(probe, watched)


class ProbedOptimizers:
    """The optimizers that were handed to monitor(), each with a hook. Thread: training."""

    def __init__(self, probe: GradProbe, watched: Any) -> None:
        self._probe = probe
        self._handles: list[Any] = []
        self.also(watched)

    def also(self, watched: Any) -> None:
        """The calls of one more optimizer count, and its parameters are looked at in them."""
        import mindspore as ms

        if ms.get_context("mode") == ms.GRAPH_MODE:
            self._probe.tell("in GRAPH mode no gradient can be read; nothing is watched (ms.PYNATIVE_MODE can be)")
        elif not hasattr(watched, "parameters") or not hasattr(watched, "register_forward_pre_hook"):
            self._probe.tell(
                f"MindSpore's monitor() takes the optimizer, not {type(watched).__name__}; nothing is watched"
            )
        else:
            self._handles.append(watched.register_forward_pre_hook(OptimizerHook(self._probe)))
            names = {parameter.name for parameter in watched.parameters}
            for name in self._probe.config.param_list:
                if name not in names:
                    self._probe.tell(f"param_list: there is no parameter {name}")

    def close(self) -> None:
        """Takes the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()


class OptimizerHook:
    """Before an optimizer, which is a Cell, runs with the gradients of its parameters. An object and no function: that
    is left out where the optimizer is compiled."""

    def __init__(self, probe: GradProbe) -> None:
        self._probe = probe

    def __call__(self, optimizer: Any, inputs: Any) -> None:
        try:
            if self._probe.begin_step():
                pairs = zip(optimizer.parameters, inputs[0])
                self._probe.read(((p.name, g) for p, g in pairs if self._probe.wants(p.name)), self._take)
        except BaseException as error:  # noqa: BLE001 - MindSpore would raise it at every later step
            self._probe.tell(f"internal error: {type(error).__name__}: {error}")

    def _take(self, name: str, gradient: Any) -> None:
        if gradient is None:
            return
        values = np.ascontiguousarray(gradient.asnumpy()).reshape(-1)  # the tensor's own memory
        if values.dtype.name == "bfloat16":
            self._probe.take(name, tuple(gradient.shape), values.view(np.uint16), DType.BF16)
        elif values.dtype in _TYPES:
            self._probe.take(name, tuple(gradient.shape), values, _TYPES[values.dtype])
        else:
            why = f"its element type {values.dtype} has no statistics"
            self._probe.tell(f"the gradient of {name} is not written: {why}")
