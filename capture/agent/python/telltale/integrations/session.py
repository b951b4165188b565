# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from .. import short
from ..agent.monitor import Monitor
from ..kinds import Form


class Session:
    """One watched training of a library that calls back. Never raises for the monitor's reasons."""

    def __init__(self, config: Any, options: dict[str, Any]) -> None:
        """options: of telltale.watch() (name, join, sinks, ...)."""
        self._config = config
        self._options = options
        self.monitor: Monitor | None = None
        self._logged = -1

    def begin(self, model: Any, optimizer: Any, grad_acc_steps: int, start_step: int, clips: bool) -> None:
        """clips: the library clips gradients before the step, so that what the optimizer consumes is clipped."""
        steps = {"grad_acc_steps": max(1, int(grad_acc_steps)), "start_step": max(0, int(start_step))}
        self.monitor = short.watch(model, optimizer, self._config, **{**steps, **self._options})
        self._logged = start_step - 1
        engine = self.monitor.engine
        if clips and engine is not None:
            for source in engine.found.sources:
                source.form_reduced |= Form.CLIPPED

    def micro_step_begins(self) -> None:
        """For libraries that do not call the model they hand over: they say themselves when a micro step begins."""
        engine = self.monitor.engine if self.monitor is not None else None
        if engine is not None:
            engine.is_counted_outside = True
            engine.forward_begins()

    def last_step(self) -> int:
        """The optimizer step that has ended last, -1 before the first. Steps that a loss scaler skips do not count."""
        return self.monitor.step - 1 if self.monitor is not None else -1

    def has_new_step(self) -> bool:
        """Whether a step has ended since this said so last."""
        step = self.last_step()
        is_new, self._logged = step > self._logged, max(step, self._logged)
        return is_new

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        """Run metrics, of the step that has ended last unless one is named; what is no number is left out silently."""
        if self.monitor is None:
            return
        at = self.last_step() if step is None else step
        numbers = {name: value for name, value in values.items() if _is_number(value)}
        if numbers and at >= 0:
            self.monitor.log(numbers, at)

    def checkpoint(self, path: Any) -> None:
        """One was written, after the step that has ended last."""
        if self.monitor is not None and self.last_step() >= 0:
            self.monitor.log_document("checkpoint", "", path, self.last_step())

    def end(self, reason: str = "finished") -> None:
        """Flushes and closes, unless somebody else has begun another watch since."""
        monitor, self.monitor = self.monitor, None
        if monitor is None:
            return
        if short.current() is monitor:
            short.finish(reason)
        else:
            monitor.close(reason)


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    # A tensor on a device would have to be waited for.
    return hasattr(value, "numel") and value.numel() == 1 and bool(getattr(value, "is_cpu", False))
