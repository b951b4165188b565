# SPDX-License-Identifier: GPL-3.0-or-later
"""What a TrainerMon is made of: the step, the tables, and what is read when."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, Callable

import torch

from ..config import MonitorConfig
from ..console import log
from ..dispatch import Dispatcher
from ..kinds import Form, Kind, Stat
from ..measure import Measurer
from ..series import SeriesTable
from .compiled import is_compiled_in_place
from .metrics import RunMetrics
from .scaler import steps_under_grad_scaler
from .sources import Discovery, ParameterSource, Unit
from .stephooks import RootHook, StepHook
from .strikes import Strikes
from .unreduced import UnreducedGradients

_STATS: dict[Kind, tuple[Stat, ...]] = {
    Kind.SCALAR: (Stat.VALUE,),
    Kind.ATTENTION: (Stat.ENTROPY, Stat.SOFTMAX_MAX),
    Kind.LINEAR: (Stat.STABLE_RANK, Stat.KERNEL_NORM),
    Kind.MG_DIRECTION: (Stat.AGREEMENT,),
}
_BY_MICRO = (Kind.ACTV, Kind.ACTV_GRAD, Kind.ATTENTION, Kind.ROUTER)
MAX_MICRO = 64
_FORWARDS_WITHOUT_STEP = 256  # more micro steps than anybody takes without saying so
_STEPS_TO_COMPILE = 3  # people compile before they train, at most after a step to warm up


class Engine:
    """Thread: the training thread; gradient hooks may run on autograd's threads, each writing rows of its own."""

    def __init__(self, config: MonitorConfig, measurer: Measurer, rank: int) -> None:
        self.config = config
        self.measurer = measurer
        self.rank = rank
        self.reference = weakref.ref(self)
        self.strikes = Strikes(self.tell)
        self.dispatcher = Dispatcher([], self.tell)
        self.found = Discovery()
        self.step = 0
        self.micro = 0
        self.grad_acc_steps = 1
        self.active = True  # dynamic start and stop
        self.collecting = False
        self.collected = 0
        self.stop_because: Exception | None = None
        self.parts: list[Any] = []  # activations, features, collectives: begin(collecting), close()
        self.after_step: list[Callable[[int], None]] = []
        self._tables: dict[Kind, SeriesTable] = {}
        self._extra: dict[tuple[Kind, tuple[Stat, ...]], SeriesTable] = {}
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self.roots: list[torch.nn.Module] = []
        self._compiled = 0
        self.is_counted_outside = False  # an integration calls forward_begins() itself
        self.attempt = 0  # of the step in progress, counted over the run
        self._rows: dict[tuple[Kind, int], int] = {}
        self._owned: list[list[ParameterSource]] = []
        self._stepped: list[bool] = []
        self._units: list[Unit] = []
        self._unreduced = UnreducedGradients(self, [])
        self._told_given_up = False
        self._is_stepping = False  # between an optimizer's pre-hook and its post-hook
        self._has_micros = False  # a step has several, as the first one has shown
        self._handles: list[Any] = []  # the counter of forward passes: it stays
        self._step_handles: list[Any] = []
        self._start = 0
        self._forwards = 0
        self.has_begun = False
        self.metrics = RunMetrics(self)

    # -- telling -------------------------------------------------------------------------------------------------

    def tell(self, sentence: str) -> None:
        """Says a sentence once: on the console of the lowest rank that has it, and to the dashboard."""
        if sentence in self._told:
            return
        self._told.add(sentence)
        log.warning("rank %d: %s", self.rank, sentence)
        dispatcher = getattr(self, "dispatcher", None)
        if dispatcher is not None:
            dispatcher.event("log", self.step, sentence)

    def not_observed(self, kind: Kind, name: str, why: str) -> None:
        """Reports by name what cannot be read."""
        self.tell(f"not observed: {kind.word} of {name}, because {why}")

    # -- tables --------------------------------------------------------------------------------------------------

    def table(self, kind: Kind) -> SeriesTable:
        """The table of a kind, made at its first series."""
        found = self._tables.get(kind)
        if found is None:
            with self._lock:
                found = self._tables.get(kind)
                if found is None:
                    found = self._tables[kind] = SeriesTable(kind, _STATS.get(kind, ()))
        return found

    def extra_table(self, kind: Kind, stats: tuple[Stat, ...]) -> SeriesTable:
        """A second table of a kind, with other columns."""
        found = self._extra.get((kind, stats))
        if found is None:
            found = self._extra[kind, stats] = SeriesTable(kind, stats)
        return found

    def tables(self) -> list[SeriesTable]:
        """Every table, by kind."""
        return [self._tables[kind] for kind in sorted(self._tables)] + list(self._extra.values())

    def measure(self, kind: Kind, tensor: Any, row: int) -> None:
        """Measures into one row; never raises. Thread: any."""
        try:
            if self.strikes.is_off(kind.word):
                return
            table = self._tables[kind]
            why = self.measurer.one(tensor, table, row)
            table.arrived.append(row)
            if why:
                desc = table.series[row]
                self.not_observed(kind, f"{desc.name} {desc.slot}".rstrip(), why)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.strikes.add(kind.word, error)

    def put_tensor(self, kind: Kind | SeriesTable, rows: list[int], values: Any) -> None:
        """Values [len(rows), stats] of a kind that has stats; those on a device are fetched with the step's others."""
        table = kind if isinstance(kind, SeriesTable) else self.table(kind)
        if values.is_cpu:
            for row, numbers in zip(rows, values.tolist()):
                table.put(row, *numbers)
        else:
            for row, numbers in zip(rows, values.detach()):
                self.measurer.later(table, row, numbers)

    def micro_label(self) -> int:
        """micro_step of a series measured now: -1 when a step has only one."""
        return -1 if self.grad_acc_steps == 1 and self.micro == 0 and not self._has_micros else self.micro

    def _number_micros(self) -> None:
        """The first step turns out to have several micro steps, which nobody had said: what was measured in the first
        of them is labelled so, while no series has been published."""
        self._has_micros = True
        for table in self.tables():
            if table.kind in _BY_MICRO and Stat.SIMILARITY not in table.stats:
                table.number_micros()

    # -- watching ------------------------------------------------------------------------------------------------

    def attach(self, found: Discovery, roots: list[torch.nn.Module], grad_acc_steps: int, start: int) -> None:
        """Installs everything; call once."""
        self.grad_acc_steps = max(1, grad_acc_steps, found.grad_acc_steps)
        self.step = self._start = start
        self.roots = roots
        for root in roots[:1]:
            if isinstance(root, torch.nn.ModuleDict):  # it only holds several models; the first is called
                root = next(iter(root.values()), root)
            if not is_compiled_in_place(root):
                self._handles.append(root.register_forward_pre_hook(RootHook(self)))
        self._hook_optimizers(found)
        self._watch(found)
        self._begin()

    def _hook_optimizers(self, found: Discovery) -> None:
        self._units = found.units or [Unit(optimizer) for optimizer in found.optimizers]
        for optimizer in found.optimizers:
            numbers = {unit.key: i for i, unit in enumerate(self._units) if unit.optimizer is optimizer}
            self._step_handles.append(optimizer.register_step_pre_hook(StepHook(self.reference, numbers, True)))
            self._step_handles.append(optimizer.register_step_post_hook(StepHook(self.reference, numbers, False)))
        self._stepped = [False] * len(self._units)

    def adopt(self, found: Discovery) -> bool:
        """Other optimizers step the same parameters from now on; what the step in progress has measured stays. False
        when what one of them steps has changed since it was written down: that wants a new watch."""
        before, units, owned = self.found, self._units, [[source.name for source in part] for part in self._owned]
        self.found = found
        self._units = found.units or [Unit(optimizer) for optimizer in found.optimizers]
        self._own()
        if self._rows and owned != [[source.name for source in part] for part in self._owned]:
            self.found, self._units = before, units
            self._own()
            return False
        forms = {source.name: source.form_reduced for source in before.sources}
        for source in found.sources:
            source.form_reduced |= forms.get(source.name, Form.NONE)
        for handle in self._step_handles:
            handle.remove()
        self._step_handles = []
        self._hook_optimizers(found)
        return True

    def reconfigure(self, config: MonitorConfig, found: Discovery, parts: list[Any]) -> None:
        """Another config from the next step on. Only between steps; the step hooks stay, since removing one inside
        another would break the optimizer's own loop over them."""
        self._unwatch()
        self.config = config
        self.measurer.eps, self.measurer.threads = config.eps, config.threads
        self.collected = 0
        self._has_micros = False
        self._tables, self._extra, self._rows = {}, {}, {}
        self.metrics = RunMetrics(self)
        self.parts = parts
        self._watch(found)
        self._begin()

    def _watch(self, found: Discovery) -> None:
        self.found = found
        self._own()
        self._unreduced = UnreducedGradients(self, found.sources)
        if self.config.wg_distribution:
            self._unreduced.watch()
        for note in found.notes:
            self.tell(note)

    def _unwatch(self) -> None:
        self.collecting = False
        for part in self.parts:
            part.collect(False)
            part.close()
        self._unreduced.close()
        self.parts = []

    def _own(self) -> None:
        """Sorts the sources by the optimizer that steps them; those of none go with the first."""
        owned: list[list[ParameterSource]] = [[] for _ in self._units] or [[]]
        for source in self.found.sources:
            if source.is_here:
                matches = (
                    i for i, unit in enumerate(self._units)
                    if unit.optimizer is source.optimizer and unit.key in (0, source.unit_key)
                )  # fmt: skip
                owned[next(matches, 0)].append(source)
        self._owned = owned

    def gradient_arrived(self, number: int, gradient: Any) -> None:
        """A parameter's gradient before reduction. Thread: autograd's. Never raises."""
        self.has_begun = True
        if not self.collecting:
            return
        try:
            if gradient is None:
                self._unreduced.is_gone(self, number)
            else:
                self._unreduced.arrived(self, number, gradient)
        except Exception as error:  # noqa: BLE001
            self.strikes.add(Kind.GRAD_UNREDUCED.word, error)

    @property
    def unreduced(self) -> UnreducedGradients:
        return self._unreduced

    @property
    def micro_mark(self) -> tuple[int, int, int]:
        """Tells micro steps apart, those of a step that was tried again included."""
        return self.step, self.attempt, self._forwards

    def forward_begins(self) -> None:
        """A forward pass of the whole model begins."""
        if not torch.is_grad_enabled():
            return
        try:
            if self.collecting:
                if self._forwards == 0:
                    self._unreduced.refresh()
                    if self.collected < _STEPS_TO_COMPILE:
                        self._look_for_compiled()
                elif self._unreduced.is_abandoned():
                    self._restart()
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the parameters", error)
        if self._forwards == 1 and self.collecting and self.collected == 0 and self.grad_acc_steps == 1:
            self._number_micros()
        self.micro = min(self._forwards, MAX_MICRO - 1)
        self._forwards += 1
        if self._forwards == _FORWARDS_WITHOUT_STEP * self.grad_acc_steps:
            self._tell_of_no_step(f"the model has run {self._forwards} times and no optimizer has stepped")
        self.has_begun = True

    def _look_for_compiled(self) -> None:
        """Modules that were compiled after they were given hooks lose them."""
        count = sum(is_compiled_in_place(module) for root in self.roots for module in root.modules())
        if count != self._compiled:
            self._compiled = count
            for part in self.parts:
                part.collect(False)
                part.collect(True)

    def _restart(self) -> None:
        """The step is tried again from its first micro step (a loss scaler has skipped it, or a closure runs again)."""
        self._report_given_up()
        self.attempt += 1
        self._forwards = 0
        self._unreduced.begin()
        gone = [self._tables[k] for k in (Kind.ACTV, Kind.ACTV_GRAD, Kind.GRAD_UNREDUCED) if k in self._tables]
        for table in gone:
            table.forget()
        self.measurer.forget(gone)

    def _report_given_up(self) -> None:
        """What a step that is never taken measured goes; that it was tried, and which gradients broke it, stays."""
        what = self._unreduced.what_broke(self._tables.get(Kind.GRAD_UNREDUCED), self.measurer.has_pending)
        if not what or self._is_stepping:  # a closure that runs again, or gradients that nobody wanted
            return
        sentence = f"step {self.step} was tried and given up: its gradients were cleared before an optimizer took them"
        self.dispatcher.event("log", self.step, f"{sentence}; {what}")
        if not self._told_given_up:
            self._told_given_up = True
            log.warning("rank %d: %s; %s", self.rank, sentence, what)

    # -- the step ------------------------------------------------------------------------------------------------

    def step_begins(self, number: int, optimizer: Any) -> None:
        """An optimizer is about to step: reads parameters and moments. Never raises."""
        try:
            if self._stepped[number]:
                self._finish()  # it steps more often than the others
            self._is_stepping = True
            self.metrics.log_rate(number, optimizer)
            config = self.config
            if self.collecting and config.param_distribution:
                self._batch(Kind.PARAM_ORIGIN, number, lambda source: source.parameter())
            if self.collecting and config.mv_distribution:
                self._batch(Kind.EXP_AVG, number, lambda source: source.moment("exp_avg"))
                self._batch(Kind.EXP_AVG_SQ, number, lambda source: source.moment("exp_avg_sq"))
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def gradients_ready(self, number: int, optimizer: Any) -> None:
        """The gradients that the optimizer consumes are there. Never raises."""
        if not self.collecting:
            return
        try:
            if self.config.wg_distribution:
                scaled = Form.SCALED if getattr(optimizer, "grad_scale", None) is not None else Form.NONE
                if self.collected == 0 and (scaled or steps_under_grad_scaler()):
                    self._unreduced.amend(None, Form.SCALED)
                self._batch(Kind.GRAD_REDUCED, number, lambda source: source.gradient(), scaled)
            for part in self.parts:
                part.before_step(self._owned[number])
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def after_step_of(self, number: int, optimizer: Any) -> None:
        """Reads what the optimizer made; ends the step when every optimizer has stepped. Never raises."""
        self._is_stepping = False
        try:
            # A fused optimizer under a GradScaler steps even on overflow, and leaves the weights as they were.
            found_inf = getattr(optimizer, "found_inf", None)
            if isinstance(found_inf, torch.Tensor) and found_inf.is_cpu and bool(found_inf):
                text = "the loss scaler found infinities: this step left the weights as they were"
                self.dispatcher.event("log", self.step, text)
            if self.collecting and self.config.param_distribution:
                self._batch(Kind.PARAM_UPDATED, number, lambda source: source.parameter())
            self._stepped[number] = True
            if all(self._stepped):
                self._finish()
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def _batch(self, kind: Kind, number: int, pick: Callable[[Any], Any], form: Form = Form.NONE) -> None:
        if self.strikes.is_off(kind.word):
            return
        sources = self._owned[number]
        if not sources:
            return
        try:
            table = self.table(kind)
            first = self._rows.get((kind, number))
            if first is None:
                first = self._add_rows(table, sources, form)
                self._rows[kind, number] = first
            if first < 0:
                return
            for row, why in self.measurer.batch([pick(source) for source in sources], table, first):
                self.not_observed(kind, table.series[row].name, why)
        except Exception as error:  # noqa: BLE001
            self.strikes.add(kind.word, error)

    def _add_rows(self, table: SeriesTable, sources: list[ParameterSource], form: Form) -> int:
        gradient = table.kind is Kind.GRAD_REDUCED
        rows = []
        for source in sources:
            own = source.form_reduced | form if gradient else Form.NONE
            if gradient and self.grad_acc_steps > 1:
                own |= Form.ACCUMULATED
            rows.append(table.add(source.describe(own, definition=source.gradient_definition if gradient else "")))
        if rows[-1] != rows[0] + len(rows) - 1:
            self.tell(f"there are more than {table.capacity} series of {table.kind.word}; the last are not collected")
            return -1
        return rows[0]

    # -- ends ----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Decides whether the step that begins is collected."""
        config = self.config
        was = self.collecting
        self.collecting = (
            self.active
            and config.collects_at(self.step)
            and self.collected < config.collect_times
            and (not config.module_ranks or self.rank in config.module_ranks)
        )
        self._forwards = 0
        self.micro = 0
        self.has_begun = False
        self._unreduced.begin()
        self._stepped = [False] * len(self._stepped)
        if was != self.collecting:
            for table in self.tables():
                if table.kind is not Kind.SCALAR:
                    table.clear()  # a hook on another thread may have come late to the last collected step
            for part in self.parts:
                part.collect(self.collecting)

    def _finish(self) -> None:
        """Publishes the step and begins the next."""
        if self.collecting:
            for part in self.parts:
                part.finish_step()
            self.metrics.log_norm()
            self.collected += 1
            if self.collected == 1:
                self._tell_of_no_tensors()
            self._unreduced.finish_step()
            if trouble := self.measurer.trouble():
                self.tell(trouble)
        self.metrics.set("telltale.wall_ns", float(time.time_ns()))
        tables = self.tables() if self.collecting else [self.table(Kind.SCALAR)]
        self.dispatcher.files_wait = not self.active
        self.dispatcher.publish(self.step, tables, self.measurer.take_pending())
        for table in tables:
            if self.collecting:
                table.end_step()
            else:
                table.clear()
        ended = self.step
        self.step += 1
        for react in self.after_step:
            react(ended)
        self._begin()

    def _tell_of_no_tensors(self) -> None:
        if all(table.kind is Kind.SCALAR or not len(table) for table in self.tables()):
            self.tell(
                "the config selects no tensor of this model: run metrics alone are stored. watch() without a config "
                "collects weights, gradients, moments, activations and attention; a config names what it wants, as "
                '{"wg_distribution": true, "targets": {"layers.0": {}}}'
            )

    def detach(self) -> None:
        """Removes every hook. Metrics of a step that never came to its end go out as they are."""
        table = self._tables.get(Kind.SCALAR)
        if table is not None and table.rows().size:
            self.dispatcher.publish(self.step, [table], [])
            table.clear()
        self._unwatch()
        self._tell_of_no_step("no optimizer has stepped")
        for handle in self._handles + self._step_handles:
            handle.remove()
        self._handles, self._step_handles = [], []

    def _tell_of_no_step(self, what: str) -> None:
        """Says why there is nothing of a training that goes on without a step."""
        if self.step == self._start and self.has_begun and self.active:
            self.tell(
                f"{what} the watched parameters, and a step is one of a torch optimizer: nothing is stored; was "
                "watch() given another model than the one that is trained?"
            )
