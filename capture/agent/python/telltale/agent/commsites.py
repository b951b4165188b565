# SPDX-License-Identifier: GPL-3.0-or-later
"""Where collectives are called from: what each call site moved in a step, when, and what is said of it once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .collectives import CommEvent

# Run metrics of a call site and step, "telltale.comm.bytes/all_reduce (train.py[55] main)": for the dashboard, not for
# files. begin_ns and end_ns are of the first call and of the end of the last one.
PREFIX = "telltale.comm."
TIMES = (
    "host's clock: from the call until the caller had waited for its result, what it did in between included; on a "
    "device the wait is over when it is queued, not when the data have come"
)
MAX_SITES = 256
MAX_WORDS = 16  # element types and groups of one site


@dataclass
class _Site:
    op: str
    line: str
    stack: str
    dtypes: list[str] = field(default_factory=list)
    groups: dict[str, int] = field(default_factory=dict)  # name -> ranks, 0 where it is not known
    calls: int = 0
    size: int = 0
    seconds: float = 0.0
    begin_ns: int = 0  # of the host's monotonic clock
    end_ns: int = 0


def site_name(op: str, site: str) -> str:
    """all_reduce and "/a/b/train.py[55]   main" -> "all_reduce (train.py[55] main)"."""
    path, _, rest = site.partition("[")
    return f"{op} ({os.path.basename(path)}[{' '.join(rest.split())})"


class CommSites:
    """Thread: the one that calls the collective or waits for it."""

    def __init__(self, stack_of: Callable[[str, str], str]) -> None:
        """stack_of(op, site): the stack of its first call."""
        self._stack_of = stack_of
        self._sites: dict[str, _Site] = {}
        self._is_new = False

    def add(self, event: CommEvent) -> None:
        """A call whose result the caller has waited for."""
        name = site_name(event.op, event.site)
        site = self._sites.get(name)
        if site is None:
            if len(self._sites) == MAX_SITES:
                return
            site = self._sites[name] = _Site(event.op, event.site, self._stack_of(event.op, event.site))
            self._is_new = True
        site.calls += 1
        for tensors in event.parts:
            for tensor in tensors:
                site.size += tensor.numel() * tensor.itemsize
                dtype = str(tensor.dtype)
                if dtype not in site.dtypes and len(site.dtypes) < MAX_WORDS:
                    site.dtypes.append(dtype)
                    self._is_new = True
        if event.group not in site.groups and len(site.groups) < MAX_WORDS:
            site.groups[event.group] = event.group_size
            self._is_new = True
        if event.started_ns:
            site.seconds += (event.ended_ns - event.started_ns) * 1e-9
            site.begin_ns = min(site.begin_ns or event.started_ns, event.started_ns)
            site.end_ns = max(site.end_ns, event.ended_ns)

    def take(self) -> dict[str, float]:
        """The step's run metrics by name; the next step begins."""
        values: dict[str, float] = {}
        to_unix = time.time_ns() - time.perf_counter_ns()
        for name, site in self._sites.items():
            if not site.calls:
                continue
            values[f"{PREFIX}calls/{name}"] = float(site.calls)
            values[f"{PREFIX}bytes/{name}"] = float(site.size)
            if site.end_ns:
                values[f"{PREFIX}seconds/{name}"] = site.seconds
                values[f"{PREFIX}begin_ns/{name}"] = float(site.begin_ns + to_unix)
                values[f"{PREFIX}end_ns/{name}"] = float(site.end_ns + to_unix)
            site.calls, site.size, site.seconds, site.begin_ns, site.end_ns = 0, 0, 0.0, 0, 0
        return values

    def description(self) -> bytes | None:
        """All call sites as JSON, where something of them is new."""
        if not self._is_new:
            return None
        self._is_new = False
        sites = [
            {
                "name": name,
                "op": site.op,
                "line": site.line,
                "stack": _from_site(site.stack.split(";"), site.line),
                "dtypes": site.dtypes,
                "groups": [{"name": group, "ranks": ranks} for group, ranks in site.groups.items()],
            }
            for name, site in self._sites.items()
        ]
        return json.dumps({"times": TIMES, "sites": sites}).encode()


def _from_site(stack: list[str], line: str) -> list[str]:
    """Without the frames of torch.distributed itself."""
    return stack[stack.index(line) :] if line in stack else stack
