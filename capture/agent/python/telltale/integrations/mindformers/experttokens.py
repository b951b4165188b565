# SPDX-License-Identifier: GPL-3.0-or-later
"""Each expert's share of a step's tokens, from the counters that MindFormers' PyNative models keep. Its LossCallback
sets them to zero before later callbacks have their turn, so they are copied when the optimizer is called."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np

from .numbers import as_array

_COUNTER = "tokens_per_expert"


class _Hook:
    """Before the optimizer's step. An object, returns nothing and never raises, as all hooks here."""

    def __init__(self, into: ExpertTokens) -> None:
        self._into = into

    def __call__(self, _optimizer: Any, _arguments: Any) -> None:
        try:
            self._into.copy()
        except Exception:  # noqa: BLE001
            self._into.copies = {}


class ExpertTokens:
    """Thread: training."""

    def __init__(self, models: list[Any], optimizer: Any) -> None:
        cells = [pair for model in models if hasattr(model, "cells_and_names") for pair in model.cells_and_names()]
        self._cells = [(name, cell) for name, cell in cells if getattr(cell, _COUNTER, None) is not None]
        self._before = {name: self._counts(cell) for name, cell in self._cells}
        self.copies: dict[str, Any] = {}
        register = getattr(optimizer, "register_forward_pre_hook", None)
        self._handle = register(_Hook(self)) if register is not None and self._cells else None

    @staticmethod
    def _counts(cell: Any) -> np.ndarray:
        return as_array(getattr(cell, _COUNTER)).reshape(-1)

    def copy(self) -> None:
        """What the counters are now, not waited for."""
        with ms._no_grad():
            self.copies = {name: getattr(cell, _COUNTER) + 0 for name, cell in self._cells}

    def take(self) -> dict[str, list[float]]:
        """Shares by the layer's name. {} where no expert has had a token."""
        copies, self.copies = self.copies, {}
        found: dict[str, list[float]] = {}
        for name, cell in self._cells:
            counted = as_array(copies[name]).reshape(-1) if name in copies else self._counts(cell)
            fresh = counted - self._before[name]
            self._before[name] = self._counts(cell)  # zero where somebody has reset it, else what it goes on from
            if not fresh.sum() <= 0:  # NaN is news
                found[name] = [float(share) for share in fresh / fresh.sum()]
        return found

    def close(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
