# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through MindSpore's collectives, by call site.

The functions of `mint.distributed` and `communication.comm_func` are replaced in their modules while somebody watches:
that sees calls through the module, not through a name that was imported from it before. The primitives (`ops.AllReduce`
and its kin) are classes whose call is replaced, too. Nothing here waits for, polls or starts a collective: what a call
gave is looked at when it has returned, or when its handle has been waited for.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Callable

from mindspore import Tensor, ops

from ..agent import collectives, commpart
from ..agent.collectives import CommEvent, Listener, Parts
from ..agent.cost import timed

_MODULES = ("mindspore.mint.distributed", "mindspore.communication.comm_func")
_FUNCTIONS = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_to_all",
    "all_to_all_single", "all_to_all_with_output_shape", "all_to_all_single_with_output_shape", "broadcast", "gather",
    "gather_into_tensor", "reduce", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven",
    "scatter", "scatter_tensor", "send", "recv", "isend", "irecv",
)  # fmt: skip
_PRIMITIVES = {
    "AllReduce": "all_reduce", "AllGather": "all_gather", "Broadcast": "broadcast", "ReduceScatter": "reduce_scatter",
    "AlltoAll": "all_to_all", "NeighborExchange": "neighbor_exchange",
}  # fmt: skip
NOT_OBSERVED = (
    "collectives inside compiled code (@jit, nn.DistributedGradReducer's own) never pass Python: their result is in "
    "the reduced gradients",
    "collectives called by a name that was imported from its module before the watch began",
)
_HIDDEN = ("telltale/agent/", "telltale/mindspore/")


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    return [tensor for entry in value for tensor in _tensors(entry)] if isinstance(value, (list, tuple)) else []


def _parts(values: Iterable[Any]) -> Parts:
    return tuple(tuple(tensors) for value in values if (tensors := _tensors(value)))


class _Waited:
    """An asynchronous call's handle, and what is to be done once it has been waited for."""

    def __init__(self, handle: Any, then: Callable[[], None]) -> None:
        self._handle, self._then = handle, then

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        result = self._handle.wait(*args, **kwargs)
        then, self._then = self._then, lambda: None
        then()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)


class _Patch:
    """The replaced functions; one for the process. Thread: any."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._lock = threading.RLock()
        self._watches: tuple[Listener, ...] = ()
        self._originals: list[tuple[Any, str, Any, Any]] = []  # owner, name, what stood there (None = nothing), ours
        self._local = threading.local()

    def add(self, watch: Listener) -> None:
        with self._lock:
            if watch not in self._watches:
                self._watches += (watch,)
            if not self._originals:
                self._install()

    def discard(self, watch: Listener) -> None:
        with self._lock:
            self._watches = tuple(other for other in self._watches if other is not watch)
            if self._watches:
                return
            for owner, name, original, ours in reversed(self._originals):
                if vars(owner).get(name) is not ours:
                    continue  # somebody else has replaced it since
                if original is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)
            self._originals = []

    def _install(self) -> None:
        for module_name in _MODULES:
            try:
                module = importlib.import_module(module_name)
            except ImportError:
                continue
            for name in _FUNCTIONS:
                if callable(original := getattr(module, name, None)):
                    self._replace(module, name, original, name, False)
        for name, op in _PRIMITIVES.items():
            primitive = getattr(ops, name, None)
            if primitive is not None:
                self._replace(primitive, "__call__", primitive.__call__, op, True)

    def _replace(self, owner: Any, name: str, original: Any, op: str, is_method: bool) -> None:
        @functools.wraps(original)
        def ours(*args: Any, **kwargs: Any) -> Any:
            return self._called(op, original, args, kwargs, is_method)

        self._originals.append((owner, name, vars(owner).get(name), ours))
        setattr(owner, name, ours)

    def _called(self, op: str, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any], is_method: bool) -> Any:
        call = None
        if self._watches and not getattr(self._local, "depth", 0):  # the outermost function says what it is
            given = (*args[1 if is_method else 0 :], *kwargs.values())
            group = kwargs.get("group") or (getattr(args[0], "group", "") if is_method else "")
            call = self._guarded(self._announce, op, given, str(group or ""))
        self._local.depth = getattr(self._local, "depth", 0) + 1
        started = time.perf_counter_ns()
        try:
            result = original(*args, **kwargs)
        finally:
            self._local.depth -= 1
        if call is None:
            return result
        event, watches = call

        def finish() -> None:
            after = event
            # What comes back is the result; who gives nothing back has put it into what was given.
            given_back = _parts([result]) if is_method or not event.parts else ()
            after = replace(event, parts=given_back or event.parts, started_ns=started, ended_ns=time.perf_counter_ns())
            for watch in watches:
                watch.tell(after)

        handle = result[-1] if isinstance(result, tuple) and result else result
        if hasattr(handle, "wait") and not isinstance(handle, Tensor):
            waited = _Waited(handle, lambda: self._guarded(finish))
            return waited if handle is result else (*result[:-1], waited)
        self._guarded(finish)
        return result

    def _announce(self, op: str, given: Iterable[Any], group: str) -> tuple[CommEvent, tuple[Listener, ...]] | None:
        frame: Any = sys._getframe(1)
        while frame is not None and _is_hidden(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return None
        parts = _parts(given)
        site = f"{frame.f_code.co_filename}[{frame.f_lineno}]   {frame.f_code.co_name}"
        for watch in self._watches:
            if watch.logs:
                watch.note(op, frame, parts, group)
        watches = tuple(watch for watch in self._watches if watch.wants(op, frame))
        for watch in watches:
            watch.called_from(op, site, frame)
            if watch.wants_before:
                watch.tell(CommEvent(op, False, parts, site, group))
        return (CommEvent(op, True, parts, site, group), watches) if watches else None

    @timed
    def _guarded(self, function: Callable[..., Any], *args: Any) -> Any:
        """The function's result; None after an exception, which the watches hear of."""
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            for watch in self._watches:
                watch.failed(error)
            return None


def _is_hidden(path: str) -> bool:
    return "site-packages/mindspore/" in path or any(f"/{hidden}" in path for hidden in _HIDDEN)


patch = _Patch()


class CollectiveWatch(collectives.CollectiveWatch):
    patch = patch


class CommPart(commpart.CommPart):
    watch = CollectiveWatch
    unseen = NOT_OBSERVED
