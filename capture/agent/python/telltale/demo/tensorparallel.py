# SPDX-License-Identifier: GPL-3.0-or-later
"""Tensor parallelism by hand: the MLPs' matrices are cut over the ranks, everything else every rank has and computes.
The pieces are DTensors, which say of what they are pieces; the arithmetic is on local tensors."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from .model import Mlp


def _summed(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    dist.all_reduce(x)
    return x


class _Enter(torch.autograd.Function):
    """Every rank uses x: its gradient is the sum of theirs."""

    @staticmethod
    def forward(_context: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(_context: Any, gradient: torch.Tensor) -> torch.Tensor:
        return _summed(gradient)


class _Leave(torch.autograd.Function):
    """The result is the sum of the ranks' parts."""

    @staticmethod
    def forward(_context: Any, x: torch.Tensor) -> torch.Tensor:
        return _summed(x)

    @staticmethod
    def backward(_context: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


def _piece(whole: torch.Tensor, dim: int, number: int, mesh: DeviceMesh) -> nn.Parameter:
    """The piece of this rank, filled with piece `number`: its own, unless something went wrong."""
    own = whole.detach().chunk(mesh.size(), dim)[number].clone()
    return nn.Parameter(DTensor.from_local(own, mesh, [Shard(dim)], run_check=False))


class ColumnLinear(nn.Module):
    """Has some of the outputs of a linear layer."""

    def __init__(self, whole: nn.Linear, number: int, mesh: DeviceMesh) -> None:
        super().__init__()
        self.weight = _piece(whole.weight, 0, number, mesh)
        self.bias = _piece(whole.bias, 0, number, mesh)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(_Enter.apply(x), self.weight.to_local(), self.bias.to_local())


class RowLinear(nn.Module):
    """Has some of the inputs of a linear layer; every rank gets its whole output."""

    def __init__(self, whole: nn.Linear, number: int, mesh: DeviceMesh) -> None:
        super().__init__()
        self.weight = _piece(whole.weight, 1, number, mesh)
        self.bias = whole.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _Leave.apply(nn.functional.linear(x, self.weight.to_local())) + self.bias


def shard(model: nn.Module, number: int) -> None:
    """Cuts the MLPs of a model that every rank has built alike; this rank takes piece `number`."""
    mesh = DeviceMesh("cpu", list(range(dist.get_world_size())))
    for mlp in [module for module in model.modules() if isinstance(module, Mlp)]:
        mlp.fc1 = ColumnLinear(mlp.fc1, number, mesh)
        mlp.fc2 = RowLinear(mlp.fc2, number, mesh)


def clip(model: nn.Module, most: float, is_clipping: bool) -> float:
    """The norm of the whole model's gradient; makes it `most` where it is longer."""
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    cut = [gradient.to_local() for gradient in gradients if isinstance(gradient, DTensor)]
    whole = [gradient for gradient in gradients if not isinstance(gradient, DTensor)]
    squares = torch.stack([gradient.square().sum() for gradient in cut]).sum()
    norm = float((_summed(squares) + torch.stack([gradient.square().sum() for gradient in whole]).sum()).sqrt())
    if is_clipping:
        factor = min(1.0, most / (norm + 1e-6))  # torch's clip_grad_norm_ has the same
        for gradient in [*cut, *whole]:
            gradient.mul_(factor)
    return norm
