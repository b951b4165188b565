# SPDX-License-Identifier: GPL-3.0-or-later
"""Times every hook of the package inside a real training, on the thread that torch calls it from."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from telltale.agent.hooks import Hook
from telltale.measure import Measurer
from telltale.pytorch.adoption import Adoption

USUAL = 50_000  # ns, 99 of 100 calls
LONGEST = 1_000_000  # ns


@dataclass
class Cost:
    """What the calls of the hooks took, in ns, without the statistics kernel."""

    took: dict[str, list[int]] = field(default_factory=dict)  # by class of hook
    voluntary: dict[str, int] = field(default_factory=dict)  # it was switched away as it waited, not for memory
    longest_on_the_wall: int = 0
    excused: int = 0

    @property
    def calls(self) -> int:
        return sum(map(len, self.took.values()))

    @property
    def longest(self) -> int:
        return max(max(times, default=0) for times in self.took.values())

    def p99(self, without: str = "") -> int:
        return _share(99, sorted(ns for name, times in self.took.items() if name != without for ns in times))

    def words(self) -> str:
        lines = []
        for name, times in sorted(self.took.items()):
            if times:
                times = sorted(times)
                figures = [_share(50, times), _share(99, times), times[-1]]
                us = ", ".join(f"{what} {ns / 1000:.1f}" for what, ns in zip(("median", "p99", "longest"), figures))
                lines.append(f"{name}: {len(times)} calls, us: {us}")
        lines.append(
            f"on the wall {self.longest_on_the_wall / 1000:.1f} us, {self.excused} calls excused, voluntary switches: "
            f"{self.voluntary or 'none'}"
        )
        return "\n".join(lines)


@contextmanager
def watched(measurer: Measurer) -> Iterator[Cost]:
    """Times every hook that is called inside, by replacing `__call__` of its class. Garbage is collected as ever, but
    not that of the tests before."""
    cost = Cost()
    clock = _Clock(cost)
    gc.collect()
    gc.freeze()
    try:
        with pytest.MonkeyPatch.context() as patch:
            for kind in [*_below(Hook), Adoption]:
                if "__call__" in vars(kind):
                    patch.setattr(kind, "__call__", clock.timed(kind.__name__, kind.__call__))
            for kernel in ("_tensor", "_batch"):
                patch.setattr(measurer, kernel, clock.apart(getattr(measurer, kernel)))
            yield cost
    finally:
        gc.unfreeze()


class _Clock:
    def __init__(self, cost: Cost) -> None:
        self._cost = cost
        self._kernel = 0  # ns in the statistics kernel, of the hook in progress

    def timed(self, name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
        cost = self._cost
        took = cost.took.setdefault(name, [])
        wall_now, cpu_now, usage_of = time.perf_counter_ns, time.thread_time_ns, resource.getrusage

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._kernel = 0
            before = usage_of(resource.RUSAGE_THREAD)
            cpu = cpu_now()
            start = wall_now()
            result = hook(*args, **kwargs)
            wall = wall_now() - start
            cpu = cpu_now() - cpu
            after = usage_of(resource.RUSAGE_THREAD)
            cost.longest_on_the_wall = max(cost.longest_on_the_wall, wall)
            if wall > USUAL and after.ru_nivcsw > before.ru_nivcsw:
                # The scheduler took the processor away inside: the time that the thread ran.
                cost.excused += 1
                wall = min(wall, cpu)
            # A page that is not there yet is fetched or waited for by the kernel, wherever a program touches it: a hook
            # that itself waits does so in calls without a page fault too.
            faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt
            if after.ru_nvcsw > before.ru_nvcsw and not faults:
                cost.voluntary[name] = cost.voluntary.get(name, 0) + after.ru_nvcsw - before.ru_nvcsw
            took.append(max(wall - self._kernel, 0))
            return result

        return timed

    def apart(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def apart(*args: Any) -> Any:
            start = time.thread_time_ns()
            try:
                return kernel(*args)
            finally:
                self._kernel += time.thread_time_ns() - start

        return apart


def _below(kind: type) -> list[type]:
    return [each for child in kind.__subclasses__() for each in (child, *_below(child))]


def _share(percent: int, ordered: list[int]) -> int:
    return ordered[len(ordered) * percent // 100]
