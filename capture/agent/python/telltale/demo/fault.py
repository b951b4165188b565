# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in a demo training, when and where: KIND@STEP[:MODULE]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .corpus import BadInput
from .model import CoreAttention

KINDS = ("nan", "inf", "spike", "freeze", "entropy-collapse", "lr")
_HINT = "say KIND@STEP[:MODULE] with KIND one of " + ", ".join(KINDS)
_SPIKE = 1000.0
_RATE_FACTOR = 30.0
_SCORE_GROWTH = 1.25  # per step: visible within ten steps, slow enough to be seen coming
_SCORE_LIMIT = 128.0


@dataclass
class Fault:
    """A fault that has been placed in a model, or none."""

    kind: str = ""
    step: int = 0
    module: str = ""

    @staticmethod
    def parse(text: str) -> Fault:
        """Raises BadInput with a sentence."""
        kind, at, rest = text.partition("@")
        if not at:
            raise BadInput(f"--fault {text}: the step is missing; {_HINT}")
        if kind not in KINDS:
            raise BadInput(f'--fault {text}: unknown fault "{kind}"; {_HINT}')
        step, colon, module = rest.partition(":")
        if not step.isdecimal():
            raise BadInput(f'--fault {text}: not a step: "{step}"; {_HINT}')
        if colon and not module:
            raise BadInput(f"--fault {text}: the module after the colon is empty; {_HINT}")
        if kind == "lr" and module:
            raise BadInput(f"--fault {text}: a learning rate belongs to no module; {_HINT}")
        return Fault(kind, int(step), module)

    def place(self, model: torch.nn.Module, layers: int) -> None:
        """Chooses a module where the user named none, and installs what makes it fail. Raises BadInput."""
        if not self.kind or self.kind == "lr":
            return
        middle = f"blocks.{layers // 2}"
        defaults = {"freeze": f"{middle}.mlp", "entropy-collapse": f"{middle}.attn.core"}
        self.module = self.module or defaults.get(self.kind, f"{middle}.mlp.fc1")
        modules = {name: module for name, module in model.named_modules() if name}
        fitting = [name for name, module in modules.items() if self._fits(module)]
        if self.kind == "entropy-collapse" and f"{self.module}.core" in fitting:
            self.module += ".core"
        if self.module not in fitting:
            known = ", ".join(fitting)
            wrong = f'--fault names the module "{self.module}", which cannot have this fault'
            raise BadInput(f"{wrong}; choose one of {known}")
        self._target = modules[self.module]
        if self.kind in ("nan", "inf", "spike"):
            self._now = False
            self._target.register_forward_hook(self._spoil)

    def _fits(self, module: torch.nn.Module) -> bool:
        if self.kind == "entropy-collapse":
            return isinstance(module, CoreAttention)
        if self.kind == "freeze":
            return any(True for _ in module.parameters())
        return not isinstance(module, (torch.nn.ModuleList, torch.nn.Dropout))

    def begin(self, step: int) -> float:
        """Before a step; returns the factor on its learning rate."""
        if self.kind in ("nan", "inf", "spike"):
            self._now = step == self.step
        elif self.kind == "freeze" and step == self.step:
            for parameter in self._target.parameters():
                parameter.requires_grad_(False)
                parameter.grad = None
        elif self.kind == "entropy-collapse" and step >= self.step:
            self._target.score_factor = min(_SCORE_LIMIT, _SCORE_GROWTH ** (step - self.step + 1))
        return _RATE_FACTOR if self.kind == "lr" and step >= self.step else 1.0

    def _spoil(self, _module: Any, _args: Any, output: torch.Tensor) -> torch.Tensor | None:
        if not self._now:
            return None
        if self.kind == "spike":
            return output * _SPIKE
        addend = torch.zeros_like(output)
        addend.view(-1)[0] = float(self.kind)
        return output + addend
