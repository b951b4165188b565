# SPDX-License-Identifier: GPL-3.0-or-later
"""Histograms of telltale.histogram by torch's own operations: where the native kernel is missing, and on devices."""

from __future__ import annotations

import bisect
import math

import torch

from .bins import OCTAVE_EDGES, OCTAVES
from .quiet import quiet

_LEAST, _MOST = -1074, 1024  # exponents of doubles; the last one stands for infinity
_PIECE = 1 << 23  # elements that float32 still counts one by one
_tables: dict[torch.device, torch.Tensor] = {}


def _bins_by_exponent(device: torch.device) -> torch.Tensor:
    """Bins of positive numbers."""
    found = _tables.get(device)
    if found is None:
        powers = [math.ldexp(1.0, exponent) for exponent in range(_LEAST, _MOST)] + [math.inf]
        bins = [min(bisect.bisect_right(OCTAVE_EDGES, power) - 1, OCTAVES - 1) for power in powers]
        found = _tables[device] = torch.tensor(bins, dtype=torch.int64, device=device)
    return found


def counts(tensor: torch.Tensor) -> torch.Tensor:
    """Elements of a dense tensor in each bin of OCTAVE_EDGES, as float64 (float32 where the device has none), on its
    device. NaN lies in none. No synchronization."""
    wide = torch.float32 if tensor.device.type == "mps" else torch.float64
    with quiet(tensor.device):
        flat = tensor.detach().reshape(-1)
        table = _bins_by_exponent(flat.device)
        found = torch.zeros(OCTAVES, dtype=wide, device=flat.device)
        for piece in flat.split(_PIECE):
            if piece.dtype not in (torch.float32, torch.float64):
                piece = piece.to(torch.float32 if piece.is_floating_point() else wide)
            _, exponents = torch.frexp(piece)
            places = (exponents.to(torch.int64) - 1).clamp_(_LEAST, _MOST) - _LEAST
            places.masked_fill_(piece.isinf(), _MOST - _LEAST)
            bins = table[places]
            bins = torch.where(piece < 0, OCTAVES - 1 - bins, bins)
            bins.masked_fill_(piece == 0, OCTAVES // 2).masked_fill_(piece.isnan(), OCTAVES)
            found += _counted(bins).to(wide)
        return found


def _counted(bins: torch.Tensor) -> torch.Tensor:
    if bins.is_cpu:
        return torch.bincount(bins, minlength=OCTAVES + 1)[:OCTAVES]
    if not torch.are_deterministic_algorithms_enabled():
        return torch.histc(bins.float(), bins=OCTAVES + 1, min=0, max=OCTAVES + 1)[:OCTAVES]
    # histc on a device is refused then: it adds in any order.
    limits = torch.arange(OCTAVES + 1, device=bins.device)
    return torch.searchsorted(bins.sort().values, limits).diff()
