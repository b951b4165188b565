# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ..agent.framework import Framework
from ..quiet import plain, quiet
from .compiled import backward_pass
from .scaler import unscales_itself


class PyTorch(Framework):
    an_optimizer = "a torch optimizer"

    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.named_modules()

    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.named_parameters()

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor)

    def number(self, value: Any) -> float | None:
        return float(value.detach()) if value.numel() == 1 and value.is_cpu else None

    def on_device(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.numel() != 1 or value.is_cpu or plain(value) is None:
            return None
        wide = torch.float32 if value.device.type == "mps" else torch.float64
        with quiet(value.device):
            return value.detach().reshape(1).to(wide, copy=True)  # what it is now

    def rates(self, optimizer: Any) -> list[float | None]:
        return [_rate(group.get("lr")) for group in optimizer.param_groups]

    def has_gradients(self) -> bool:
        return torch.is_grad_enabled()

    def backward_pass(self) -> int:
        return int(backward_pass())

    def unscales_itself(self, optimizer: Any) -> bool:
        return unscales_itself(optimizer)


def _rate(rate: Any) -> float | None:
    return None if rate is None or (isinstance(rate, torch.Tensor) and not rate.is_cpu) else float(rate)
