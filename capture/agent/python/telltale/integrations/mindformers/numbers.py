# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers out of MindSpore's tensors, outside of graphs and between steps."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

_START = 7  # of the power iteration: the training's own generators are not touched
_EXACT = 1024  # rows or columns up to which an eigenvalue is computed whole
_TURNS = 100


def number(value: Any) -> float | None:
    """A number, the mean of a tensor's or array's elements (of a loss per sample: the loss), None for what is none."""
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, bool):
        return float(value)
    try:
        array = as_array(value)
        return float(array.mean()) if array.size else None
    except Exception:  # noqa: BLE001 - whatever it is, it is no number
        return None


def as_array(value: Any) -> np.ndarray:
    """Elements as float32 at least; of a tensor on a device a copy."""
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return array if array.dtype == np.float64 else array.astype(np.float32)


def norms(tensors: Iterable[Any]) -> list[float]:
    """The 2-norm of each tensor's part on this rank. On a device they are computed there, and one copy brings them."""
    whole = [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in tensors]
    if not whole:
        return []
    if ms.get_context("device_target") == "CPU":
        return [float(np.linalg.norm(as_array(tensor).astype(np.float64))) for tensor in whole]
    parts = [ops.norm(tensor.astype(ms.float32).reshape(-1)) for tensor in whole]
    return [float(value) for value in ops.stack(parts).asnumpy()]


def stable_rank(weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """|W|_F^2 / s and s, the largest eigenvalue of W^T W, of a matrix or of each of a stack of matrices. A matrix of
    zeros has rank 0; NaN stays NaN."""
    matrices = as_array(weight).astype(np.float64)
    matrices = matrices[None] if matrices.ndim == 2 else matrices
    eigen = np.array([_largest_eigenvalue(one) for one in matrices])
    squares = (matrices**2).sum((1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(eigen == 0, 0.0, squares / eigen), eigen


def _largest_eigenvalue(matrix: np.ndarray) -> float:
    if not np.isfinite(matrix).all():
        return float("nan")
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    if len(gram) <= _EXACT:
        return max(0.0, float(np.linalg.eigvalsh(gram)[-1]))
    vector = np.random.default_rng(_START).standard_normal(len(gram))
    value = 0.0
    for _ in range(_TURNS):
        vector = gram @ vector
        length = float(np.linalg.norm(vector))
        if not length > 0:
            return 0.0
        vector /= length
        before, value = value, float(vector @ gram @ vector)
        if abs(value - before) <= 1e-7 * value:
            break
    return value


def inner_cell(network: Any) -> Any:
    """The model that MindFormers' and MindSpore's wrappers hold."""
    for _ in range(32):
        inside = getattr(network, "network", None)
        inside = getattr(network, "_backbone", None) if inside is None else inside
        if inside is None:
            break
        network = inside
    return network


def loss_cell(network: Any) -> Any:
    """What the training cell trains: the names of its parameters are those that the original gives."""
    is_step = hasattr(network, "optimizer") and hasattr(network, "network")
    return network.network if is_step else network


def trainable(network: Any) -> list[Any]:
    """The trainable parameters; [] of what has none."""
    ask = getattr(network, "trainable_params", None)
    return list(ask()) if ask is not None else []


def is_pynative() -> bool:
    """Whether hooks may be attached: GRAPH mode would compile them."""
    return bool(ms.get_context("mode") == ms.PYNATIVE_MODE)


def original(module: str) -> Any:
    """A module of MindFormers where the job uses that, else None: it is not imported for our sake."""
    return sys.modules.get(f"mindformers.{module}")


def devices() -> tuple[int, int]:
    """Rank and number of devices."""
    try:
        from mindspore.communication import GlobalComm, get_group_size, get_rank

        if GlobalComm.INITED:
            return int(get_rank()), int(get_group_size())
    except Exception:  # noqa: BLE001 - a build without it, or nothing that is set up
        pass
    from ... import identity

    return identity.rank(), identity.world_size()
