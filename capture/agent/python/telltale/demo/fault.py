# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in a demo training, when and where: KIND@STEP[:MODULE][:RANK]."""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from .corpus import BadInput
from .faultkinds import KINDS, Kind
from .tasks import Batch

_HINT = "say KIND@STEP[:MODULE][:RANK] with KIND one of " + ", ".join(KINDS)
_RATE_FACTOR = 10.0
_SCORE_GROWTH = 1.25  # per step: visible within ten steps, slow enough to be seen coming
_SCORE_LIMIT = 128.0
_LOGIT_GROWTH = 1.02  # per step, of queries and of keys: a training lives with it for hundreds of steps
_LULL = 1e-3  # factor on the loss while gradients are tiny
_SCALE_FACTOR = 2.0**20
_SLOWER = 0.15  # of a forward pass, which is a third of the computing: 5 % of all


def compute(seconds: float) -> None:
    """Takes the processor for so long, whoever else wants it."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


class Fault:
    """A fault of one training, or none: then every method leaves what it is given as it is. It changes what the
    training computes, never what is recorded of it. Thread: training."""

    def __init__(self, text: str = "") -> None:
        """Raises BadInput with a sentence."""
        self.text, self.name, self.step, self.module = text, "", -1, ""
        self.rank: int | None = None  # None: every rank
        self._now = -1
        self._is_here = False
        self._kept: list[tuple[Any, torch.Tensor]] = []
        if text:
            self._read(text)

    def _read(self, text: str) -> None:
        self.name, at, rest = text.partition("@")
        if not at:
            raise BadInput(f"--fault {text}: the step is missing; {_HINT}")
        if self.name not in KINDS:
            raise BadInput(f'--fault {text}: unknown fault "{self.name}"; {_HINT}')
        step, *places = rest.split(":")
        if not step.isdecimal():
            raise BadInput(f'--fault {text}: not a step: "{step}"; {_HINT}')
        self.step = int(step)
        if places and places[-1].isdecimal():
            self.rank = int(places.pop())
        if len(places) > 1:
            raise BadInput(f'--fault {text}: not a rank: "{places[1]}"; {_HINT}')
        if places:
            [self.module] = places
            if not self.module:
                raise BadInput(f"--fault {text}: the module after the colon is empty; {_HINT}")
            if self.kind.where == "training":
                raise BadInput(f"--fault {text}: {self.kind.what} belongs to no module; {_HINT}")
        if self.name == "same-seed" and self.step:
            raise BadInput(f"--fault {text}: weights are made at step 0; say same-seed@0")

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    def choose(self, options: argparse.Namespace, model: torch.nn.Module, world: int, joined: int) -> None:
        """Checks that this training can have the fault, and chooses module and rank where the user named none. world:
        how many ranks there are; joined: how many of them train one model. Raises BadInput."""
        if not self.name:
            return
        self._check(options, joined)
        if self.rank is None and self.kind.is_of_one_rank:
            self.rank = 0 if self.name == "clip-one-rank" else world - 1
        if self.rank is not None and self.rank >= world:
            there = "there is only rank 0" if world == 1 else f"there are ranks 0 to {world - 1}"
            raise BadInput(f"--fault {self.text} names rank {self.rank}; {there}")
        if self.kind.where == "training":
            return
        fitting = [name for name, module in model.named_modules() if name and self.kind.fits(module)]
        if not fitting:
            raise BadInput(f"--fault {self.text}: no module of --model {options.model} can have it{self.kind.advice}")
        usual = [name for name in fitting if name.endswith(self.kind.usual)] or fitting
        self.module = self.module or usual[len(usual) // 2]
        if self.name in ("entropy-collapse", "logit-growth") and f"{self.module}.core" in fitting:
            self.module += ".core"
        if self.module not in fitting:
            wrong = f'--fault names the module "{self.module}", which cannot have this fault'
            raise BadInput(f"{wrong}; choose one of {', '.join(fitting)}")

    def _check(self, options: argparse.Namespace, joined: int) -> None:
        needs = self.kind.needs
        is_data_parallel = joined > 1 and options.model != "tp"
        for need, is_met, advice in (
            ("dp", is_data_parallel, "is of ranks that share the data: say --ranks 2, and a --model other than tp"),
            ("ranks", joined > 1, "is of one of several ranks: say --ranks 2"),
            ("tp", options.model == "tp", "is of tensor-parallel ranks: say --model tp --ranks 2"),
            ("amp", options.amp, "is of a loss scaler: say --amp"),
            ("text", options.model != "cnn", "is of a text: say a --model other than cnn"),
        ):
            if need == needs and not is_met:
                raise BadInput(f"--fault {self.text} {advice}")

    def install(self, model: torch.nn.Module, rank: int) -> None:
        """Puts what will make it fail into the model."""
        self._is_here = bool(self.name) and self.rank in (None, rank)
        if not self._is_here or self.kind.where == "training":
            return
        self._target = model.get_submodule(self.module)
        if self.kind.where == "output":
            self._target.register_forward_hook(self._spoil)
        elif self.kind.where == "gradients":
            for parameter in self._target.parameters():
                parameter.register_hook(lambda gradient, parameter=parameter: self._reach(parameter, gradient))

    def strikes(self, *names: str) -> bool:
        """Whether it is one of these, here and now."""
        is_time = self._now >= self.step if self.name and self.kind.is_lasting else self._now == self.step
        return self._is_here and self.name in names and is_time

    def begin(self, step: int, optimizer: Any, scaler: Any) -> float:
        """Before a step; returns the factor on its learning rate."""
        self._now = step
        self._kept.clear()
        if not self.strikes(self.name):
            return 1.0
        if self.kind.where == "weights":
            with torch.no_grad():
                self.kind.act(self._target)
        elif self.name == "freeze" and step == self.step:
            for parameter in self._target.parameters():
                parameter.requires_grad_(False)
                parameter.grad = None
        elif self.name == "entropy-collapse":
            self._target.score_factor = min(_SCORE_LIMIT, _SCORE_GROWTH ** (step - self.step + 1))
        elif self.name == "logit-growth":
            self._target.input_factor = _LOGIT_GROWTH ** (step - self.step + 1)
        elif self.name == "reset-moments":
            optimizer.state.clear()
        elif self.name == "loss-scale":
            scaler.update(scaler.get_scale() * _SCALE_FACTOR)
        return _RATE_FACTOR if self.name == "lr" else 1.0

    def piece(self, rank: int) -> int:
        """Which piece of a sharded layer this rank begins with."""
        return 0 if self.name == "same-seed" and self.rank in (None, rank) else rank

    def batch(self, batch: Batch) -> Batch:
        if not self.strikes("repeated-token"):
            return batch
        token = batch[0][0, 0]
        return torch.full_like(batch[0], token), torch.full_like(batch[1], token)

    def after_forward(self, seconds: float) -> None:
        """seconds: that the thread has computed in it."""
        if self.strikes("slow-rank"):
            compute(_SLOWER * seconds)

    def loss(self, loss: torch.Tensor) -> torch.Tensor:
        is_lull = self._is_here and self.name == "lull" and self._now < self.step
        return loss * _LULL if is_lull else loss

    def clips(self, rank: int) -> bool:
        """Whether this rank clips its gradients."""
        is_time = self.name == "clip-one-rank" and self._now >= self.step
        return not is_time or rank == self.rank

    def after_backward(self) -> None:
        """The ranks' gradients have been reduced."""
        for parameter, gradient in self._kept:
            parameter.grad.copy_(gradient)

    def _spoil(self, _module: Any, _args: Any, output: torch.Tensor) -> torch.Tensor | None:
        return self.kind.act(output) if self.strikes(self.name) else None

    def _reach(self, parameter: Any, gradient: torch.Tensor) -> torch.Tensor | None:
        if not self.strikes(self.name):
            return None
        if self.name == "drop-reduce":
            self._kept.append((parameter, gradient.clone()))
            return None
        return self.kind.act(gradient)
