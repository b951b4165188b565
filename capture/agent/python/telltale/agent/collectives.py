# SPDX-License-Identifier: GPL-3.0-or-later
"""Collectives as those hear of them who listen: by call site, and in msprobe's words."""

from __future__ import annotations

import abc
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import numpy as np

# As msprobe's lists: ours, how a framework calls modules, and those of debuggers.
_HIDDEN_FRAMES = (
    "telltale/agent/", "telltale/pytorch/", "telltale/mindspore/", "torch/nn/modules/module.py", "mindspore/nn/cell.py",
    "mindspore/graph/", "mindspore/ops/composite/", "multiprocessing", "debugpy",
)  # fmt: skip
MAX_FRAMES = 64
MAX_STACKS = 256  # of one op in the log
_SAID = 8  # places of the log in its line


Parts = tuple[tuple[Any, ...], ...]  # per argument


@dataclass(frozen=True)
class CommEvent:
    """One collective on this rank, before or after it ran. The tensors are good for the length of the callback only."""

    op: str  # "all_reduce", as torch.distributed and msprobe call it
    is_post: bool
    parts: Parts  # argument i of the op -> its tensors: msprobe's pre_{i} / post_{i}
    site: str  # "path[line]   function" of the caller outside of the framework
    group: str  # name of the process group
    group_size: int = 0  # its ranks; 0 = not known
    started_ns: int = 0  # host's monotonic clock, of the call; 0 before it
    ended_ns: int = 0  # when its result had been waited for


class Listener(abc.ABC):
    """Who hears of collectives. Thread: the one that makes the call or waits for it. Nothing here raises."""

    wants_before = False  # hears of them before the call too
    logs = False  # takes notes
    never_waited = 0  # asynchronous calls whose result nobody waited for: not measured

    @abc.abstractmethod
    def note(self, op: str, frame: FrameType, parts: Parts, group: str) -> None:
        """A call from `frame`, whether wanted or not, in a process group."""

    def called_from(self, op: str, site: str, frame: FrameType) -> None:  # noqa: B027 (who keeps no stacks has none)
        """A call that is to be told is about to be made."""

    @abc.abstractmethod
    def wants(self, op: str, frame: FrameType) -> bool:
        """Is this call, made from `frame`, to be told?"""

    @abc.abstractmethod
    def tell(self, event: CommEvent) -> None: ...

    @abc.abstractmethod
    def failed(self, error: BaseException) -> None: ...


class Patch(Protocol):
    """What stands in for a framework's functions while somebody listens."""

    unknown: list[str]  # functions that it does not know

    def add(self, watch: Listener) -> None: ...
    def discard(self, watch: Listener) -> None: ...


