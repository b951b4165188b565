# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import sys
from typing import Any

import torch

_MOST_FRAMES = 24
_STEP_CODES = {
    function.__code__
    for function in (
        getattr(owner, "step", None)
        for owner in (
            getattr(torch.amp, "GradScaler", None),
            getattr(torch.cuda.amp, "GradScaler", None),
        )
    )
    if function is not None and hasattr(function, "__code__")
}


def unscales_itself(optimizer: Any) -> bool:
    """Whether an optimizer is given gradients as a loss scaler has scaled them."""
    return getattr(optimizer, "grad_scale", None) is not None


def steps_under_grad_scaler() -> bool:
    """Whether the optimizer step that is running was called by a GradScaler; walks the Python stack, 10 us or so."""
    frame: Any = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if frame.f_code in _STEP_CODES:
            return True
        frame = frame.f_back
    return False
