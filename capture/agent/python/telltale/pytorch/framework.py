# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Callable

import torch

from ..agent.framework import Framework, Rate
from ..devicestats import stream_of
from ..kinds import DType
from ..measure import DTYPES, local
from ..quiet import plain, quiet
from .compiled import backward_pass, compiled_inside, is_recording
from .graph import GRAPH
from .scaler import unscales_itself


class PyTorch(Framework):
    an_optimizer = "a torch optimizer"
    tensor = torch.Tensor
    graph = GRAPH
    folder = os.path.dirname(torch.__file__) + os.sep
    needs_gradient = staticmethod(attrgetter("requires_grad"))

    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.named_modules()

    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.named_parameters()

    def number(self, value: Any, waits: bool = False) -> float | None:
        return float(value.detach()) if value.numel() == 1 and value.is_cpu else None

    def on_device(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.numel() != 1 or value.is_cpu or plain(value) is None:
            return None
        wide = torch.float32 if value.device.type == "mps" else torch.float64
        with quiet(value.device):
            return value.detach().reshape(1).to(wide, copy=True)  # what it is now

    def rates(self, optimizer: Any) -> list[float | Rate | None]:
        return [_rate(group.get("lr")) for group in optimizer.param_groups]

    def has_gradients(self) -> bool:
        return torch.is_grad_enabled()

    def backward_pass(self) -> int:
        return int(backward_pass())

    def is_recording(self) -> bool:
        return is_recording()

    def unhookable(self, roots: list[Any]) -> set[int]:
        return compiled_inside(roots)

    def is_called(self, module: Any) -> bool:
        # ModuleList and the like: nobody calls them.
        return (
            type(module).__name__ != "FullyShardedDataParallel"
            and type(module).forward is not torch.nn.Module.forward
        )

    def wrapped(self, module: Any) -> Any:
        return getattr(module, "module", None) if type(module).__name__ == "DistributedDataParallel" else None

    def described(self, tensor: Any) -> dict[str, Any]:
        dtype = DTYPES.get(tensor.dtype, DType.UNKNOWN)
        return {
            "shape": tuple(tensor.shape),
            "dtype": dtype,
            "numel": tensor.numel(),
            "torch_dtype": str(tensor.dtype),
        }

    def before_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        return module.register_forward_pre_hook(hook, with_kwargs=with_kwargs)

    def after_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        return module.register_forward_hook(hook, with_kwargs=with_kwargs)

    def on_gradient(self, tensor: Any, hook: Callable[[Any], None]) -> Any:
        return tensor.register_hook(hook)

    def is_leaf(self, tensor: Any) -> bool:
        return bool(tensor.is_leaf)

    def local(self, tensor: Any) -> Any:
        return local(tensor)

    def stream_of(self, tensor: Any) -> Any:
        return stream_of(tensor.get_device()) if tensor.is_cuda else None

    def added(self, total: Any, tensor: Any) -> Any:
        with quiet(tensor.device):
            return tensor.detach().clone() if total is None else total.add_(tensor.detach())

    def unscales_itself(self, optimizer: Any) -> bool:
        return unscales_itself(optimizer)


def _rate(rate: Any) -> float | None:
    return None if rate is None or (isinstance(rate, torch.Tensor) and not rate.is_cpu) else float(rate)