class CollectiveWatch(Listener):
    """Tells `callback` about every selected collective. Thread: install and remove any; the callback runs in the thread
    that made the call or waited for it. An exception in it is reported and goes no further."""

    patch: Patch
    owner = ""  # of the functions that are replaced, in sentences

    def __init__(
        self,
        callback: Callable[[CommEvent], None] | None,
        codeline: Sequence[str] = (),
        pre_hook: bool = False,
        log_only: bool = False,
        report: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        """The keys of cc_distribution. codeline: expressions, any of which must be found in the caller's stack as
        msprobe writes it ("path[line]   function" joined by ";"); none = every call. pre_hook: also before the call.
        log_only: notes calls in `log` and measures nothing. report: (what, error) of internal errors."""
        self._callback = callback
        self.wants_before = pre_hook
        self._log_only = log_only
        self._report = report
        self._codeline: list[re.Pattern[str]] = []
        self.problems: list[str] = []  # sentences for the user
        for pattern in codeline:
            try:
                self._codeline.append(re.compile(pattern))
            except (re.error, TypeError) as error:
                self.problems.append(f"cc_codeline {pattern!r} is no regular expression and selects nothing: {error}")
        self._selects_all = not codeline
        self.logs = True  # until somebody has read the log
        self._stacks: dict[tuple[str, str], str] = {}  # of the first call from each op and site
        self.log: dict[str, dict[tuple[str, str, str], int]] = {}  # op -> (stack, dtypes, group) -> calls

    def install(self) -> None:
        """Starts watching. What the framework has and we do not know is added to `problems`."""
        self.patch.add(self)
        for name in self.patch.unknown:
            sentence = f"not observed: {self.owner}{name}, which this version of Telltale does not know"
            if sentence not in self.problems:
                self.problems.append(sentence)

    def remove(self) -> None:
        """Stops watching; the original methods are back when the last watch is gone."""
        self.patch.discard(self)

    def log_json(self) -> str:
        """What was called until now: op -> [{"stack", "dtype", "group", "calls"}]."""
        return json.dumps(
            {
                op: [
                    {"stack": stack.split(";"), "dtype": dtype, "group": group, "calls": calls}
                    for (stack, dtype, group), calls in sorted(entries.items())
                ]
                for op, entries in sorted(self.log.items())
            },
            indent=1,
        )

    def log_line(self) -> str:
        """The same for people, the first few of them: of a stack, the place that called."""
        said = [
            f"{op} {calls}x, {dtype}, group {group}, from {' '.join(stack.split(';')[0].rsplit('/', 1)[-1].split())}"
            for op, entries in sorted(self.log.items())
            for (stack, dtype, group), calls in sorted(entries.items())
        ]
        more = [f"{len(said) - _SAID} more"] if len(said) > _SAID else []
        return "; ".join(said[:_SAID] + more)

    def note(self, op: str, frame: FrameType, parts: Parts, group: str) -> None:
        """A call for the log: from where, with which element types, in which process group."""
        if not self.logs:
            return
        entries = self.log.setdefault(op, {})
        dtypes = dict.fromkeys(str(tensor.dtype) for tensors in parts for tensor in tensors)
        key = (call_stack(frame), ", ".join(dtypes), group)
        if key in entries or len(entries) < MAX_STACKS:
            entries[key] = entries.get(key, 0) + 1

    def called_from(self, op: str, site: str, frame: FrameType) -> None:
        """Keeps the stack of a site's first call."""
        if (op, site) not in self._stacks and len(self._stacks) < MAX_STACKS:
            self._stacks[op, site] = call_stack(frame)

    def stack_of(self, op: str, site: str) -> str:
        """The stack of a site's first call; the site alone where it was not kept."""
        return self._stacks.get((op, site), site)

    def wants(self, op: str, frame: FrameType) -> bool:
        """Is this call, made from `frame`, to be measured?"""
        if self._log_only:
            return False
        if self._selects_all:
            return True
        stack = call_stack(frame)
        return any(pattern.search(stack) for pattern in self._codeline)

    def tell(self, event: CommEvent) -> None:
        """Hands an event to the callback; never raises."""
        try:
            if self._callback is not None:
                self._callback(event)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Reports an internal error; never raises."""
        if self._report is not None:
            try:
                self._report("comm", error)
            except Exception:  # noqa: BLE001 - the reporter is ours as well
                pass


def call_stack(frame: FrameType | None) -> str:
    """The stack from `frame` on as msprobe's cc_codeline sees it: "path[line]   function", innermost first, ";"
    between, without frames of the monitor and of how modules are called."""
    lines: list[str] = []
    while frame is not None and len(lines) < MAX_FRAMES:
        path = frame.f_code.co_filename
        if not any(hidden in path for hidden in _HIDDEN_FRAMES):
            lines.append(f"{path}[{frame.f_lineno}]   {frame.f_code.co_name}")
        frame = frame.f_back
    return ";".join(lines)


def aggregate(op: str, values: Iterable[float]) -> float:
    """msprobe's one value per step of all calls of an op: smallest min, largest max, sum of norms and of nans, mean of
    means and of zeros. NaN spreads; no calls give NaN."""
    array = np.fromiter(values, np.float64)
    if array.size == 0:
        return math.nan
    with np.errstate(invalid="ignore", over="ignore"):
        if op == "min":
            return float(array.min())
        if op == "max":
            return float(array.max())
        if op in ("norm", "nans"):
            return float(array.sum())
        if op in ("mean", "zeros"):
            return float(array.mean())
    return math.nan
