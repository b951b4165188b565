# SPDX-License-Identifier: GPL-3.0-or-later
"""Run metrics: what the user logs, learning rates, and the gradient norm."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..kinds import Form, Kind
from ..series import Frame, SeriesDesc, SeriesTable
from .clock import Clock
from .cost import timed
from .framework import Framework, Rate

Finish = Callable[[Frame], None]  # adds to a step's frame what follows from results that come from a device

_FARTHEST = 1 << 53
_DEEPEST = 8  # levels of dicts in what log() is given
_OWN_NORM = "grad-norm (telltale)"
_NORM = "2-norm of all gradients as the optimizer consumed them"


class RunMetrics:
    """The scalar table of the step in progress. Thread: training."""

    def __init__(self, engine: Clock) -> None:
        self._reference = weakref.ref(engine)
        self._rows: dict[str, int] = {}
        self._whole = 0, False  # the gradients looked at, and whether they are whole
        self._reached: dict[str, int] = {}  # the last step of each metric that the user logs
        self._went_back: set[str] = set()
        self._ran_ahead = False

    @property
    def _engine(self) -> Clock:
        engine = self._reference()
        assert engine is not None  # it owns this object
        return engine

    def set(self, name: str, value: float) -> None:
        """A run metric of the step in progress."""
        row = self._row(name)
        if row >= 0:
            self._engine.is_idle = False
            self._engine.table(Kind.SCALAR).put(row, value)

    def _row(self, name: str) -> int:
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = self._engine.table(Kind.SCALAR).add(SeriesDesc(name, numel=1))
        return row

    @timed
    def log(self, values: dict[str, Any], step: int | None) -> None:
        """Run metrics of `step`; without one, of the step in progress, or of the one that has just ended when no
        forward pass has begun since."""
        engine = self._engine
        framework = engine.framework
        if step is not None and (step := _whole(framework, step)) is None:
            engine.tell(
                "a metric's step must be a whole number between -2^53 and 2^53; what is logged with another is left out"
            )
            return
        at = step if step is not None else engine.step_of_log()
        late: dict[str, float] = {}
        late_there: dict[str, Any] = {}
        if not isinstance(values, Mapping):
            engine.tell(f'log() takes a dict, as {{"loss": 2.31}}, not {type(values).__name__}; it is left out')
            return
        for name, value in _flat(values):
            number = _number(framework, value)
            there = framework.on_device(value) if number is None else None
            is_now = at == engine.step
            if number is not None and is_now:
                self.set(name, number)
            elif number is not None:
                late[name] = number
            elif there is None:
                engine.tell(f"the metric {name!r} is {_words(framework, value)}, not a number; it is left out")
                continue
            elif not is_now:
                late_there[name] = there
            elif (row := self._row(name)) >= 0:
                engine.is_idle = False
                engine.measurer.later(engine.table(Kind.SCALAR), row, there)
            self._notice(name, at)
        if (late or late_there) and at > engine.step:
            if not self._ran_ahead:
                self._ran_ahead = True
                engine.tell(
                    f"a metric was logged for step {at}, and the monitor is at step {engine.step}: it counts optimizer "
                    "steps, without those that a loss scaler skips; log() without step= follows it"
                )
            self._send_before([*late, *late_there])
        if late or late_there:
            engine.dispatcher.scalar(at, late, late_there)

    def _notice(self, name: str, at: int) -> None:
        """Tells once when a metric's step goes back: to a capsule that is a training that begins again there."""
        reached = self._reached.get(name, at)
        self._reached[name] = at
        if at < reached and name not in self._went_back:
            self._went_back.add(name)
            self._engine.tell(
                f"the metric {name!r} went back from step {reached} to {at}: where a step comes again its later value "
                "counts, and in a long run what it had for the steps behind it is hidden"
            )

    def _send_before(self, names: Iterable[str]) -> None:
        """Sends what the step in progress has of these metrics: a later step's value is about to go out, and a value
        of an earlier step after it would read as a run that went back."""
        engine = self._engine
        table = engine.table(Kind.SCALAR)
        rows = {self._rows[name]: name for name in names if self._rows.get(name, -1) >= 0}
        there = {rows[row]: value for row, value in engine.measurer.withdraw(table, set(rows)).items()}
        earlier = {name: float(table.values[row, 0]) for row, name in rows.items() if table.present[row]}
        table.present[list(rows)] = 0
        if earlier or there:
            engine.dispatcher.scalar(engine.step, earlier, there)

    def log_rate(self, number: int, optimizer: Any) -> None:
        """The learning rates of one inner optimizer."""
        rates = self._engine.framework.rates(optimizer)
        first = "lr" if number == 0 else f"lr/optimizer_{number}"
        names = [f"{first}/group_{i}" if i else first for i in range(len(rates))]
        if any(isinstance(rate, Rate) for rate in rates):
            self._log_later(names, rates)
            return
        for i, rate in _shown(rates):
            self.set(names[i], rate)

    def _log_later(self, names: list[str], rates: list[Any]) -> None:
        """Those that follow from tensors, when these are there."""
        engine = self._engine
        table = engine.table(Kind.SCALAR)
        rows = [self._row(name) for name in names]
        engine.is_idle = False

        def job(at: Callable[[SeriesTable], SeriesTable], *found: Any) -> None:
            left = iter(found)
            values = [r.number(*islice(left, len(r.tensors))) if isinstance(r, Rate) else r for r in rates]
            for i, rate in _shown(values):
                if rows[i] >= 0:
                    at(table).put(rows[i], rate)

        there = [(table, row) for row in rows if row >= 0]
        engine.measurer.afterwards(there, job, *(t for r in rates if isinstance(r, Rate) for t in r.tensors))

    def log_norm(self) -> Finish | None:
        """The norm of all gradients the optimizers consumed, where every one was measured whole on this rank. Gives
        what adds it to the step's frame where results are still on a device."""
        engine = self._engine
        if "grad-norm" in self._rows or engine.config.targets:
            return None
        table = engine.table(Kind.GRAD_REDUCED)
        n = len(table.series)
        if not n or not self._is_whole(table, n):
            return None
        if engine.measurer.has_pending:
            return _add_norm
        rows = table.results[:n]
        if not table.flags[:n].all():
            rows = rows[table.flags[:n] != 0]
        if rows.size:
            self._set_norm(norm_of(rows))
        return None

    def _is_whole(self, table: SeriesTable, n: int) -> bool:
        """Whether each of the first n gradients is on this rank as a whole, and not scaled. A step asks every time."""
        if self._whole[0] != n:
            self._whole = n, all(d.shard_offset < 0 and not d.form & Form.SCALED for d in table.series[:n])
        return self._whole[1]

    def _set_norm(self, value: float) -> None:
        table = self._engine.table(Kind.SCALAR)
        row = self._rows.get(_OWN_NORM)
        if row is None:
            row = self._rows[_OWN_NORM] = table.add(SeriesDesc("grad-norm", numel=1, definition=_NORM))
        table.put(row, value)


