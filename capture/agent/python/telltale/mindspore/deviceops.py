# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics by MindSpore's own operations, for tensors that this process cannot read, or not yet. Nothing here waits:
the result is a tensor of ten numbers, still to be computed."""

from __future__ import annotations

import math
from typing import Any

from mindspore import dtype, ops


def statistics(tensor: Any, eps: float) -> Any:
    """[sum, sumsq, min, max, numel, finite, zero_count, nans, pos_infs, neg_infs] as float32: accelerators have nothing
    wider. Counts are exact up to 2^24."""
    x = tensor.reshape(-1).astype(dtype.float32)
    nan = x != x
    positive, negative = x == math.inf, x == -math.inf
    finite = ops.logical_not(ops.logical_or(nan, ops.logical_or(positive, negative)))
    kept = ops.select(finite, x, ops.zeros_like(x))
    count = finite.astype(dtype.float32).sum()
    large = ops.full_like(x, 3.4028234663852886e38)
    found = [
        kept.sum(),
        (kept * kept).sum(),
        ops.select(finite, x, large).min(),
        ops.select(finite, x, -large).max(),
        count * 0 + float(tensor.size),
        count,
        ops.logical_and(finite, ops.abs(kept) < eps).astype(dtype.float32).sum(),
        nan.astype(dtype.float32).sum(),
        positive.astype(dtype.float32).sum(),
        negative.astype(dtype.float32).sum(),
    ]
    return ops.stack([one.reshape(()) for one in found])
