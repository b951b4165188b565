# SPDX-License-Identifier: GPL-3.0-or-later
"""The class patch of torch.distributed beneath those who listen: methods of ProcessGroup and Work.wait."""

from __future__ import annotations

import functools
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch

from ..agent.collectives import CommEvent, Listener, Parts
from ..agent.cost import timed
from ..quiet import plain

# Methods of ProcessGroup in any torch since 2.1 -> the function of torch.distributed that they serve.
METHODS = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce_coalesced",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "scatter": "scatter",
    "gather": "gather",
    "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter_tensor",
    "reduce_scatter_single": "reduce_scatter_tensor",
    "reduce_scatter_tensor_coalesced": "reduce_scatter_tensor_coalesced",
    "reduce_scatter_single_coalesced": "reduce_scatter_tensor_coalesced",
    "allgather": "all_gather",
    "allgather_coalesced": "all_gather_coalesced",
    "_allgather_base": "all_gather_into_tensor",
    "all_gather_single": "all_gather_into_tensor",
    "allgather_into_tensor_coalesced": "all_gather_into_tensor_coalesced",
    "all_gather_single_coalesced": "all_gather_into_tensor_coalesced",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single",
    "all_to_all_single": "all_to_all_single",
    "send": "send",
    "recv": "recv",
    "recv_anysource": "recv",
}
# The rest of the class as of torch 2.13: no tensors pass here.
_OTHER_METHODS = frozenset(
    "BackendType _backend_id _device_types _enable_collectives_timing _end_coalescing _get_backend _get_backend_name "
    "_get_sequence_number_for_group _has_hooks _id _pybind11_conduit_v1_ _register_backend "
    "_register_on_completion_hook _set_default_backend _set_group_desc _set_group_name _set_sequence_number_for_group "
    "_start_coalescing _wait_for_pending_works abort barrier bound_device_id boxed get_group_store group_desc "
    "group_name merge_remote_group monitored_barrier name rank set_timeout shutdown size split_group unbox "
    "use_pg_for_symm_mem_rendezvous".split()
)
# Functions of torch.distributed that say more than the method they end in.
_PUBLIC = frozenset("isend irecv batch_isend_irecv all_to_all_single".split()) | frozenset(METHODS.values())
_C10D_FILES = ("distributed_c10d.py", "c10d_logger.py", "contextlib.py")
MAX_PENDING = 4096  # asynchronous calls waited for at the same time
_HERE = {function.__code__.co_filename for function in (lambda: None, timed)}


def _op_and_site(method: str, frame: FrameType | None) -> tuple[str, str]:
    """The op by the outermost function of torch.distributed that says it, and the line that called it."""
    op = METHODS[method]
    while frame is not None and frame.f_code.co_filename.endswith(_C10D_FILES):
        if frame.f_code.co_name in _PUBLIC:
            op = frame.f_code.co_name
        frame = frame.f_back
    if frame is None:
        return op, ""
    return op, f"{frame.f_code.co_filename}[{frame.f_lineno}]   {frame.f_code.co_name}"


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        dense = plain(value)
        return [] if dense is None else [dense]
    if isinstance(value, (list, tuple)):
        return [tensor for entry in value for tensor in _tensors(entry)]
    return []


def _parts(method: str, args: Iterable[Any]) -> Parts:
    """The tensors of a call, per argument, in the order of torch.distributed's function."""
    found = [tuple(tensors) for arg in args if (tensors := _tensors(arg))]
    if method == "gather":  # the method has (outputs, inputs), the function (tensor, gather_list)
        found.reverse()
    return tuple(found)


@dataclass
class _Call:
    """A running collective and who wants to know its result."""

    event: CommEvent
    watches: tuple[Listener, ...]
    started_ns: int = 0

    def finish(self) -> None:
        event = self.event
        if self.started_ns:
            event = replace(event, started_ns=self.started_ns, ended_ns=time.perf_counter_ns())
        for watch in self.watches:
            watch.tell(event)


def _size_of(group: Any) -> int:
    try:
        return int(group.size())
    except Exception:  # noqa: BLE001 - a group of another sort: its size is not known
        return 0


