# SPDX-License-Identifier: GPL-3.0-or-later
"""What a static-graph job says of itself: arguments of the callback, MindFormers' own callbacks beside it, the step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .numbers import number, original
from .settings import FORMATS

_LOSS, _STATE, _BALANCE = "MFLossMonitor", "TrainingStateMonitor", "TopkBiasBalanceCallback"


@dataclass
class Beside:
    """MindFormers' callbacks in the same training: what they write to files and log is not written twice."""

    loss: Any = None
    state: Any = None
    balance: Any = None

    @classmethod
    def of(cls, callbacks: Any) -> Beside:
        by_name = {type(one).__name__: one for one in getattr(callbacks, "_callbacks", None) or callbacks or ()}
        return cls(by_name.get(_LOSS), by_name.get(_STATE), by_name.get(_BALANCE))

    def monitor_config(self) -> dict[str, Any] | None:
        """As TrainingStateMonitor was given it."""
        if self.state is None:
            return None
        found: dict[str, Any] = {"monitor_on": True}
        for name in (*FORMATS, "target", "invert", "step_interval", "throughput_baseline", "print_struct"):
            value = getattr(self.state, name, None)
            found[name] = sorted(value) if isinstance(value, (set, frozenset)) else value
        if getattr(self.state, "sr_format", None):
            found["stable_rank_config"] = {
                "format": self.state.sr_format,
                "step_interval": self.state.sr_step_interval,
                "target": self.state.sr_target,
                "moe_show_mode": self.state.moe_show_mode,
            }
        return found


@dataclass
class StepOutput:
    """What the training cell gave: loss, whether it overflowed, loss scale, learning rate, norm of all gradients."""

    loss: float | None = None
    is_overflow: bool = False
    scale: float | None = None
    rate: float | None = None
    norm: float | None = None

    @classmethod
    def of(cls, outputs: Any) -> StepOutput:
        """From net_outputs: a loss alone, or a tuple that begins with loss, overflow and scale."""
        if not isinstance(outputs, (tuple, list)):
            return cls(number(outputs))
        if len(outputs) not in (3, 4, 5, 7):
            return cls(number(outputs[0]) if outputs else None)
        rest = [number(one) for one in outputs[1:5]]
        rest += [None] * (4 - len(rest))
        return cls(number(outputs[0]), bool(rest[0]), rest[1] or None, rest[2], rest[3])


def rate_now(given: Any, optimizer: Any) -> float | None:
    """The learning rate where the training cell does not say it: the argument, else the optimizer's. A schedule is
    asked for the step that has just been taken."""
    rate = given if given is not None else getattr(optimizer, "learning_rate", None)
    if callable(rate) and hasattr(rate, "construct"):
        try:
            return number(rate(optimizer.global_step - 1))
        except Exception:  # noqa: BLE001 - no kernel for it here
            return None
    return number(rate)


def board_folder() -> str:
    """The folder of MindFormers' own event files in this job; empty without."""
    module = original("utils.tensorboard")
    writer = module.get_tensorboard_writer() if module is not None else None
    return str(getattr(writer, "logdir", "") or "")
