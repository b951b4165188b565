# SPDX-License-Identifier: GPL-3.0-or-later
"""The step clock of a TrainerMon: which step and micro step it is, whether it is collected, and which part's turn."""

from __future__ import annotations

import abc
import time
from typing import Any, Callable

from ..config import MonitorConfig
from ..console import log
from ..flightrecorder import is_left_out, recorder_of
from ..kinds import Form, Kind, Stat
from .clock import Clock
from .cost import BudgetedSteps, StepCost
from .measurer import AnyMeasurer
from .metrics import Finish, RunMetrics, both
from .parameterparts import GradientPart, MomentPart, WeightPart
from .part import Part
from .sources import Discovery, Source
from .steppedunits import HookSteps, SteppedUnits
from .unreduced import UnreducedGradients
from .unreducedrows import UnreducedRows

_BY_MICRO = (Kind.ACTV, Kind.ACTV_GRAD, Kind.ATTENTION, Kind.ROUTER)
MAX_MICRO = 64
_FORWARDS_WITHOUT_STEP = 256  # more micro steps than anybody takes without saying so
_ONCE = (0,)


class Engine(Clock):
    """A framework's folder has a class for what of it is its own. Thread: the training thread; gradient hooks may run
    on autograd's threads."""

    def __init__(self, config: MonitorConfig, measurer: AnyMeasurer, rank: int) -> None:
        super().__init__(config, measurer, rank)
        self.parts: list[Part] = []
        self.after_step: list[Callable[[int], None]] = []
        self.metrics = RunMetrics(self)
        self._gradients = self.make_gradients([])
        self._units = SteppedUnits(self.hook_steps)
        self._told_given_up = False
        self._is_stepping = False  # between an optimizer's pre-hook and its post-hook
        self._cost = StepCost()
        self._budgeted: BudgetedSteps | None = None
        self._is_sent = self._is_kept = False  # what the step measures: for the config, for the flight recorder
        self._gradients_wanted = False
        self._measured = 0  # steps, of either
        self._forward_counter: Any = None  # the handle of its hook, None = it is not there
        self.is_quiet: Callable[[int], bool] = lambda step: False  # whether nothing waits for the step that begins
        self.system: Callable[[], dict[str, float]] = dict  # what the machine was seen to use since the last step
        self.local_norm: Callable[[Engine], Finish | None] = lambda engine: None  # as metrics.log_norm()
        self._start = 0
        self._is_off = False  # the step in progress began so
        self._ended_in = -1  # the backward pass inside which the last step ended, -1 = outside of any

    @property
    def found(self) -> Discovery:
        """What is watched of the model."""
        return self._units.found

    def _number_micros(self) -> None:
        """The first step turns out to have several micro steps, which nobody had said: what was measured in the first
        of them is labeled so, while no series has been published."""
        self._has_micros = True
        for table in self.tables():
            if table.kind in _BY_MICRO and Stat.SIMILARITY not in table.stats:
                table.number_micros()

    # -- a framework's own ----------------------------------------------------------------------------------------

    hook_steps: HookSteps

    @abc.abstractmethod
    def make_gradients(self, sources: list[Source]) -> UnreducedGradients:
        """What watches the gradients of these before reduction."""

    @abc.abstractmethod
    def hook_forward(self) -> Any:
        """Hooks the forward pass of the whole model; the handle, None where that cannot be."""

    def look_around(self) -> None:
        """The first forward pass of a step begins: a model may have been changed since."""

    def has_skipped(self, optimizer: Any) -> bool:
        """Whether the step that an optimizer has just taken left the weights as they were."""
        return False

    # -- watching ------------------------------------------------------------------------------------------------

    def attach(
        self, found: Discovery, parts: list[Part], roots: list[Any], grad_acc_steps: int, start: int
    ) -> None:
        """Installs everything; call once."""
        self.grad_acc_steps = max(1, grad_acc_steps, found.grad_acc_steps)
        self.step = self._start = start
        self.roots = roots
        self._units.found = found
        self._units.hook(self.reference)
        self._watch(found, parts)
        self._begin()

    def _count_forwards(self, is_wanted: bool) -> None:
        """The hook on the model itself comes or goes."""
        if is_wanted == (self._forward_counter is not None):
            return
        if not is_wanted:
            self._forward_counter.remove()
            self._forward_counter = None
            return
        self._forward_counter = self.hook_forward()

    def adopt(self, found: Discovery) -> bool:
        """Other optimizers step the same parameters from now on; what the step in progress has measured stays. False
        when what one of them steps has changed since it was written down: that wants a new watch."""
        before = self.found
        if not self._units.adopt(found, any(part.is_divided for part in self.parts)):
            return False
        forms = {source.name: source.form_reduced for source in before.sources}
        for source in found.sources:
            source.form_reduced |= forms.get(source.name, Form.NONE)
        self._units.hook(self.reference)
        return True

    def reconfigure(self, config: MonitorConfig, found: Discovery, parts: list[Part]) -> None:
        """Another config from the next step on. Only between steps; the step hooks stay, since removing one inside
        another would break the optimizer's own loop over them."""
        self._unwatch()
        self.config = config
        self.measurer.configure(config.eps, config.threads, config.checksum, bool(config.histogram))
        self.collected = self._measured = 0
        if self._budgeted is not None and self._budgeted.budget.stride > 1:
            self.note(
                "what monitoring takes is measured anew, and every step that the config selects is collected", True
            )
            self.dispatcher.thinning(0, 0.0)
        self._has_micros = False
        self.forget_tables()
        self.metrics = RunMetrics(self)
        self._watch(found, parts)
        self._begin()

    def _watch(self, found: Discovery, parts: list[Part]) -> None:
        self._units.divide(found)
        self.measurer.prepare(source.tensor for source in found.sources)
        self.recorder, why = recorder_of(self.config, self.rank, self.dispatcher, self.tables)
        self.dispatcher.recorder = self.recorder
        if why:
            self.tell(why)
        self._budgeted = self._budget_of(self.config)
        sent = None if is_left_out(self.config, self.rank) else self.config
        kept = self.recorder.kept if self.recorder is not None else None
        has_gradients = any(config is not None and config.wg_distribution for config in (sent, kept))
        self.unreduced = UnreducedRows(self.table(Kind.GRAD_UNREDUCED) if has_gradients else None)
        self._gradients = self.make_gradients(found.sources)
        self._gradients.is_kept = sent is None or not sent.wg_distribution
        self.parts = [self._gradients]
        for config in (sent, kept):
            if config is None:
                continue
            own: list[Part] = [WeightPart(self)] if config.param_distribution else []
            own += [MomentPart(self)] if config.mv_distribution else []
            if config.wg_distribution:
                self._gradients.watch()
                own.append(GradientPart(self))
            for part in own:
                part.is_kept = config is kept
            self.parts += own
        self.parts += [part for part in parts if kept is not None or not part.is_kept]
        for note in found.notes:
            self.tell(note)

    def _unwatch(self) -> None:
        self.collecting = False
        for part in self.parts:
            part.collect(False)
            part.close()
        self.parts = []

    def gradient_arrived(self, number: int, gradient: Any) -> None:
        """A parameter's gradient before reduction. Thread: autograd's. Never raises."""
        if self._ended_in != -1 and self._ended_in == self.framework.backward_pass():
            return  # of the step that has ended: optimizers step inside backward, and this one's hook came first
        self.has_begun = True
        if not (self.collecting and self._gradients_wanted):
            return
        try:
            if gradient is None:
                self._gradients.is_gone(self, number)
            else:
                self._gradients.arrived(self, number, gradient)
        except Exception as error:  # noqa: BLE001
            self.strikes.add(Kind.GRAD_UNREDUCED.word, error)

    def forward_begins(self) -> None:
        """A forward pass of the whole model begins."""
        if not self.framework.has_gradients():
            return
        try:
            if self.collecting:
                if self._forwards == 0:
                    self._gradients.refresh(self.found.optimizers)
                    self.look_around()
                elif self._gradients.is_abandoned():
                    self._restart()
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the parameters", error)
        if self._forwards == 1 and self.collecting and self._measured == 0 and self.grad_acc_steps == 1:
            self._number_micros()
        self.micro = min(self._forwards, MAX_MICRO - 1)
        self._forwards += 1
        if self._forwards == _FORWARDS_WITHOUT_STEP * self.grad_acc_steps:
            self._tell_of_no_step(f"the model has run {self._forwards} times and no optimizer has stepped")
        self.has_begun = True

    def _restart(self) -> None:
        """The step is tried again from its first micro step (a loss scaler has skipped it, or a closure runs again)."""
        self._report_given_up()
        self.attempt += 1
        self._forwards = 0
        self._gradients.begin()
        known = (self.known_table(kind) for kind in (Kind.ACTV, Kind.ACTV_GRAD, Kind.GRAD_UNREDUCED))
        gone = [table for table in known if table is not None]
        gone += [table.bins for table in gone if table.bins is not None]
        for table in gone:
            table.forget()
        self.measurer.forget(gone)

    def _report_given_up(self) -> None:
        """What a step that is never taken measured goes; that it was tried, and which gradients broke it, stays."""
        what = self._gradients.what_broke(self.known_table(Kind.GRAD_UNREDUCED), self.measurer.has_pending)
        if not what or self._is_stepping:  # a closure that runs again, or gradients that nobody wanted
            return
        sentence = f"step {self.step} was tried and given up: its gradients were cleared before an optimizer took them"
        self.note(f"{sentence}; {what}", not self._told_given_up, "given_up")
        self._told_given_up = True

    # -- the step ------------------------------------------------------------------------------------------------

    def step_begins(self, number: int, optimizer: Any) -> None:
        """An optimizer is about to step. Never raises."""
        if self._budgeted is not None:
            self._budgeted.enters()
        try:
            if self._units.has_stepped(number):
                self._finish()  # it steps more often than the others
            self._is_stepping = True
            if self.active:
                self.metrics.log_rate(number, optimizer)
            if self.collecting:
                self._each("step_begins", self._units.stepping(number, optimizer))
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def gradients_ready(self, number: int, optimizer: Any) -> None:
        """The gradients that the optimizer consumes are there. Never raises."""
        if not self.collecting:
            return
        try:
            self._each("before_step", self._units.stepping(number, optimizer))
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def after_step_of(self, number: int, optimizer: Any) -> None:
        """Ends the step when every optimizer has stepped. Never raises."""
        self._is_stepping = False
        if self._budgeted is not None:
            self._budgeted.enters()
        try:
            if self.has_skipped(optimizer):
                self.note(
                    "the loss scaler found infinities: this step left the weights as they were", False, "given_up"
                )
            if self.collecting:
                self._each("after_step", self._units.stepping(number, optimizer))
            if self._units.note_step(number):
                self._finish()
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def _each(self, moment: str, *given: Any) -> None:
        """Every part has its turn, whatever becomes of the others'."""
        for part in self.parts:
            if self._is_wanted(part) and not self.strikes.is_off(part.what):
                try:
                    getattr(part, moment)(*given)
                except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
                    self.strikes.add(part.what, error)

    # -- ends ----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Decides whether the step that begins is collected."""
        config = self.config
        was = self.collecting, self._is_sent, self._is_kept
        is_on = self.active and self.collected < config.collect_times
        self._is_sent = (
            is_on
            and config.collects_at(self.step)
            and self._admits(self.step if self.recorder is None else self.step // config.step_interval)
            and (not config.module_ranks or self.rank in config.module_ranks)
        )
        self._is_kept = is_on and self.recorder is not None and self._admits(self.step)
        self.collecting = self._is_sent or self._is_kept
        self._gradients_wanted = self._is_wanted(self._gradients)
        self.is_idle = not self.active
        if self._is_off == self.active:
            self._is_off = not self.active
            self._cost = StepCost()  # it does not tell of steps that it has not seen
            if self._budgeted is not None:
                self._budgeted.forget()
        self._gradients.rest(self._is_off)
        self._count_forwards(self.active or self.is_logged_to)
        self._forwards = 0
        self.micro = 0
        self.has_begun = False
        self._gradients.begin()
        self._units.begin()
        if was != (self.collecting, self._is_sent, self._is_kept):
            for table in self.tables():
                if table.kind is not Kind.SCALAR:
                    table.clear()  # a hook on another thread may have come late to the last collected step
            for part in self.parts:
                part.collect(self.collecting and self._is_wanted(part))

    def _is_wanted(self, part: Part) -> bool:
        """In a step that is collected."""
        return self._is_kept if part.is_kept and self.recorder is not None else self._is_sent

    def _finish(self) -> None:
        """Publishes the step and begins the next."""
        finish: Finish | None = None
        if self.collecting:
            self._each("finish_step")
            if self.recorder is None or Kind.GRAD_REDUCED not in self.recorder.kinds:
                finish = both(self.metrics.log_norm(), self.local_norm(self))
            self.collected += self._is_sent
            self._measured += 1
            if self._measured == 1:
                self._tell_of_no_tensors()
            if trouble := self.measurer.trouble():
                self.tell(trouble)
        self.metrics.set("telltale.wall_ns", float(time.time_ns()))
        for name, value in self.system().items():
            self.metrics.set(name, value)
        tables = self.tables() if self.collecting else [self.table(Kind.SCALAR)]
        self.dispatcher.files_wait = not self.active
        self.dispatcher.publish(self.step, tables, self.measurer.take_pending(), finish)
        for table in tables:
            if self.collecting:
                table.end_step()
            else:
                table.clear()
        if self.recorder is not None:
            self.recorder.step_ends(self.step)
        ended, self._ended_in = self.step, self.framework.backward_pass()
        if self.active:
            self._cost.step_ends(self.dispatcher.cost)
            self._heed_budget()
        self._go_on(ended)

    def idle_step_of(self, number: int) -> None:
        """One optimizer has stepped and nothing is collected: a step is a number. Never raises."""
        try:
            for _ in range(self._units.ends_step(number)) if self._units.are_several else _ONCE:
                if self.is_quiet(self.step + 1):
                    self.step += 1
                    self._forwards = 0
                    self.has_begun = False
                else:
                    self._go_on(self.step)
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the optimizer step", error)

    def step_of_log(self) -> int:
        """The step that a metric belongs to which is logged now: the one in progress, or the one that has just ended
        when no forward pass has begun since."""
        if not self.is_logged_to:
            self.is_logged_to = True
            self._count_forwards(True)
        return self.step if self.has_begun or self.step == self._start else self.step - 1

    def _go_on(self, ended: int) -> None:
        """The next step begins, under what is in force from it on."""
        self.step = ended + 1
        for react in self.after_step:
            react(ended)
        was_collecting = self.collecting
        self._begin()
        if self._budgeted is not None and was_collecting and not self.collecting:
            self._budgeted.hooks_are_gone()

    def _budget_of(self, config: MonitorConfig) -> BudgetedSteps | None:
        interval = config.step_interval if self.recorder is None else 1
        return BudgetedSteps(config.overhead_budget, interval) if config.overhead_budget > 0 else None

    def _admits(self, number: int) -> bool:
        return self._budgeted is None or self._budgeted.budget.admits(number)

    def _heed_budget(self) -> None:
        """Between steps: what the one that ends took may change how many of the next are collected."""
        if self._budgeted is None:
            return
        before = self._budgeted.budget.every
        one_in = self.config.step_interval if self.recorder is not None and self._is_sent else 1
        news = self._budgeted.step_ends(self.collecting, one_in)
        if self._budgeted.budget.every != before:
            self.dispatcher.thinning(self._budgeted.budget.every, self.config.overhead_budget)
        if news is not None:
            log.warning("rank %d: %s", self.rank, news[0])
            self.dispatcher.event("log", self.step, *news)

    def _tell_of_no_tensors(self) -> None:
        if all(table.kind is Kind.SCALAR or not len(table) for table in self.tables()):
            self.tell(
                "the config selects no tensor of this model: no statistics of one are stored. watch() without a config "
                "collects weights, gradients, moments, activations and attention; a config names what it wants, as "
                '{"wg_distribution": true, "targets": {"layers.0": {}}}'
            )

    def detach(self) -> None:
        """Removes every hook. Metrics of a step that never came to its end go out as they are."""
        table = self.known_table(Kind.SCALAR)
        if table is not None:
            pending = self.measurer.now(table)
            if table.rows().size or pending:
                self.dispatcher.publish(self.step, [table], pending)
            table.clear()
            self.measurer.forget([table])
        self._unwatch()
        self._tell_of_no_step("no optimizer has stepped")
        self._units.unhook()
        self._count_forwards(False)

    def _tell_of_no_step(self, what: str) -> None:
        """Says why there is nothing of a training that goes on without a step."""
        if self.step == self._start and self.has_begun and self.active:
            self.tell(
                f"{what} the watched parameters, and a step is one of {self.framework.an_optimizer}: nothing is "
                "stored; was watch() given another model than the one that is trained?"
            )