class _Patch:
    """The replaced methods; one for the process, since there is one class to patch. Thread: any."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._watches: tuple[Listener, ...] = ()
        self._originals: list[tuple[type, str, Any, Any]] = []  # class, name, what stood in its __dict__, ours
        self._pending: dict[int, tuple[weakref.ref[Any], list[_Call]]] = {}
        self._local = threading.local()
        self.unknown: list[str] = []

    def add(self, watch: Listener) -> None:
        with self._lock:
            if watch in self._watches:
                return
            self._watches += (watch,)
            if not self._originals and torch.distributed.is_available():
                self._install()

    def discard(self, watch: Listener) -> None:
        with self._lock:
            self._watches = tuple(other for other in self._watches if other is not watch)
            if self._watches:
                return
            for owner, name, original, ours in reversed(self._originals):
                if owner.__dict__.get(name) is ours:
                    setattr(owner, name, original)
            self._originals = []
            self._pending.clear()

    def _install(self) -> None:
        group = torch.distributed.ProcessGroup
        self.unknown = sorted(
            name
            for name in group.__dict__
            if not name.startswith("__") and name not in METHODS and name not in _OTHER_METHODS and not name.isupper()
        )
        for name in METHODS:
            self._replace(group, name, self._collective)
        self._replace(group, "_start_coalescing", self._start_coalescing)
        self._replace(group, "_end_coalescing", self._end_coalescing)
        self._replace(torch.distributed.Work, "wait", self._wait)

    def _replace(self, owner: type, name: str, run: Callable[..., Any]) -> None:
        # Put back later is what stands in __dict__: the bound form that getattr gives loses `self`.
        stored = owner.__dict__.get(name)
        if stored is None:
            return
        original = getattr(owner, name)

        @functools.wraps(original, assigned=("__name__", "__doc__"), updated=())
        def ours(self: Any, *args: Any, **kwargs: Any) -> Any:
            return run(name, original, self, args, kwargs)

        self._originals.append((owner, name, stored, ours))
        setattr(owner, name, ours)

    def _collective(self, name: str, original: Any, group: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = None
        is_inner = getattr(self._local, "is_busy", False)  # a callback that communicates: it must not, but no recursion
        if self._watches and not is_inner and not torch.compiler.is_compiling():
            call = self._guarded(self._announce, name, group, args, kwargs)
        if call is not None:
            call.started_ns = time.perf_counter_ns()
        work = original(group, *args, **kwargs)
        if call is not None:
            self._guarded(self._started, call, work)
        return work

    def _announce(self, name: str, group: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call | None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename in _HERE:
            frame = frame.f_back
        if frame is None:
            return None
        op, site = _op_and_site(name, frame)
        parts: Parts | None = None
        group_name = getattr(group, "group_name", "")
        if any(watch.logs for watch in self._watches):
            parts = _parts(name, (*args, *kwargs.values()))
            for watch in self._watches:
                watch.note(op, frame, parts, group_name)
        watches = tuple(watch for watch in self._watches if watch.wants(op, frame))
        if not watches:
            return None
        if parts is None:
            parts = _parts(name, (*args, *kwargs.values()))
        size = _size_of(group)
        for watch in watches:
            watch.called_from(op, site, frame)
        before = tuple(watch for watch in watches if watch.wants_before)
        if before:
            _Call(CommEvent(op, False, parts, site, group_name, size), before).finish()
        return _Call(CommEvent(op, True, parts, site, group_name, size), watches)

    def _started(self, call: _Call, work: Any) -> None:
        coalesced = getattr(self._local, "coalesced", None)
        if coalesced is not None and len(coalesced) < MAX_PENDING:
            coalesced.append(call)
        elif work is None:  # this backend ordered the caller's stream after the collective by itself
            call.finish()
        else:
            self._await(work, [call])

    def _await(self, work: Any, calls: list[_Call]) -> None:
        key = id(work)
        with self._lock:
            if len(self._pending) < MAX_PENDING:
                reference = weakref.ref(work, functools.partial(self._lost, key))
                self._pending[key] = (reference, calls)
                return
        self._count_lost(calls)

    def _lost(self, key: int, reference: Any) -> None:
        """The caller threw a Work away without waiting for it."""
        with self._lock:
            entry = self._pending.get(key)
            if entry is None or entry[0] is not reference:
                return
            del self._pending[key]
        self._count_lost(entry[1])

    @staticmethod
    def _count_lost(calls: list[_Call]) -> None:
        for call in calls:
            for watch in call.watches:
                watch.never_waited += 1

    def _wait(self, _name: str, original: Any, work: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = original(work, *args, **kwargs)
        if self._pending:
            self._guarded(self._waited, work)
        return result

    def _waited(self, work: Any) -> None:
        with self._lock:
            entry = self._pending.get(id(work))
            if entry is None or entry[0]() is not work:
                return
            del self._pending[id(work)]
        for call in entry[1]:
            call.finish()

    def _start_coalescing(self, _name: str, original: Any, group: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = original(group, *args, **kwargs)
        self._local.coalesced = []
        return result

    def _end_coalescing(self, _name: str, original: Any, group: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        calls = getattr(self._local, "coalesced", None)
        self._local.coalesced = None
        work = original(group, *args, **kwargs)
        if calls:
            if work is None:
                self._guarded(lambda: [call.finish() for call in calls])
            else:
                self._guarded(self._await, work, calls)
        return work

    @timed
    def _guarded(self, function: Callable[..., Any], *args: Any) -> Any:
        """The function's result; None after an exception, which the watches hear of."""
        self._local.is_busy = True
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            for watch in self._watches:
                watch.failed(error)
            return None
        finally:
            self._local.is_busy = False


patch = _Patch()
