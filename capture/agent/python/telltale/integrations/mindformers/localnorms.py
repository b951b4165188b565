# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients of this rank before any reduction, from hooks on the parameters. Only in PyNative mode: in graphs the
framework writes them to files (transport.py)."""

from __future__ import annotations

from typing import Any

import mindspore as ms

from ...console import log
from .numbers import norms

_MOST_BYTES = 2 << 30  # of gradients that are kept until the step ends


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
    """Thread: training. per_micro: of each micro batch alone; else of their sum."""

    def __init__(self, parameters: list[Any], per_micro: bool) -> None:
        self._per_micro = per_micro
        self._kept: dict[str, list[Any]] = {}
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
        known = self._kept.setdefault(name, [])
        if known and not self._per_micro:
            with ms._no_grad():
                known[0] = known[0] + gradient
            return
        size = int(gradient.nbytes)
        if self._bytes + size > _MOST_BYTES:
            self.has_failed = True
            return
        self._bytes += size
        known.append(gradient)

    def take(self) -> dict[str, list[float]]:
        """Norms by parameter, one a micro batch or one of their sum, in the order of arrival. {} where gradients did
        not fit into the memory that is set apart for them."""
        kept, self._kept, self._bytes = self._kept, {}, 0
        failed, self.has_failed = self.has_failed, False
        if failed:
            if not self._told:
                self._told = True
                log.warning("local norms are left out where gradients take more than %d MiB", _MOST_BYTES >> 20)
            return {}
        values = iter(norms(gradient for gradients in kept.values() for gradient in gradients))
        return {name: [next(values) for _ in gradients] for name, gradients in kept.items()}

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._kept = {}
