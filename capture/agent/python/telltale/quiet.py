# SPDX-License-Identifier: GPL-3.0-or-later
"""Running torch ops of our own in the middle of somebody's forward without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
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


@contextmanager
def quiet(device: torch.device) -> Iterator[None]:
    """Ops in here build no graph, are seen by no dispatch or function mode and are not cast by autocast."""
    off = torch.autocast(device.type, enabled=False) if _autocast_is_on(device.type) else nullcontext()
    with torch.no_grad(), off, _no_function(), _no_dispatch():
        yield


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
