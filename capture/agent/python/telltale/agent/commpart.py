# SPDX-License-Identifier: GPL-3.0-or-later
"""cc_distribution: statistics of what passes through collectives, per step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kinds import Kind
from ..series import PRESENT, Extra, SeriesDesc, SeriesTable
from ..slots import Role, Slot
from .clock import Clock
from .collectives import CollectiveWatch, CommEvent, aggregate
from .commsites import CommSites, site_name
from .measurer import At
from .part import Part, Stepping

_Key = tuple[Extra, str, Role, int]  # which form, name, before or after the call, argument
_MOST_CALLS = 4096  # of one op and argument in one step


class StopAfterCcLog(RuntimeError):
    """cc_log_only with telltale.stop_after_cc_log: the config asks for the training to end."""


class CommPart(Part):
    """One series per op and argument ("all_reduce", "post_0"), over all its calls of a step as msprobe has it: smallest
    min, largest max, sum of norms and of NaN, mean of means and of zeros; or one per op, call site and argument; or
    both, where sinks want different ones. What lies on a device is measured there, in the order of the caller's stream,
    and fetched with the step's other results. Thread: the one that calls the collective."""

    what = Kind.COMM.word
    watch: type[CollectiveWatch]
    unseen: tuple[str, ...] = ()  # what the framework lets nobody see

    def __init__(self, engine: Clock) -> None:
        super().__init__(engine)
        wanted = engine.config.cc_distribution
        self._forms = [form for form in (Extra.CALLS_BY_OP, Extra.CALLS_BY_SITE) if form & engine.dispatcher.wants]
        self._log_only = wanted.cc_log_only
        self._watch = self.watch(
            self._seen, wanted.cc_codeline, wanted.cc_pre_hook, wanted.cc_log_only, engine.strikes.add
        )
        self._sites = CommSites(self._watch.stack_of)
        self._scratch = SeriesTable(Kind.COMM, capacity=_MOST_CALLS, is_scratch=True)
        self._calls: dict[_Key, list[int]] = {}
        self._on_device: dict[_Key, list[Any]] = {}
        self._first: dict[_Key, Any] = {}
        self._rows: dict[_Key, int] = {}
        self._marks: dict[str, int] = {}
        self._used = 0
        self._steps = 0
        for sentence in self._watch.problems:
            engine.tell(sentence)

    def collect(self, on: bool) -> None:
        """Installs or takes back the class patch."""
        if on:
            self._watch.install()
            engine = self._engine()
            if engine is not None:
                for sentence in (*self._watch.problems, *(f"not observed: {words}" for words in self.unseen)):
                    engine.tell(sentence)
        else:
            self._watch.remove()

    def _seen(self, event: CommEvent) -> None:
        engine = self._engine()
        if engine is None or not engine.collecting or engine.strikes.is_off("comm") or not self._forms:
            return
        if event.is_post:
            self._sites.add(event)
        when = Role.AFTER if event.is_post else Role.BEFORE
        names = {Extra.CALLS_BY_OP: event.op, Extra.CALLS_BY_SITE: site_name(event.op, event.site)}
        for i, tensors in enumerate(event.parts):
            keys = [(form, names[form], when, i) for form in self._forms]
            for tensor in tensors:
                if self._used == _MOST_CALLS:
                    engine.tell(
                        f"more than {_MOST_CALLS} tensors went through collectives in one step; the rest is left out"
                    )
                    return
                row = self._used
                self._used += 1
                why = engine.measurer.refusal(tensor)
                if not why and tensor.numel() == 0:
                    continue
                if not why and not self._is_on_host(tensor):
                    values = self.there(engine, tensor)
                    for key in keys:
                        self._on_device.setdefault(key, []).append(values)
                elif not why:
                    why = self._measure(engine, tensor, keys, row)
                if why:
                    engine.not_observed(Kind.COMM, names[self._forms[-1]], why)
                    continue
                for key in keys:
                    self._first.setdefault(key, engine.framework.described(tensor))

    def _is_on_host(self, tensor: Any) -> bool:
        return bool(getattr(tensor, "is_cpu", True))

    def there(self, engine: Clock, tensor: Any) -> Any:
        """Statistics of a tensor on a device, to stay there until pooled() has them."""
        raise NotImplementedError

    def pooled(self, there: list[Any], here: np.ndarray) -> Any:
        """As _pooled(), of what there() gave and `here`: STATS of calls with host tensors."""
        raise NotImplementedError

    def _measure(self, engine: Clock, tensor: Any, keys: list[_Key], row: int) -> str:
        while len(self._scratch) <= row:
            self._scratch.add(SeriesDesc("what passes through a collective"))
        self._scratch.results["flags"][row] = 0
        why = engine.measurer.one(tensor, self._scratch, row)
        for key in keys if not why else ():
            self._calls.setdefault(key, []).append(row)
        return why

    def before_step(self, stepping: Stepping) -> None:
        """Prints the log before the second optimizer step, as the documents have it; not an empty one."""
        if self._steps == 1 and self._watch.logs:
            self._watch.logs = False
            self._tell_log(self.engine)

    def _tell_log(self, engine: Clock) -> None:
        what = "collectives by call site, element type and process group"
        if self._watch.log:
            text = self._watch.log_json()
            engine.dispatcher.event("log", engine.step, f"{what}: {self._watch.log_line()}", text)
            if engine.rank == min(engine.config.module_ranks or [0]):
                print(f"telltale: {what}:\n{text}", flush=True)
        if not self._log_only:
            return
        done = "the collectives have been logged" if self._watch.log else "no collective has been called"
        if engine.config.stop_after_cc_log:
            engine.stop_because = StopAfterCcLog(f"{done} and the config asks to stop (telltale.stop_after_cc_log)")
        else:
            engine.tell(
                f"cc_log_only: {done} and training goes on; "
                '"telltale": {"stop_after_cc_log": true} ends it there, as msprobe does'
            )

    def finish_step(self) -> None:
        """Puts the step's aggregates into the table."""
        calls, self._calls = self._calls, {}
        on_device, self._on_device = self._on_device, {}
        self._steps += 1
        for name, value in self._sites.take().items():
            self._mark(name, value)
        if (described := self._sites.description()) is not None:
            self.engine.dispatcher.blob("comm_sites", f"rank{self.engine.rank}", self.engine.step, described)
        for key in dict.fromkeys([*calls, *on_device]):
            rows, there = calls.get(key, []), on_device.get(key, [])
            table = self.engine.extra_table(Kind.COMM, only=key[0])
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = table.add(self._describe(key, len(rows) + len(there)))
            if row < 0:
                continue
            if there:
                self.engine.measurer.later(table, row, self.pooled(there, self._scratch.results[rows]))
            else:
                self._pool(table, row, rows)
        self._used = 0

    def _pool(self, table: SeriesTable, row: int, calls: list[int]) -> None:
        def job(at: At) -> None:
            here = at(self._scratch).results[calls]
            here = here[here["flags"] & PRESENT != 0]
            if here.size:
                at(table).results[row] = _pooled(here)

        self.engine.measurer.afterwards([(table, row)], job)

    def _mark(self, name: str, value: float) -> None:
        """A run metric of the step, for the dashboard alone."""
        table = self.engine.table(Kind.SCALAR)
        row = self._marks.get(name)
        if row is None:
            row = self._marks[name] = table.add(SeriesDesc(name, numel=1))
        if row >= 0:
            table.put(row, value)

    def _describe(self, key: _Key, calls: int) -> SeriesDesc:
        first = self._first[key]
        one = calls == 1
        return SeriesDesc(
            name=key[1],
            slot=Slot(key[2], key[3]),
            definition="per step: sum of norms, mean of means over all calls",
            shape=first["shape"] if one else (),
            dtype=first["dtype"],
            numel=first["numel"],
        )


def _pooled(stats: np.ndarray) -> Any:
    """One STATS record of many calls, by msprobe's rules."""
    out = np.zeros((), stats.dtype)
    numel = int(stats["numel"].sum())
    finite = int(stats["finite"].sum())
    has = stats["finite"] > 0
    norm = aggregate("norm", np.sqrt(stats["sumsq"][has])) if has.any() else 0.0
    mean = aggregate("mean", stats["sum"][has] / stats["finite"][has]) if has.any() else 0.0
    zeros = aggregate("zeros", stats["zero_count"] / stats["numel"])
    out["sumsq"], out["norm"] = norm * norm, norm
    out["sum"], out["mean"] = mean * finite, mean
    if has.any():
        out["min"], out["max"] = stats["min"][has].min(), stats["max"][has].max()
    out["zeros"], out["zero_count"] = zeros, round(zeros * numel)
    out["numel"], out["finite"], out["flags"] = numel, finite, PRESENT
    for name in ("nans", "pos_infs", "neg_infs"):
        out[name] = stats[name].sum()
    return out
