# SPDX-License-Identifier: GPL-3.0-or-later
"""What MindSpore is doing right now. The names of its private parts stand here alone."""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import Any, Callable

import mindspore as ms
from mindspore.context import _context

from ..console import log

try:
    from mindspore.graph.api import _pynative_executor as _executor
except ImportError:  # before 2.8
    from mindspore.common.api import _pynative_executor as _executor
try:
    from mindspore.common.api import _no_grad as no_grad
except ImportError:
    no_grad = contextlib.nullcontext

# The number of the backward pass that this thread is in, -1 outside of one.
backward_pass: Callable[[], int] = getattr(_executor, "get_current_autodiff_engine_id", lambda: -1)
is_recorded: Callable[[], bool] = _executor.requires_grad  # whether what runs now is recorded for a backward pass

try:
    from mindspore._c_expression import RuntimeConf

    _conf: Any = RuntimeConf.get_instance()
    is_blocking: Callable[[], bool] = _conf.is_launch_blocking  # whether a tensor is there as soon as it is made
except (ImportError, AttributeError):

    def is_blocking() -> bool:
        return bool(ms.get_context("pynative_synchronize"))


def after_backward(call: Callable[[], None]) -> None:
    """Calls back when the backward pass that is under way is over."""
    _executor.queue_backward_final_callback(call)


def is_graph_mode() -> bool:
    """Whether whole nets are compiled: a hook would become part of what is compiled, and could end the training."""
    return bool(ms.get_context("mode") == ms.GRAPH_MODE)


_told_of_modes: weakref.WeakSet[Any] = weakref.WeakSet()


def tell_of_modes(whom: Any) -> None:
    """whom.mode_changed() is called when set_context() has put another mode in force, as long as `whom` lives. Nothing
    else says so before the first net is compiled with the hooks that it has, which can end the training."""
    _told_of_modes.add(whom)
    setters = getattr(type(_context()), "setters", {})  # what set_context(mode=...) calls, by whatever name that goes
    genuine = setters.get("mode")
    if genuine is None or hasattr(genuine, "tells"):
        return

    @functools.wraps(genuine)
    def set_mode(context: Any, mode: Any) -> Any:
        before = is_graph_mode()
        given = genuine(context, mode)
        for one in list(_told_of_modes) if is_graph_mode() != before else ():
            try:
                one.mode_changed()
            except Exception as error:  # noqa: BLE001
                log.warning("the change of the mode was not taken over: %s: %s", type(error).__name__, error)
        return given

    set_mode.tells = True  # type: ignore[attr-defined]
    setters["mode"] = set_mode


def is_recompute() -> bool:
    """Whether this forward runs inside a backward pass: recomputation computes again what was seen."""
    return backward_pass() >= 0


def is_on_host() -> bool:
    """Whether tensors lie in memory that this process may read."""
    return bool(ms.get_context("device_target") == "CPU")
