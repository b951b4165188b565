# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of TrainerMon's methods, in the documents' order and in msprobe's own."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..console import log

DOCUMENTED = ("grad_acc_steps", "optimizer", "dp_group", "tp_group", "start_iteration")
MSPROBE = ("optimizer", "grad_acc_steps", "tp_group", "dp_group", "start_iteration")


def watched(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """set_monitor()'s arguments behind the model, by name; what is wrong with them is said. Positional ones are in the
    documented order where the first is a number or the second an optimizer."""
    by_document = bool(args) and (isinstance(args[0], Integral) or len(args) > 1 and hasattr(args[1], "param_groups"))
    names = DOCUMENTED if by_document else MSPROBE
    values = {**dict.fromkeys(names), **{name: kwargs.pop(name) for name in names if name in kwargs}}
    for name, value in zip(names, args):
        if values[name] is not None:
            log.warning("set_monitor() was given %s twice; the one by its place is used", name)
        values[name] = value
    if len(args) > len(names):
        log.warning("set_monitor() was given %d positional arguments and takes %d", len(args) + 1, len(names) + 1)
    refuse("set_monitor", kwargs, ("model", *DOCUMENTED))
    values["grad_acc_steps"] = _at_least(values["grad_acc_steps"], 1, 1, "grad_acc_steps")
    values["start_iteration"] = _at_least(values["start_iteration"], 0, 0, "start_iteration")
    return values


def refuse(function: str, unknown: dict[str, Any], known: tuple[str, ...]) -> None:
    """Says which arguments a function does not have."""
    for name in unknown:
        log.warning("%s() has no argument %r, which is left out; it has %s", function, name, ", ".join(known))


def _at_least(value: Any, low: int, default: int, name: str) -> int:
    if value is None:
        return default
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low:
        return int(value)
    log.warning("%s is %r; it must be a whole number from %d; %d is used", name, value, low, default)
    return default
