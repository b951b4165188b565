# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients of this rank before any reduction, from hooks on the parameters. Only in PyNative mode: in graphs the
framework writes their norms to files (transport.py)."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import ops

from ...console import log
from .numbers import norms, number

_MOST_BYTES = 4 << 30  # of gradients that are kept until the step ends


class _Hook:
    """An object and no function: those are compiled under @jit. Never raises, waits or returns anything: an exception
    in a gradient hook makes every later gradient of the process fail."""

    __slots__ = ("_into", "_name")

    def __init__(self, into: LocalNorms, name: str) -> None:
        self._into = into
        self._name = name

    def __call__(self, gradient: Any) -> None:
        try:
            self._into.arrived(self._name, gradient)
        except BaseException:  # noqa: BLE001
            self._into.has_failed = True


class LocalNorms:
    """Norms of each parameter's gradient, summed over a step's micro batches and, per_micro, of each of them. Thread:
    training."""

    def __init__(self, parameters: list[Any], per_micro: bool = False) -> None:
        self._per_micro = per_micro
        self._sums: dict[str, Any] = {}
        self._micros: dict[str, list[Any]] = {}  # squares of norms, as tensors that may still be computed
        self._bytes = 0
        self._told = False
        self.has_failed = False
        self._handles = [
            parameter.register_hook(_Hook(self, parameter.name))
            for parameter in parameters
            if hasattr(parameter, "register_hook")
        ]

    def arrived(self, name: str, gradient: Any) -> None:
        """A gradient of one micro batch."""
        gradient = gradient.to_local() if hasattr(gradient, "to_local") else gradient
        known = self._sums.get(name)
        with ms._no_grad():
            if self._per_micro:
                square = ops.square(gradient.astype(ms.float32)).sum()
                self._micros.setdefault(name, []).append(square)
            if known is not None:
                self._sums[name] = known + gradient
                return
        self._bytes += int(gradient.nbytes)
        if self._bytes > _MOST_BYTES:
            self.has_failed = True
        else:
            self._sums[name] = gradient

    def take(self) -> dict[str, float]:
        """Norms by parameter in the order of arrival, of the sum. {} where gradients did not fit into the memory that
        is set apart for them."""
        sums, self._sums, self._bytes = self._sums, {}, 0
        failed, self.has_failed = self.has_failed, False
        if failed:
            if not self._told:
                self._told = True
                log.warning("local norms are left out: gradients take more than %d MiB", _MOST_BYTES >> 20)
            return {}
        return dict(zip(sums, norms(sums.values())))

    def take_micros(self) -> list[dict[str, float]]:
        """Norms by parameter of each micro batch."""
        micros, self._micros = self._micros, {}
        found: list[dict[str, float]] = []
        for name, squares in micros.items():
            for i, square in enumerate(squares):
                if i == len(found):
                    found.append({})
                value = number(square)
                found[i][name] = float("nan") if value is None else value**0.5
        return found

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._sums, self._micros = {}, {}
