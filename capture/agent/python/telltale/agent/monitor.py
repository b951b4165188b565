# SPDX-License-Identifier: GPL-3.0-or-later
"""What every framework's TrainerMon is: msprobe's class, by its names and in both of its argument orders."""

from __future__ import annotations

import abc
import atexit
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Sequence
from typing import Any

from .. import configfile, exits, identity, runpage
from ..config import LoadedConfig, MonitorConfig
from ..console import log
from ..flightrecorder import is_left_out, kept_config
from ..sinks.base import RunContext, Sink
from . import arguments, dynamic
from .chosensinks import ChosenSinks
from .engine import Engine
from .features import Feature, make_features
from .framework import Framework
from .legacy import LegacyInterface, harmless
from .part import Part
from .sources import Discovery, Source
from .steering import Steering
from .targets import TargetSet

_live: weakref.WeakSet[Monitor] = weakref.WeakSet()
_latest: list[weakref.ref[Monitor]] = []


def latest() -> Monitor | None:
    """The live monitor whose set_monitor() was called last."""
    monitor = _latest[0]() if _latest else None
    return monitor if monitor is not None and monitor in _live else None


class Monitor(LegacyInterface, abc.ABC):
    """Watches a training: weights, gradients, moments, activations, attention, run metrics.

    Training stays bitwise the same: no hook draws a random number, writes to a tensor, communicates, waits for a device
    or raises. Thread: training.
    """

    def __init__(
        self,
        config_file_path: Any = None,
        process_group: Any = None,
        params_have_main_grad: bool = True,
        opt_ty: Any = None,
        *,
        sinks: list[Sink] | None = None,
        agent: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """config_file_path: a path, JSON text, a dict, or None for everything. `sinks` replaces what the config's
        `format` names; `agent` holds fields of tt_options (join, run_id, run_name, mode, spool_dir)."""
        del params_have_main_grad  # .main_grad is found where it exists
        if opt_ty is not None:
            warnings.warn("opt_ty is deprecated: optimizers are recognized", DeprecationWarning, stacklevel=2)
        if more.pop("param_have_main_grad", None) is not None:
            sentence = "param_have_main_grad is called params_have_main_grad"
            warnings.warn(sentence, DeprecationWarning, stacklevel=2)
        arguments.refuse("TrainerMon", more, ("config_file_path", "process_group", "params_have_main_grad"))
        self.rank = identity.rank()
        self.process_group = process_group
        self._path = config_file_path if isinstance(config_file_path, (str, os.PathLike)) else None
        self._loaded, self._problems = configfile.load_or_defaults(config_file_path)
        for sentence in self._problems:
            log.warning("%s", sentence)
        self._agent = dict(agent or {})
        self._given_sinks = sinks
        self._engine: Engine | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._arguments: dict[str, Any] = {}
        self._file: dynamic.ConfigFile | None = None
        self._steering: Steering | None = None
        self._adoption: Any = None  # what notices the optimizers that really step
        self._sinks: ChosenSinks | None = None
        self.page = runpage.RunPage(_version(), self.rank, self._tell)
        self._told: set[str] = set()

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def config(self) -> MonitorConfig:
        """The config in force."""
        return self._loaded.config

    # -- a framework's own ----------------------------------------------------------------------------------------

    framework: Framework
    features: Sequence[Feature]

    @abc.abstractmethod
    def make_engine(self, config: MonitorConfig) -> Engine:
        """The engine, with what measures tensors."""

    @abc.abstractmethod
    def chunks(self) -> list[Any]:
        """The modules to walk: a model's pipeline chunks, or one that holds several models by name."""

    @abc.abstractmethod
    def discover(self, chunks: list[Any], optimizer: Any, targets: TargetSet, per_micro_step: bool) -> Discovery:
        """Every selected parameter, in the model's order, with the optimizer that steps it."""

    @abc.abstractmethod
    def structure(self, chunk: Any) -> str:
        """The module tree, in the form of the C++ agent's structure_json()."""

    @abc.abstractmethod
    def whereabouts(self) -> tuple[str, str]:
        """The framework with its version, and the kind of device."""

    def is_awaited(self) -> bool:
        """Whether parameters are still to come; then _begin_late() is called when they have."""
        return False

    def make_adoption(self, engine: Engine) -> Any:
        """What notices the optimizers that really step; has a close()."""
        return None

    def unreachable(self, engine: Engine, parts: list[Part]) -> str:
        """Why parts of a changed config would have no effect, "" when each has some or had none before."""
        return ""

    def place_in(self, group: Any) -> tuple[int, list[int]]:
        """(this rank's number in a group, the global ranks of all its members); without a group, in the whole job."""
        return self.rank, [self.rank]

    def coordinate(self, group: Any) -> int | None:
        """This rank's number in a group, None without one."""
        return None

    def duplicates(self, sources: list[Source]) -> dict[str, frozenset[tuple[int, str]]]:
        """(chunk, name) of the parameters whose reduced gradient is the same on the first rank of a group, which is
        not this one; by the group's argument."""
        return {}

    def _names_in(self, chunks: list[Any]) -> list[tuple[int, str]]:
        """(chunk, name) of every parameter and module."""
        framework = self.framework
        return [
            (vpp, name)
            for vpp, chunk in enumerate(chunks)
            for found in (framework.parameters(chunk), framework.modules(chunk))
            for name, _ in found
        ]

    def _have_equal_names(self, chunks: list[Any]) -> bool:
        """A list stands for the pipeline chunks of one model; several models in one cannot be told apart by name."""
        if len({type(chunk) for chunk in chunks}) < 2:
            return False
        return bool(set.intersection(*({name for name, _ in self.framework.parameters(chunk)} for chunk in chunks)))

    # -- watching ------------------------------------------------------------------------------------------------

    @harmless()
    def set_monitor(self, model: Any = None, *args: Any, **kwargs: Any) -> None:
        """Watches a model (or a list of its pipeline chunks) and its optimizer: set_monitor(model, grad_acc_steps=1,
        optimizer=None, dp_group=None, tp_group=None, start_iteration=0).

        Positional arguments are taken in this documented order and in msprobe's real one (optimizer, grad_acc_steps,
        tp_group, dp_group, start_iteration), told apart by whether the first is a number. A second call replaces the
        first. Where dp_group or tp_group is given, csv and TensorBoard files have a gradient that its ranks share only
        in those of its first rank.
        """
        given = arguments.watched(args, kwargs)
        if given["optimizer"] is None:
            given["optimizer"] = self._wrapped_optimizer
        self._arguments = {"model": model, "start": given.pop("start_iteration"), **given}
        try:
            if not self.is_awaited():
                self._watch()
        except Exception as error:  # noqa: BLE001 - a monitor never ends a training
            log.warning("cannot watch the training: %s: %s", type(error).__name__, error)

    def _begin_late(self) -> None:
        """After the forward in which the last parameters came into being."""
        self._watch()
        if self._engine is not None:
            self._engine.forward_begins()
            self._engine.tell("the model had lazy parameters: it is watched from the end of its first forward on")

    def _watch(self) -> None:
        chunks = self.chunks()
        again, self._engine = self._engine, None
        if again is not None:
            again.detach()
        if self._have_equal_names(chunks):
            log.warning(
                "the models of the list have parameters of the same names; name the models to tell them apart: "
                'watch({"first": first, "second": second}, ...)'
            )
        config = self.config
        engine = self.make_engine(config)
        engine.step = self._arguments["start"]
        if again is not None:
            engine.dispatcher = again.dispatcher
        else:
            self._sinks = ChosenSinks(self._agent, engine.tell, engine.dispatcher.event)
            given = self._given_sinks
            engine.dispatcher.sinks = list(given) if given is not None else self._sinks.choose(config)
        engine.dispatcher.open(self._context())
        self._engine = engine
        while self._problems:  # said on the console when it was read; there was no run to tell yet
            engine.note(self._problems.pop(0), False)
        self._tell_of_sinks(engine, chunks)
        found, parts = self._find(engine, chunks)
        if self._adoption is not None:
            self._adoption.close()
        self._adoption = self.make_adoption(engine)
        is_switched = dynamic.is_wanted() and self._path is not None
        if self._file is not None:
            self._file.close()
        is_watched = is_switched or engine.dispatcher.takes_configs()
        self._file = None
        if self._path is not None:
            path = os.fspath(self._path)
            self._file = dynamic.ConfigFile(path, is_watched, self._between_looks, engine.tell)
        self._steering = Steering(engine, self._put_in_force, self._loaded, self._file, is_switched)
        engine.after_step.append(self._steering.poll)
        engine.is_quiet = self._steering.is_quiet
        if is_switched:
            engine.active = config.dynamic_on
            config.start_step = self._arguments["start"] + 1  # hooks of one step collect from the next, as documented
        engine.attach(found, parts, chunks, self._arguments["grad_acc_steps"], self._arguments["start"])
        self._steering.begin()
        self._send_structure(engine, chunks)
        if again is None:
            runpage.before.hand_over(self.page)
        self._begin_page(engine)
        exits.watch()
        _live.add(self)
        _latest[:] = [weakref.ref(self)]

    def _between_looks(self) -> float:
        """At the config file. Thread: any."""
        engine = self._engine
        return dynamic.between_looks(engine is not None and engine.dispatcher.is_steered())

    def adopt(self, optimizers: list[Any], is_new: bool) -> None:
        """Watches the optimizers that step the parameters instead of those known before. is_new: there were others."""
        engine = self._engine
        if engine is None:
            return
        chunks = self.chunks()
        found = self.discover(chunks, optimizers, self._targets(chunks), False)
        self._leave_out_rank(found)
        if not engine.adopt(found):
            engine.tell(
                "an optimizer that watch() was not given steps watched parameters in another arrangement: what it "
                "makes of them is not measured; call watch() again with it"
            )
        elif is_new:
            engine.tell(
                "another optimizer than the one that watch() was given steps the parameters: it is watched from now on"
            )

    def apply(self, loaded: LoadedConfig) -> None:
        """Puts another config in force from the next step on; only between steps."""
        engine = self._engine
        if engine is None or self._steering is None:
            return
        why = self._put_in_force(loaded, True)
        if why:
            engine.note(f"the config that is in force stays so: {why}", True)
        else:
            self._steering.taken_over(loaded)

    def _put_in_force(self, loaded: LoadedConfig, is_told: bool) -> str:
        """Whole or not at all: why not, "" when it is in force. is_told: says so in the run."""
        engine = self._engine
        assert engine is not None
        before = self._loaded
        try:
            why = self._exchange(engine, loaded)
            if not why and is_told:
                engine.dispatcher.event("config", engine.step, "the changed config is in force from this step")
            return why
        except Exception as error:  # noqa: BLE001 - the training goes on under what it had
            engine.strikes.add("the changed config", error)
            self._exchange(engine, before)
            return f"{type(error).__name__}: {error}"

    def _exchange(self, engine: Engine, loaded: LoadedConfig) -> str:
        before, self._loaded, engine.config = self._loaded, loaded, loaded.config
        is_other_format = self._given_sinks is None and loaded.config.format != before.config.format
        if is_other_format:
            self._exchange_sinks(engine)
            engine.dispatcher.open(self._context())
            self._begin_page(engine)
        found, parts = self._find(engine, self.chunks())
        why = self.unreachable(engine, parts)
        if why and not is_other_format:
            self._loaded, engine.config = before, before.config
            for part in parts:
                part.close()
            return why
        if why:
            engine.tell(why)  # it came with files of another format, from who can read it there
        if not is_other_format:
            engine.dispatcher.open(self._context())
        engine.reconfigure(loaded.config, found, parts)
        engine.dispatcher.blob("config", "config.json", engine.step, loaded.text.encode())
        return ""

    def _exchange_sinks(self, engine: Engine) -> None:
        """Another `format`: sinks of kinds that stay go on, the others end, new ones begin."""
        assert self._sinks is not None
        before, engine.dispatcher.sinks = engine.dispatcher.sinks, self._sinks.choose(self.config)
        for sink in before:
            if sink not in engine.dispatcher.sinks:
                sink.close("finished")
        self._tell_of_sinks(engine, self.chunks())

    def _tell_of_sinks(self, engine: Engine, chunks: list[Any]) -> None:
        if self._sinks is not None and self._given_sinks is None:
            is_squash_given = self._path is None or '"squash_name"' in self._loaded.text
            names = [name for _, name in self._names_in(chunks)]
            for sentence in self._sinks.sentences(self.config, names, is_squash_given):
                engine.tell(sentence)

    @property
    def engine(self) -> Engine | None:
        return self._engine

    @property
    def config_watch(self) -> dynamic.ConfigFile | None:
        """The config file, where there is one."""
        return self._file

    def _find(self, engine: Engine, chunks: list[Any]) -> tuple[Discovery, list[Part]]:
        """What the config selects: parameters, and the parts that watch modules."""
        config = engine.config
        targets = self._targets(chunks)
        per_micro = config.monitor_mbs_grad and self._arguments["grad_acc_steps"] > 1
        found = self.discover(chunks, self._arguments["optimizer"], targets, per_micro)
        parts = make_features(engine, self.features, chunks, targets)
        self._leave_out_rank(found)
        for sentence in targets.unmatched_sentences(name for _, name in self._names_in(chunks)):
            engine.tell(f"{sentence}; nothing is collected for it")
        if targets.reading():
            engine.tell(f"targets: {targets.reading()}")
        self._leave_out_duplicates(engine, found)
        return found, parts

    def _leave_out_rank(self, found: Discovery) -> None:
        """Nothing of a rank that module_ranks does not name, unless the flight recorder keeps it."""
        if is_left_out(self.config, self.rank) and kept_config(self.config, self.rank) is None:
            found.sources = []

    def _targets(self, chunks: list[Any]) -> TargetSet:
        return TargetSet(self.config.targets, self._names_in(chunks))

    def _leave_out_duplicates(self, engine: Engine, found: Any) -> None:
        """Files of one rank of a group have the gradients that all its ranks share; the stream has every rank's."""
        same = self.duplicates(found.sources)
        everything: frozenset[tuple[int, str]] = frozenset().union(*same.values())
        engine.dispatcher.leave_out(everything)
        writes = any(sink.has_files for sink in engine.dispatcher.sinks)
        if everything and writes and engine.config.wg_distribution:
            engine.tell(
                f"files leave out the reduced gradients of {len(everything)} parameters, which the first rank of "
                f"{' and '.join(same)} has in its files; the dashboard gets those of every rank"
            )

    def _begin_page(self, engine: Engine) -> None:
        """Only where somebody reads it."""
        engine.system = self.page.sample
        if engine.dispatcher.takes_pages():
            dispatcher = engine.dispatcher
            self.page.begin(dispatcher.blob, dispatcher.event, lambda: self.step, self._page_wants)

    def _page_wants(self, field: str) -> bool:
        """Thread: any."""
        engine = self._engine
        is_there = engine is not None and engine.active or field != "system_metrics"
        return bool(is_there and getattr(self.config, field))

    def _tell(self, sentence: str) -> None:
        if self._engine is not None:
            self._engine.tell(sentence)
        else:
            log.warning("%s", sentence)

    def tell_once(self, sentence: str) -> None:
        """What a caller may not expect, on the console and in the run; the same sentence not again."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

    def log_document(self, kind: str, name: str, value: Any, step: int | None) -> None:
        """A "text", an "image" or a "checkpoint" of the user's at a step; without one at that of log()."""
        engine = self._engine
        if engine is None or self._closed:
            return
        try:
            at = engine.step_of_log() if step is None else int(step)
            if kind == "checkpoint":
                engine.dispatcher.event(kind, at, str(value))
            else:
                (self.page.text if kind == "text" else self.page.image)(name, value, at)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("texts, images and checkpoints", error)

    def _send_structure(self, engine: Engine, chunks: list[Any]) -> None:
        try:
            engine.dispatcher.blob("structure", "model", engine.step, self.structure(chunks[0]).encode())
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("the module structure", error)

    def _context(self) -> RunContext:
        framework, device = self.whereabouts()
        agent = {"framework": framework, "device": device, "config_text": self._loaded.text, **self._agent}
        agent["takes_configs"] = 1
        agent.setdefault("run_name", _run_name(self.chunks()[0]))
        chunks = enumerate(self.chunks())
        targets = self._targets(self.chunks())
        parameters = self.framework.parameters
        named = [(vpp, name) for vpp, chunk in chunks for name, _ in parameters(chunk)]
        names = [(vpp, name) for vpp, name in named if targets.selects(name, vpp)]
        pp_stage, mates = self.place_in(self.process_group)
        places = {"pp": self.process_group, "dp": self._arguments["dp_group"], "tp": self._arguments["tp_group"]}
        for coordinate, group in places.items():
            number = self.coordinate(group)
            if number is not None:
                agent.setdefault(coordinate, number)
        return RunContext(
            self.config,
            rank=self.rank,
            world_size=identity.world_size(),
            pp_stage=pp_stage,
            group_mates=mates,
            start_step=self.step,
            info={"framework": framework, "device": device, "agent": agent, "parameters": names},
        )

    def watches(self, model: Any) -> bool:
        """Whether this is the model that set_monitor() was given."""
        watched = self._arguments.get("model")
        if isinstance(watched, dict) and isinstance(model, dict):
            return list(watched) == list(model) and all(watched[name] is model[name] for name in model)
        return watched is model

    # -- while training ------------------------------------------------------------------------------------------

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        """Run metrics: {"loss": 2.3}. Without a step they belong to the step in progress, or to the one that has just
        ended when no forward pass has begun since. Numbers and one-element CPU tensors."""
        engine = self._engine
        if engine is None:
            return
        try:
            engine.metrics.log(values, step)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("run metrics", error)

    @property
    def step(self) -> int:
        """Number of the optimizer step in progress."""
        return self._engine.step if self._engine is not None else self._arguments.get("start", 0)

    def counters(self) -> dict[str, int]:
        """The native agent's counters: produced, acked, dropped, in_flight, ... ({} without a stream)."""
        engine = self._engine
        counts = (sink.counters() for sink in engine.dispatcher.sinks) if engine is not None else ()
        return next(filter(None, counts), {})

    def flush(self, timeout: float = 5.0) -> bool:
        """Waits until everything is safe where it goes; not for the training loop."""
        return self._engine.dispatcher.flush(timeout) if self._engine is not None else True

    def close(self, reason: str = "finished") -> None:
        """Removes every hook, flushes (at most some seconds) and ends the sinks. Called at exit by itself."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        engine = self._engine
        if engine is not None:
            engine.detach()
            self.page.close()
            if self._adoption is not None:
                self._adoption.close()
            if self._file is not None:
                self._file.close()
            engine.dispatcher.close(reason)
        _live.discard(self)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        self.close("error" if kind is not None else "finished")

    def __deepcopy__(self, _memo: dict[int, Any]) -> Monitor:
        return self


def _version() -> str:
    return str(getattr(sys.modules.get("telltale"), "__version__", ""))


def _run_name(model: Any) -> str:
    """The script's name, else the model's class: what the run is called where nobody named it."""
    script = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    return os.path.splitext(script)[0] or type(model).__name__


def _close_all() -> None:
    for monitor in list(_live):
        monitor.close(exits.reason())


def _after_fork() -> None:
    """A forked child (a DataLoader worker) has no sender thread: it stays silent."""
    for monitor in list(_live):
        engine = monitor._engine
        if engine is not None:
            engine.active = engine.collecting = False
            engine.parts.clear()
            engine.dispatcher.forget()
            monitor.page.forget()
            monitor._closed = True
        if monitor._adoption is not None:
            monitor._adoption.close()
    _live.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
