# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ... import short
from ...console import log
from .numbers import is_pynative

_NOT_ASKED = (None, False)


class AgentWatch:
    """telltale.mindspore beside the callback: tensors of the model in the same run, where they are asked for."""

    def __init__(self, config: Any, options: dict[str, Any]) -> None:
        """config: True for everything, a monitor's config (a path, JSON text or mapping), None or False for nothing."""
        self._config = config
        self._options = dict(options)
        self._monitor: Any = None

    def begin(self, model: Any, optimizer: Any, first_step: int) -> None:
        if self._config in _NOT_ASKED:
            return
        if not is_pynative():
            log.warning("watch= looks at tensors by hooks, which PyNative mode alone has: only metrics are streamed")
            return
        options = dict(self._options)
        name = options.pop("run_name", None)
        config = None if self._config is True else self._config
        self._monitor = short.watch(model, optimizer, config, name=name, start_step=first_step, **options)

    def end(self, reason: str) -> None:
        """Unless somebody else has begun another watch since."""
        monitor, self._monitor = self._monitor, None
        if monitor is None:
            return
        if short.current() is monitor:
            short.finish(reason)
        else:
            monitor.close(reason)
