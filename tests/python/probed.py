# SPDX-License-Identifier: GPL-3.0-or-later
"""Small trainings under grad_probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import torch
from telltale.pytorch import PrecisionDebugger

STEPS = 6


def config(folder: Path | str, level: str = "L1", top: dict[str, Any] | None = None, **own: Any) -> dict[str, Any]:
    return {
        "task": "grad_probe",
        "dump_path": str(folder),
        "rank": [],
        "step": [],
        "grad_probe": {"grad_level": level, "param_list": [], "bounds": [-1, 0, 1], **own},
        **(top or {}),
    }


def model_of(seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 4))


def train(
    settings: dict[str, Any] | None,
    before_step: Callable[[int, torch.nn.Module], None] | None = None,
    steps: int = STEPS,
) -> list[torch.Tensor]:
    """Parameters, optimizer state and the generator's state at the end; settings: None = nothing is watched."""
    model = model_of()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if settings is not None:
        PrecisionDebugger(settings).monitor(model)
    data = torch.Generator().manual_seed(1)
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.randn(32, 8, generator=data)).square().mean().backward()
        if before_step is not None:
            before_step(step, model)
        optimizer.step()
    PrecisionDebugger.stop()
    states = [value for state in optimizer.state.values() for value in state.values()]
    moments = [value.reshape(-1) for value in states if torch.is_tensor(value)]
    return [*(p.detach().clone() for p in model.parameters()), *moments, torch.get_rng_state()]


def flip_from(first: int, name: str) -> Callable[[int, torch.nn.Module], None]:
    """A fault in the backward pass of one layer: its gradient has the wrong sign."""

    def flip(step: int, model: torch.nn.Module) -> None:
        if step >= first:
            dict(model.named_parameters())[name].grad.neg_()

    return flip


def give(model: torch.nn.Module, gradients: dict[str, torch.Tensor | None]) -> None:
    """Steps an optimizer that gets these gradients."""
    for name, parameter in model.named_parameters():
        parameter.grad = gradients.get(name)
    torch.optim.SGD(model.parameters(), lr=0.0).step()


class Named(torch.nn.Module):
    """Parameters of given shapes."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            self.register_parameter(name, torch.nn.Parameter(torch.zeros_like(tensor)))
