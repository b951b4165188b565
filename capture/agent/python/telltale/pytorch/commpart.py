# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ..agent import commpart
from ..agent.clock import Clock
from ..measure import readable, torch_stats
from ..quiet import quiet
from .collectives import NOT_OBSERVED, CollectiveWatch


class CommPart(commpart.CommPart):
    """What lies on a device is measured there."""

    watch = CollectiveWatch
    unseen = NOT_OBSERVED

    def there(self, engine: Clock, tensor: Any) -> Any:
        return torch_stats(readable(tensor), engine.measurer.eps)

    def pooled(self, there: list[Any], here: np.ndarray) -> Any:
        return _pooled_there(there, here)


def _pooled_there(stats: list[torch.Tensor], here: np.ndarray) -> torch.Tensor:
    """As _pooled(), on the device that torch_stats() left its numbers on; `here`: STATS of calls with host tensors."""
    device = stats[0].device
    with quiet(device):
        rows = torch.stack(stats)
        if here.size:
            names = ("sum", "sumsq", "min", "max", "numel", "finite", "zero_count", "nans", "pos_infs", "neg_infs")
            host = np.stack([here[name].astype(np.float64) for name in names], 1)
            rows = torch.cat([rows, torch.from_numpy(host).to(device, rows.dtype, non_blocking=True)])
        total, squares, low, high, numel, finite, zeros, nans, pos, neg = rows.unbind(1)
        has = finite > 0
        nothing = torch.zeros_like(total)
        norm = torch.where(has, squares.sqrt(), nothing).sum()
        mean = torch.where(has, total / finite, nothing).sum() / has.sum().clamp(min=1)
        count, elements = finite.sum(), numel.sum()
        return torch.stack(
            [
                mean * count,
                norm * norm,
                torch.where(has, low, torch.full_like(low, math.inf)).min(),
                torch.where(has, high, torch.full_like(high, -math.inf)).max(),
                elements,
                count,
                torch.round((zeros / numel).mean() * elements),
                nans.sum(),
                pos.sum(),
                neg.sum(),
            ]
        )
