# SPDX-License-Identifier: GPL-3.0-or-later
"""A mixture of experts in place of a transformer's MLP."""

from __future__ import annotations

import torch
from torch import nn

from .model import Mlp, Shape

EXPERTS = 4
BALANCE = 0.01  # weight of the loss that keeps the experts equally busy, as in Switch Transformers


class Router(nn.Linear):
    """Tokens in, one logit per expert out."""


class Moe(nn.Module):
    """Sends each token to the expert that the router likes best, x: [b, s, width]."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.router = Router(shape.width, EXPERTS)
        self.experts = nn.ModuleList(Mlp(shape) for _ in range(EXPERTS))
        self.balance = torch.zeros(())  # loss of the last forward pass
        self.violation = 0.0  # of the last forward pass: tokens of the busiest expert over the mean, less 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.flatten(0, 1)
        chances = self.router(tokens).softmax(-1)
        best, chosen = chances.max(-1)
        load = torch.bincount(chosen, minlength=EXPERTS) / len(tokens)
        self.balance = EXPERTS * (load * chances.mean(0)).sum()
        self.violation = float(load.max()) * EXPERTS - 1.0
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):  # also those without tokens: DDP waits for every gradient
            mine = (chosen == number).nonzero().flatten()
            out = out.index_add(0, mine, expert(tokens[mine]) * best[mine, None])
        return out.view_as(x)
