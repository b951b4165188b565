# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import numpy as np

from ..agent import optimizerparts
from ..bins import EDGES


class UpdatePart(optimizerparts.UpdatePart):
    """By numpy, on the moments as they lie in the host's memory (from a device they are fetched)."""

    def moved(self, m: Any, v: Any, steps: int, betas: tuple[float, float], eps: float) -> tuple[Any, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = m.asnumpy().astype(np.float32) / np.float32(1 - betas[0] ** steps)
            root = np.sqrt(v.asnumpy().astype(np.float32) / np.float32(1 - betas[1] ** steps))
            ratio = mean / root
            ratio[(mean == 0) & (root == 0)] = 0
            return mean / (root + np.float32(eps)), ratio

    def counts(self, tensor: Any) -> Any:
        inside, _ = np.histogram(tensor, EDGES)
        return np.array([(tensor < -1).sum(), *inside, (tensor > 1).sum()], np.float64)
