# SPDX-License-Identifier: GPL-3.0-or-later
"""Stable rank and spectral norm of weight matrices.

sigma, the largest singular value, comes from power iteration on W^T W by thin products (W v, then W^T y; the Gram
matrix is never formed), started from the last step's vector, and at first from Lanczos's on the CPU, from a random one
on a device (where the first steps' values are lower bounds that grow tighter). `residual` says how tight.
msprobe starts anew from a random vector each time and makes two effective rounds: its kernel_norm lies up to a quarter
below the true one on matrices without a dominant direction, its sr as much above.
Nothing here draws from a global generator, builds a graph, changes a tensor or waits for a device.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import torch

from ..quiet import plain, quiet

_BLOCK = 1 << 18  # elements of a block of rows: it stays in the cache for both products

_KRYLOV_MOST = 96  # steps; few matrices need more than 40
_KRYLOV_TOLERANCE = 1e-3  # residual over sigma^2: the error of sigma is about its square

KERNEL_NORM = "sigma by warm-started power iteration"


@dataclass(frozen=True)
class LinearStats:
    """0-dim float32 tensors on the weight's device; NaN where the weight is not finite."""

    sr: torch.Tensor  # stable rank of the literature, F^2/sigma^2; 0 for a weight of zeros
    sr_root: torch.Tensor  # F/sigma, what msprobe calls sr; 0 for a weight of zeros
    kernel_norm: torch.Tensor  # sigma, the spectral norm
    frobenius: torch.Tensor
    residual: torch.Tensor  # |W^T W v - rho v| / rho: a singular value s with |s^2 - rho| <= residual * rho exists
    rounds: int  # of power iteration in this call
    shape: tuple[int, int]  # of the matrix that was read: this rank's part where the weight is sharded


def matrix_name(module: torch.nn.Module) -> str:
    """The attribute that holds a linear layer's or router's matrix, as msprobe picks it: "weight", else "wg", when it
    has two dimensions; "" for embeddings and everything else."""
    if isinstance(module, torch.nn.Embedding) or hasattr(module, "num_embeddings"):
        return ""
    if hasattr(module, "vocab_start_index"):
        return ""
    for name in ("weight", "wg"):
        value = getattr(module, name, None)
        if isinstance(value, torch.Tensor) and value.dim() == 2:
            return name
    return ""


class SpectralNorms:
    """Keeps one vector per matrix from call to call. Thread: one at a time per key."""

    def __init__(self, first_rounds: int | None = None, rounds: int = 2) -> None:
        """Rounds of the first call for a matrix and of later ones; a round reads the matrix once. None: the first call
        converges on the CPU, and makes 32 rounds on a device."""
        self._converges = first_rounds is None
        self._first_rounds = 32 if first_rounds is None else max(1, first_rounds)
        self._rounds = max(1, rounds)
        self._vectors: dict[Hashable, torch.Tensor] = {}

    def measure(self, key: Hashable, weight: Any) -> LinearStats | None:
        """weight: [m, n], any floating dtype; a DTensor gives this rank's part. None for what is no matrix of numbers
        here (flat shards, empty parts, meta and quantised tensors)."""
        w = plain(weight)
        if w is None or w.dim() != 2 or w.numel() == 0 or not w.is_floating_point():
            return None
        with quiet(w.device):
            start = self._vectors.get(key)
            is_new = start is None or start.shape[0] != w.shape[1] or start.device != w.device
            if is_new:
                generator = torch.Generator(device=w.device)
                generator.manual_seed(zlib.crc32(repr(key).encode()))
                start = torch.randn(w.shape[1], generator=generator, device=w.device, dtype=torch.float32)
                start /= start.norm()
            is_exact = is_new and self._converges and w.is_cpu  # a device would have to be waited for
            if is_exact:
                start = _krylov(w, start)
            rounds = self._first_rounds if is_new and not is_exact else self._rounds
            stats, self._vectors[key] = _iterate(w, start, rounds)
            return stats

    def forget(self, key: Hashable | None = None) -> None:
        """Drops the vector of one matrix, or of all."""
        if key is None:
            self._vectors.clear()
        else:
            self._vectors.pop(key, None)


def _krylov(w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The direction of the largest singular value, by Lanczos on W^T W with full reorthogonalization (Golub and Van
    Loan, section 10.1). Power iteration from a random vector is still several percent low after dozens of rounds where
    the singular values lie close together, as at a usual initialization. `v` again where the weight is zero or not
    finite."""
    basis: list[torch.Tensor] = []
    diagonal: list[float] = []
    beside: list[float] = []
    best = v
    for j in range(min(_KRYLOV_MOST, w.shape[1])):
        basis.append(v)
        _, z, _ = _products(w, v, False)
        diagonal.append(float(v @ z))
        span = torch.stack(basis)
        for _ in range(2):
            z = z - span.t() @ (span @ z)
        length = float(z.norm())
        if not length < float("inf"):
            return basis[0]
        is_end = j + 1 == min(_KRYLOV_MOST, w.shape[1]) or length <= 1e-6 * max(diagonal[0], 1e-30)
        if is_end or j % 8 == 7:
            matrix = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
            if beside:
                off = torch.tensor(beside, dtype=torch.float64)
                matrix += torch.diag(off, 1) + torch.diag(off, -1)
            values, vectors = torch.linalg.eigh(matrix)
            best = span.t() @ vectors[:, -1].float()
            if is_end or length * abs(float(vectors[-1, -1])) <= _KRYLOV_TOLERANCE * float(values[-1]):
                break
        beside.append(length)
        v = z / length
    norm = best.norm()
    return best / norm if float(norm) > 0 else basis[0]


def _iterate(w: torch.Tensor, v: torch.Tensor, rounds: int) -> tuple[LinearStats, torch.Tensor]:
    for round_ in range(rounds):
        is_last = round_ == rounds - 1
        rho, z, squares = _products(w, v, is_last)
        length = z.norm()
        sigma = length / rho.sqrt()  # |W^T u| of u = W v / |W v|: half a round further than |W v|
        residual = (z - rho * v).norm() / rho
        following = z / length
        is_usable = (length > 0) & length.isfinite()
        v = torch.where(is_usable, following, v)  # a zero or broken weight must not cost the vector
    assert squares is not None  # the last round has them
    frobenius = squares.sqrt()
    is_zero = frobenius == 0
    sigma = torch.where(is_zero, 0, sigma)
    root = torch.where(is_zero, 0, frobenius / sigma)
    residual = torch.where(is_zero, 0, residual)
    stats = LinearStats(
        (root * root).float(), root.float(), sigma.float(), frobenius.float(), residual.float(), rounds, tuple(w.shape)
    )
    return stats, v


def _products(
    w: torch.Tensor, v: torch.Tensor, with_squares: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """|W v|^2, W^T W v and, when asked, the sum of squares of W; W is read once, a block of rows at a time."""
    wide = torch.float32 if w.device.type == "mps" else torch.float64
    rho = torch.zeros((), dtype=wide, device=w.device)
    squares = torch.zeros((), dtype=wide, device=w.device) if with_squares else None
    z = torch.zeros(w.shape[1], dtype=torch.float32, device=w.device)
    step = max(1, _BLOCK // w.shape[1]) if w.device.type == "cpu" else w.shape[0]
    for first in range(0, w.shape[0], step):
        block = w[first : first + step].float()
        y = block.mv(v)
        rho += y.norm().to(wide) ** 2
        z += block.t().mv(y)
        if squares is not None:
            squares += block.norm().to(wide) ** 2
    return rho.float(), z, squares