def both(first: Finish | None, second: Finish | None) -> Finish | None:
    """One that does what both do."""
    if first is None or second is None:
        return first or second

    def finish(frame: Frame) -> None:
        first(frame)
        second(frame)

    return finish


def _shown(rates: list[Any]) -> Iterator[tuple[int, float]]:
    """Those of an optimizer's groups that are known; one for all where they are the same."""
    for i, rate in enumerate(rates):
        if rate is None:
            continue
        yield i, rate
        if i == 0 and all(other == rate for other in rates):
            return


def norm_of(gradients: np.ndarray) -> float:
    """Of STATS records of all gradients; NaN where one of them is not finite."""
    if (gradients["finite"] != gradients["numel"]).any():
        return float("nan")
    return float(gradients["sumsq"].sum()) ** 0.5


def _add_norm(frame: Frame) -> None:
    shot = next((shot for shot in frame.tables if shot.kind is Kind.GRAD_REDUCED), None)
    if shot is not None:
        frame.scalars["grad-norm"] = norm_of(shot.values)
        frame.definitions["grad-norm"] = _NORM


def _flat(values: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """{"loss": {"ce": 1}} as ("loss/ce", 1)."""
    for name, value in values.items():
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _flat(value, f"{prefix}{name}/", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _words(framework: Framework, value: Any) -> str:
    if isinstance(value, framework.tensor):
        return f"a tensor of {value.numel()} elements"
    return type(value).__name__


def _whole(framework: Framework, step: Any) -> int | None:
    """A step as an int, None where it is none that a double could hold too."""
    if isinstance(step, framework.tensor) and framework.number(step, True) is None:
        return None
    try:
        number = int(step)
        return number if number == step and abs(number) <= _FARTHEST else None
    except (TypeError, ValueError, OverflowError):
        return None


def _number(framework: Framework, value: Any) -> float | None:
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return None
    if isinstance(value, framework.tensor):
        return framework.number(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
