# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ..agent import hooks
from .compiled import is_recording


class Call(hooks.Call):
    __slots__ = ()

    def __call__(self, *args: Any) -> None:
        if not is_recording():
            self.call(*args)
        return None
