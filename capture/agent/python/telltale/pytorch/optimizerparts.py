# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import torch

from ..agent import optimizerparts
from ..quiet import quiet
from . import histogram


class UpdatePart(optimizerparts.UpdatePart):
    """By torch's own operations, on the moments' device."""

    def moved(
        self, m: torch.Tensor, v: torch.Tensor, steps: int, betas: tuple[float, float], eps: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        with quiet(m.device):
            mean = m.detach() / (1 - betas[0] ** steps)
            root = (v.detach() / (1 - betas[1] ** steps)).sqrt_()
            ratio = (mean / root).masked_fill_((mean == 0) & (root == 0), 0)
            root.add_(eps)
            mean.div_(root)
        return mean, ratio

    def counts(self, tensor: torch.Tensor) -> torch.Tensor:
        return histogram.counts(tensor)
