# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import torch

from .linear import SpectralNorms, matrix_name
from .router import per_token_expert_entropy, router_logits, router_weight_similarity


class TorchMatrices:
    """On the device where they lie."""

    matrix_name = staticmethod(matrix_name)
    norms = SpectralNorms
    router_logits = staticmethod(router_logits)
    per_token_expert_entropy = staticmethod(per_token_expert_entropy)
    router_weight_similarity = staticmethod(router_weight_similarity)

    def beside(self, *values: Any) -> torch.Tensor:
        return torch.stack(values)[None]
