# SPDX-License-Identifier: GPL-3.0-or-later
"""How the elements of a tensor spread over the bins."""

from __future__ import annotations

import torch

from ..bins import BINS, EDGES, INNER
from ..quiet import quiet

_PIECE = 1 << 23  # elements that float32 still counts one by one


def counts(tensor: torch.Tensor) -> torch.Tensor:
    """Elements of a dense tensor below -1, in each bin, and above 1, as float64 [BINS] on its device. NaN lies
    nowhere. No synchronization."""
    with quiet(tensor.device):
        flat = tensor.detach().reshape(-1)
        if flat.dtype not in (torch.float32, torch.float64):
            flat = flat.float()
        found = torch.zeros(BINS, dtype=torch.float64, device=flat.device)
        for piece in flat.split(_PIECE):
            found[0] += (piece < -1).sum()
            found[1:-1] += _inside(piece)
            found[-1] += (piece > 1).sum()
        return found


def _inside(piece: torch.Tensor) -> torch.Tensor:
    if piece.is_cpu or not torch.are_deterministic_algorithms_enabled():
        return torch.histc(piece, bins=INNER, min=-1, max=1)
    # histc on a device is refused then: it adds in any order.
    below = torch.stack([(piece < edge).sum() for edge in EDGES[:-1].tolist()] + [(piece <= 1).sum()])
    return below.diff()
