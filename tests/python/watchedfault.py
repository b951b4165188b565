# SPDX-License-Identifier: GPL-3.0-or-later
"""A demo training with a fault, and the tensors that it computes: those, not what a monitor says of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from telltale.demo.options import parse
from telltale.demo.trainer import DemoTraining

Tensors = dict[str, torch.Tensor]
SMALL = ("--layers", "2", "--heads", "2", "--width", "16", "--no-agent")


@dataclass
class Step:
    """Tensors by name."""

    weights: Tensors = field(default_factory=dict)  # that the forward pass begins with
    outputs: Tensors = field(default_factory=dict)  # of modules
    output_grads: Tensors = field(default_factory=dict)
    local: Tensors = field(default_factory=dict)  # gradients of parameters before the ranks' are reduced
    reduced: Tensors = field(default_factory=dict)
    clipped: Tensors = field(default_factory=dict)
    batch: Any = None
    moments: int = 0  # how many parameters have some
    scale: float = 1.0  # of the loss


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return getattr(tensor, "_local_tensor", tensor).detach().clone()


class Watched:
    """What a training did, step by step; it has run."""

    def __init__(self, *arguments: str) -> None:
        self.steps: list[Step] = []
        training = self._training = DemoTraining(parse([*SMALL, *arguments]))
        self.fault = training.fault
        self._after(training.fault, "install", lambda _result: self._hook(training.model))
        self._after(training.fault, "batch", lambda result: setattr(self.steps[-1], "batch", result))
        begin = training.fault.begin

        def begun(step: int, optimizer: Any, scaler: Any) -> float:
            factor = begin(step, optimizer, scaler)
            self.steps.append(Step(moments=len(optimizer.state), scale=scaler.get_scale()))
            self.steps[-1].weights = {name: _copy(p) for name, p in training.model.named_parameters()}
            return factor

        clip = training._clip

        def clipped() -> float:
            self.steps[-1].reduced = self._gradients()
            norm = clip()
            self.steps[-1].clipped = self._gradients()
            return norm

        training.fault.begin, training._clip = begun, clipped  # type: ignore[method-assign]
        assert training.run() == 0
        self.weights = {name: _copy(p) for name, p in training.model.named_parameters()}

    def _gradients(self) -> Tensors:
        return {name: _copy(p.grad) for name, p in self._training.model.named_parameters() if p.grad is not None}

    @staticmethod
    def _after(owner: Any, name: str, tell: Callable[[Any], None]) -> None:
        original = getattr(owner, name)

        def told(*args: Any) -> Any:
            result = original(*args)
            tell(result)
            return result

        setattr(owner, name, told)

    def _hook(self, model: torch.nn.Module) -> None:
        for name, module in model.named_modules():
            module.register_forward_hook(functools.partial(self._ran, name))
        for name, parameter in model.named_parameters():
            parameter.register_hook(lambda gradient, name=name: self._keep("local", name, gradient))

    def _ran(self, name: str, _module: Any, _args: Any, output: torch.Tensor) -> None:
        self._keep("outputs", name, output)
        if output.requires_grad:
            output.register_hook(lambda gradient: self._keep("output_grads", name, gradient))

    def _keep(self, what: str, name: str, tensor: torch.Tensor) -> None:
        getattr(self.steps[-1], what)[name] = _copy(tensor)


def changed(a: Tensors, b: Tensors) -> set[str]:
    """Names of what is not the same to the bit."""
    same = {name for name in a.keys() & b.keys() if a[name].shape == b[name].shape and _is_same(a[name], b[name])}
    return (a.keys() | b.keys()) - same


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


def differences(a: Step, b: Step) -> set[str]:
    """What of two steps is not the same to the bit: "weights head.weight"."""
    kinds = ("weights", "outputs", "output_grads", "local", "reduced", "clipped")
    return {f"{kind} {name}" for kind in kinds for name in changed(getattr(a, kind), getattr(b, kind))}


@functools.cache
def clean(*arguments: str) -> Watched:
    return Watched(*arguments)


def compared(fault: str, *arguments: str) -> tuple[Step, Step, Watched]:
    """The step at which a fault strikes, of a training without it and of one with it, and all of that. Every tensor of
    the steps before is the same to the bit."""
    whole, broken = clean(*arguments), Watched("--fault", fault, *arguments)
    at = broken.fault.step
    for step in range(at):
        assert not differences(whole.steps[step], broken.steps[step]), f"{fault}: step {step} differs already"
    return whole.steps[at], broken.steps[at], broken


def elements(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The elements that are not the same to the bit."""
    differ = a.view(torch.int32) != b.view(torch.int32)
    return a[differ], b[differ]


def ratio(a: torch.Tensor, b: torch.Tensor, expected: float) -> None:
    """That b is so many times a."""
    torch.testing.assert_close(b, a * expected, rtol=1e-3, atol=1e-9)


def not_finite(tensors: Tensors) -> set[str]:
    return {name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()}
