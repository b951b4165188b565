# SPDX-License-Identifier: GPL-3.0-or-later
"""The health of mixture-of-experts routers: how alike the experts' routing vectors are, how undecided the tokens.

Definitions are those of msprobe 26.2's moe_router_weight_hook and moe_router_logit_hook, wider where it fails its
users: NaN stays NaN (it adds NaN up as 0), more experts than hidden width can be said. Nothing here draws random
numbers, builds a graph, changes a tensor or waits for a device.
"""

from __future__ import annotations

from typing import Any

import torch

from ..quiet import plain, quiet

_BLOCK = 1 << 20  # elements of logits that are widened at a time


def router_weight_similarity(weight: Any, experts: int | None = None) -> torch.Tensor | None:
    """Mean over pairs i < j of the cosine of the experts' weight vectors: 1 = all route alike, about 0 = independent.

    weight: [experts, hidden] or [hidden, experts]. experts: how many there are; None = the smaller dimension, as
    msprobe has it (of a square matrix the columns). 0-dim float32; fewer than two experts give 0; an expert of zeros
    counts as unlike every other. None for what is no matrix here.
    """
    w = plain(weight)
    if w is None or w.dim() != 2 or w.numel() == 0 or not w.is_floating_point():
        return None
    with quiet(w.device):
        is_rows = w.shape[0] < w.shape[1] if experts is None else w.shape[0] == experts
        vectors = (w if is_rows else w.t()).float()  # [experts, hidden]
        count = vectors.shape[0]
        if count < 2:
            return torch.zeros((), device=w.device)
        unit = torch.nn.functional.normalize(vectors, dim=1)
        # Sum over all pairs without the experts x experts matrix: |sum of unit vectors|^2 less the diagonal.
        diagonal = unit.square().sum(dtype=_wide(w))
        total = unit.sum(0, dtype=_wide(w)).square().sum()
        return ((total - diagonal) / (count * (count - 1))).float()


def per_token_expert_entropy(logits: Any) -> torch.Tensor | None:
    """Mean over tokens of the entropy of softmax(logits) over the last dimension: 0 = each token is sure of one expert,
    ln(experts) = undecided.

    logits: [..., experts], at least two dimensions; experts masked with -inf count as p = 0, and a token whose experts
    are all masked as entropy 0, as with msprobe. 0-dim float32; NaN or +inf among the logits gives NaN. None for what
    has no tokens or no numbers here.
    """
    x = plain(logits)
    if x is None or x.dim() < 2 or x.numel() == 0 or not x.is_floating_point():
        return None
    with quiet(x.device):
        experts = x.shape[-1]
        rows = x.reshape(-1, experts)
        step = max(1, _BLOCK // experts)
        total = torch.zeros((), dtype=_wide(x), device=x.device)
        for first in range(0, rows.shape[0], step):
            block = rows[first : first + step].float()
            is_hidden = (block == float("-inf")).all(1)
            entropy = torch.special.entr(torch.softmax(block, 1)).sum(1)
            total += entropy.masked_fill(is_hidden, 0).sum(dtype=total.dtype)
        return (total / rows.shape[0]).float()


def router_logits(output: Any) -> torch.Tensor | None:
    """The logits among a router module's output: itself or the first tensor of a tuple or list, when it has at least
    two dimensions; None otherwise."""
    if isinstance(output, (tuple, list)):
        output = next((entry for entry in output if isinstance(entry, torch.Tensor)), None)
    return output if isinstance(output, torch.Tensor) and output.dim() >= 2 else None


def _wide(tensor: torch.Tensor) -> torch.dtype:
    return torch.float32 if tensor.device.type == "mps" else torch.float64
