# SPDX-License-Identifier: GPL-3.0-or-later
"""Running torch ops of our own in the middle of somebody's forward without leaving a trace."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

# Selective checkpointing counts and replays the ops it sees in forward, FLOP counters count them: ours must pass
# beneath every user mode. Both names are private.
_no_dispatch = getattr(torch._C, "_DisableTorchDispatch", nullcontext)
_no_function = getattr(torch._C, "DisableTorchFunction", nullcontext)


def _autocast_is_on(device_type: str) -> bool:
    try:
        return torch.is_autocast_enabled(device_type)
    except TypeError:  # before torch 2.4
        return torch.is_autocast_enabled() or (device_type == "cpu" and torch.is_autocast_cpu_enabled())


def _switch_autocast(device_type: str, is_on: bool) -> None:
    try:
        torch.set_autocast_enabled(device_type, is_on)
    except TypeError:  # before torch 2.4
        (torch.set_autocast_cpu_enabled if device_type == "cpu" else torch.set_autocast_enabled)(is_on)


class quiet:  # noqa: N801 - read as a word: with quiet(device)
    """Ops in here build no graph, are seen by no dispatch or function mode and are not cast by autocast. Hooks come by
    here for single tensors, so it switches by hand what takes torch's own contexts four times as long."""

    __slots__ = ("_device_type", "_is_cast", "_has_grad", "_function", "_dispatch")

    def __init__(self, device: torch.device) -> None:
        self._device_type = device.type

    def __enter__(self) -> None:
        self._function: AbstractContextManager[Any] = _no_function()
        self._function.__enter__()
        self._dispatch: AbstractContextManager[Any] = _no_dispatch()
        self._dispatch.__enter__()
        self._has_grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)
        self._is_cast = _autocast_is_on(self._device_type)
        if self._is_cast:
            _switch_autocast(self._device_type, False)

    def __exit__(self, *_raised: Any) -> None:
        if self._is_cast:
            _switch_autocast(self._device_type, True)
        torch._C._set_grad_enabled(self._has_grad)
        self._dispatch.__exit__(None, None, None)
        self._function.__exit__(None, None, None)


def plain(tensor: Any) -> torch.Tensor | None:
    """The dense local tensor behind a tensor whose values can be read here and now, without a graph; None for fake,
    meta, nested, sparse, quantised and functorch tensors. A DTensor gives this rank's part."""
    tensor = getattr(tensor, "_local_tensor", tensor)
    if not isinstance(tensor, torch.Tensor) or tensor.is_meta or tensor.is_nested or tensor.is_quantized:
        return None
    if tensor.layout != torch.strided or type(tensor).__name__ in ("FakeTensor", "FunctionalTensor"):
        return None
    functorch = getattr(torch._C, "_functorch", None)
    if functorch is not None and functorch.is_functorch_wrapped_tensor(tensor):
        return None
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
        return None
    with _no_function():
        return tensor.detach()
