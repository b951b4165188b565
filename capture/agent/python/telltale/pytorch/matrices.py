# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import torch

from ..quiet import plain
from .linear import SpectralNorms, matrix_name
from .router import per_token_expert_entropy, router_logits, router_weight_similarity


class TorchMatrices:
    """On the device where they lie."""

    matrix_name = staticmethod(matrix_name)
    norms = SpectralNorms
    router_logits = staticmethod(router_logits)
    per_token_expert_entropy = staticmethod(per_token_expert_entropy)
    router_weight_similarity = staticmethod(router_weight_similarity)

    def shape_of(self, weight: Any) -> tuple[int, int] | None:
        w = plain(weight)
        if w is None or w.dim() != 2 or w.numel() == 0 or not w.is_floating_point():
            return None
        return int(w.shape[0]), int(w.shape[1])

    def beside(self, *values: Any) -> torch.Tensor:
        return torch.stack(values)[None]
