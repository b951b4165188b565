# SPDX-License-Identifier: GPL-3.0-or-later
"""`from telltale.pytorch import PrecisionDebugger`: grad_probe of PyTorch's gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ..agent.hooks import Hook
from ..gradprobe.debugger import Debugger
from ..gradprobe.probe import GradProbe
from ..measure import DTYPES, local, refusal
from ..quiet import quiet
from .compiled import is_recording
from .probedevice import take_on_device
from .stephooks import after_closure


class PrecisionDebugger(Debugger):
    """msprobe's, as far as its grad_probe goes: PrecisionDebugger(config_path).monitor(model), and .stop() at the end.
    There is one in a process, and the methods may be called on the class as well."""

    @staticmethod
    def _framework() -> str:
        return f"torch {torch.__version__}"

    @staticmethod
    def _watch(probe: GradProbe, watched: Any) -> Any:
        return ProbedParameters(probe, watched)


class ProbedParameters:
    """The parameters of what was handed to monitor(), and the hook that reads their gradients. Thread: training."""

    def __init__(self, probe: GradProbe, watched: Any) -> None:
        self._probe = probe
        self._parameters: dict[str, Any] = {}
        self._handle: Any = None
        if self._add(watched):
            hook = ProbeHook(self)
            is_one = isinstance(watched, torch.optim.Optimizer)
            # As msprobe has it: with a model the calls of every optimizer count, which share one number.
            register = watched.register_step_pre_hook if is_one else register_optimizer_step_pre_hook
            self._handle = register(hook)

    def also(self, watched: Any) -> None:
        """Another model's parameters are looked at in the same calls."""
        self._add(watched)

    def close(self) -> None:
        """Takes the hook away."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def _add(self, watched: Any) -> bool:
        named = _named(watched)
        if named is None:
            self._probe.tell(
                f"monitor() takes a torch.nn.Module or a torch.optim.Optimizer, not {type(watched).__name__}; nothing "
                "is watched"
            )
            return False
        known = {id(parameter) for parameter in self._parameters.values()}
        for name, parameter in named:
            if id(parameter) in known:
                continue
            if name in self._parameters:
                self._probe.tell(f"a second parameter is called {name}; only the first one is watched")
            elif self._probe.wants(name):
                self._parameters[name] = parameter
        for name in self._probe.config.param_list:
            if name not in self._parameters:
                self._probe.tell(f"param_list: there is no parameter {name}")
        return bool(self._parameters)

    def begin(self) -> bool:
        """An optimizer is called; whether its gradients are wanted."""
        return self._probe.begin_step()

    def read(self) -> None:
        """The gradients that an optimizer is about to consume. Never raises."""
        self._probe.read(self._parameters.items(), self._take)

    def _take(self, name: str, parameter: Any) -> None:
        gradient = getattr(parameter, "main_grad", None)
        gradient = local(parameter.grad if gradient is None else gradient)
        if gradient is None:
            return
        why = refusal(gradient) or ("it is sparse" if gradient.layout is not torch.strided else "")
        if why:
            self._probe.tell(f"the gradient of {name} is not written: {why}")
            return
        with quiet(gradient.device):
            flat = gradient.detach().resolve_neg().contiguous().reshape(-1)
            if not flat.is_cpu:
                if why := take_on_device(self._probe, name, tuple(gradient.shape), flat):
                    self._probe.tell(f"the gradient of {name} is not written: {why}")
                return
            dtype = DTYPES[flat.dtype]
            if flat.dtype is torch.bfloat16:
                values = flat.view(torch.int16).numpy().view(np.uint16)
            else:
                values = flat.numpy()
        self._probe.take(name, tuple(gradient.shape), values, dtype)


class ProbeHook(Hook):
    """Step pre-hook of one optimizer, or of all."""

    __slots__ = ("_probed",)

    def __init__(self, probed: ProbedParameters) -> None:
        self._probed = probed

    def __call__(self, _optimizer: Any, args: Any, kwargs: Any) -> Any:
        if is_recording() or not self._probed.begin():
            return None
        changed = after_closure(args, kwargs, self._probed.read)
        if changed is None:
            self._probed.read()
        return changed


def _named(watched: Any) -> list[tuple[str, Any]] | None:
    if isinstance(watched, torch.nn.Module):
        return list(watched.named_parameters())
    if isinstance(watched, torch.optim.Optimizer):
        return [
            pair
            for number, group in enumerate(watched.param_groups)
            for pair in zip(group.get("param_names") or _numbered(number, len(group["params"])), group["params"])
        ]
    return None


def _numbered(group: int, count: int) -> list[str]:
    return [f"group{group}.param{i}" for i in range(count)]
