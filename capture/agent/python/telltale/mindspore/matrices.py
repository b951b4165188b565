# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectral norms of weights, and what routers decide, by numpy and scipy, which MindSpore comes with. Definitions are
those of the PyTorch agent (pytorch/linear.py, pytorch/router.py)."""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from mindspore import Tensor, dtype, nn
from scipy.sparse.linalg import ArpackError, svds

_FLOATS = (dtype.float32, dtype.float64, dtype.float16, dtype.bfloat16)
_ROUNDS = 2  # of power iteration at a step, from where it was left


@dataclass(frozen=True)
class LinearStats:
    """NaN where the weight is not finite."""

    sr: float
    sr_root: float
    kernel_norm: float
    shape: tuple[int, int]


class SpectralNorms:
    """Keeps one vector per matrix: the first time it converges by Lanczos's iteration."""

    def __init__(self) -> None:
        self._vectors: dict[Hashable, np.ndarray] = {}

    def measure(self, key: Hashable, weight: np.ndarray) -> LinearStats:
        w = np.asarray(weight, np.float32)
        frobenius = float(np.sqrt(np.square(w, dtype=np.float64).sum()))
        if not np.isfinite(frobenius) or frobenius == 0:
            value = 0.0 if frobenius == 0 else float("nan")
            return LinearStats(value, value, value, w.shape)
        v = self._vectors.get(key)
        if v is None or v.shape[0] != w.shape[1]:
            v = _first(key, w)
        sigma = 0.0
        for _ in range(_ROUNDS):
            y = w @ v
            z = w.T @ y
            length = float(np.linalg.norm(z))
            if length == 0:
                return LinearStats(0.0, 0.0, 0.0, w.shape)
            sigma = length / float(np.linalg.norm(y))  # half a round further than |W v|
            v = z / length
        self._vectors[key] = v
        root = frobenius / sigma
        return LinearStats(root * root, root, sigma, w.shape)

    def forget(self) -> None:
        self._vectors.clear()


def _first(key: Hashable, w: np.ndarray) -> np.ndarray:
    start = np.random.default_rng(zlib.crc32(repr(key).encode())).standard_normal(min(w.shape))
    if min(w.shape) > 2:
        try:
            _, _, vectors = svds(w.astype(np.float64), k=1, v0=start, tol=1e-3, return_singular_vectors="vh")
            return np.asarray(vectors[0], np.float32)
        except ArpackError:
            pass
    _, _, vectors = np.linalg.svd(w.astype(np.float64), full_matrices=False)
    return np.asarray(vectors[0], np.float32)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 2 and value.size > 0 and value.dtype in _FLOATS


class NumpyMatrices:
    norms = SpectralNorms

    def matrix_name(self, module: Any) -> str:
        if isinstance(module, nn.Embedding) or any(hasattr(module, n) for n in ("num_embeddings", "vocab_start_index")):
            return ""
        for name in ("weight", "wg"):
            value = getattr(module, name, None)
            if isinstance(value, Tensor) and value.ndim == 2:
                return name
        return ""

    def shape_of(self, weight: Any) -> tuple[int, int] | None:
        return (int(weight.shape[0]), int(weight.shape[1])) if _is_matrix(weight) else None

    def beside(self, *values: Any) -> np.ndarray:
        return np.array([values], np.float64)

    def router_logits(self, output: Any) -> Any:
        if isinstance(output, (tuple, list)):
            output = next((entry for entry in output if isinstance(entry, Tensor)), None)
        has_numbers = isinstance(output, Tensor) and output.size > 0 and output.dtype in _FLOATS
        return output if has_numbers and output.ndim >= 2 else None

    def per_token_expert_entropy(self, logits: np.ndarray) -> Any:
        x = np.asarray(logits, np.float64).reshape(-1, logits.shape[-1])
        with np.errstate(all="ignore"):
            top = x.max(1, keepdims=True)
            is_hidden = top[:, 0] == -np.inf
            powers = np.exp(x - top)
            p = powers / powers.sum(1, keepdims=True)
            entropy = -np.where(p == 0, 0.0, p * np.log(p)).sum(1)
        entropy[is_hidden] = 0
        return np.array(entropy.mean())

    def router_weight_similarity(self, weight: np.ndarray) -> Any:
        w = np.asarray(weight, np.float32)
        vectors = (w if w.shape[0] < w.shape[1] else w.T).astype(np.float64)
        count = vectors.shape[0]
        if count < 2:
            return np.array(0.0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.maximum(lengths, 1e-12)
        diagonal, total = np.square(unit).sum(), np.square(unit.sum(0)).sum()
        return np.array((total - diagonal) / (count * (count - 1)))
