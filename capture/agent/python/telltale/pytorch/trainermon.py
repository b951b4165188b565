# SPDX-License-Identifier: GPL-3.0-or-later
"""TrainerMon: msprobe's class, by its names and in both of its argument orders."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import configfile, exits, identity
from ..alerts import AlertSink
from ..config import LoadedConfig, MonitorConfig
from ..measure import Measurer
from ..sinks.api import ApiSink
from ..sinks.base import RunContext, Sink
from ..sinks.csv import CsvSink
from ..sinks.filesink import FileSink
from ..sinks.rundir import RunDirectory
from ..sinks.stream import StreamSink
from ..sinks.tensorboard import TensorBoardSink
from ..sinks.worker import FrameWorker
from . import dynamic, first_forward
from .activations import Activations
from .adoption import Adoption
from .discover import discover
from .engine import Engine
from .features import make_features
from .legacy import LegacyInterface
from .optimizers import optimizer_chain
from .targets import TargetSet

_live: weakref.WeakSet[TrainerMon] = weakref.WeakSet()
_latest: list[weakref.ref[TrainerMon]] = []


def latest() -> TrainerMon | None:
    """The live monitor whose set_monitor() was called last."""
    monitor = _latest[0]() if _latest else None
    return monitor if monitor is not None and monitor in _live else None


class TrainerMon(LegacyInterface):
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
    ) -> None:
        """config_file_path: a path, JSON text, a dict, or None for everything. `sinks` replaces what the config's
        `format` names; `agent` holds fields of tt_options (join, run_id, run_name, mode, spool_dir)."""
        del params_have_main_grad  # .main_grad is found where it exists
        if opt_ty is not None:
            warnings.warn("opt_ty is deprecated: optimizers are recognised", DeprecationWarning, stacklevel=2)
        self.rank = identity.rank()
        self.process_group = process_group
        self._path = config_file_path if isinstance(config_file_path, (str, os.PathLike)) else None
        self._loaded = self._read(config_file_path)
        self._agent = dict(agent or {})
        self._given_sinks = sinks
        self._engine: Engine | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._arguments: dict[str, Any] = {}
        self._dynamic: dynamic.ConfigWatch | None = None
        self._adoption: Adoption | None = None
        self._named_models: NamedModels | None = None

    def _read(self, source: Any) -> LoadedConfig:
        try:
            loaded = configfile.load(source)
        except configfile.ConfigError as error:
            print(f"telltale: {error}; the defaults are used", file=sys.stderr)
            return LoadedConfig(MonitorConfig(), [], "{}")
        for problem in loaded.problems:
            has_field = problem.is_error and "left out" not in problem.sentence and "unknown" not in problem.sentence
            default = "; the default is used" if has_field else ""
            print(f"telltale: config {problem}{default}", file=sys.stderr)
        return loaded

    @property
    def config(self) -> MonitorConfig:
        """The config in force."""
        return self._loaded.config

    # -- watching ------------------------------------------------------------------------------------------------

    def set_monitor(
        self,
        model: Any,
        *args: Any,
        optimizer: Any = None,
        grad_acc_steps: Any = None,
        tp_group: Any = None,
        dp_group: Any = None,
        start_iteration: Any = None,
    ) -> None:
        """Watches a model (or a list of its pipeline chunks) and its optimizer.

        Positional arguments are taken in the documented order (grad_acc_steps, optimizer, dp_group, tp_group,
        start_iteration) and in msprobe's real one (optimizer, grad_acc_steps, tp_group, dp_group, start_iteration),
        told apart by whether the first is a number. A second call replaces the first.
        """
        names = ["optimizer", "grad_acc_steps", "tp_group", "dp_group", "start_iteration"]
        if args and (isinstance(args[0], int) or len(args) > 1 and hasattr(args[1], "param_groups")):
            names = ["grad_acc_steps", "optimizer", "dp_group", "tp_group", "start_iteration"]
        values = dict(zip(names, args))
        optimizer = values.get("optimizer", optimizer)
        steps = _at_least(values.get("grad_acc_steps", grad_acc_steps), 1, 1, "grad_acc_steps")
        start = _at_least(values.get("start_iteration", start_iteration), 0, 0, "start_iteration")
        self._arguments = {
            "model": model,
            "optimizer": optimizer,
            "grad_acc_steps": steps,
            "start": start,
            "tp_group": values.get("tp_group", tp_group),
            "dp_group": values.get("dp_group", dp_group),
        }
        try:
            if not first_forward.is_awaited(self._chunks(), self._begin_late):
                self._watch()
        except Exception as error:  # noqa: BLE001 - a monitor never ends a training
            print(f"telltale: cannot watch the training: {type(error).__name__}: {error}", file=sys.stderr)

    def _begin_late(self) -> None:
        """After the forward in which the last parameters came into being."""
        self._watch()
        if self._engine is not None:
            self._engine.forward_begins()
            self._engine.tell("the model had lazy parameters: it is watched from the end of its first forward on")

    def _watch(self) -> None:
        chunks = self._chunks()
        again, self._engine = self._engine, None
        if again is not None:
            again.detach()
        self._warn_of_equal_names(chunks)
        config = self.config
        engine = Engine(config, Measurer(config.eps, config.threads), self.rank)
        if again is not None:
            engine.dispatcher = again.dispatcher
        else:
            given = self._given_sinks
            engine.dispatcher.sinks = list(given) if given is not None else make_sinks(config, self._agent, engine)
        engine.dispatcher.open(self._context())
        self._engine = engine
        found, engine.parts = self._find(engine, chunks)
        self._adoption = Adoption(self) if self._adoption is None else self._adoption
        if dynamic.is_wanted() and self._path is not None:
            engine.active = config.dynamic_on
            if self._dynamic is not None:
                self._dynamic.close()
            self._dynamic = dynamic.ConfigWatch(self, os.fspath(self._path), self._loaded.text)
            engine.after_step.append(self._dynamic.poll)
            config.start_step = self._arguments["start"]
        engine.attach(found, chunks, self._arguments["grad_acc_steps"], self._arguments["start"])
        self._send_structure(engine, chunks)
        exits.watch()
        _live.add(self)
        _latest[:] = [weakref.ref(self)]

    def _warn_of_equal_names(self, chunks: list[torch.nn.Module]) -> None:
        """A list stands for the pipeline chunks of one model; several models in one cannot be told apart by name."""
        if len(chunks) > 1 and len({type(chunk) for chunk in chunks}) > 1:
            names = [{name for name, _ in chunk.named_parameters()} for chunk in chunks]
            if set.intersection(*names):
                print(
                    "telltale: the models of the list have parameters of the same names; name the models to tell them "
                    'apart: watch({"first": first, "second": second}, ...)',
                    file=sys.stderr,
                )

    def handed_over(self) -> list[Any]:
        """Everything from the optimizer that set_monitor() was given down to torch's."""
        return optimizer_chain(self._arguments["optimizer"])

    def adopt(self, optimizers: list[Any], is_new: bool) -> None:
        """Watches the optimizers that step the parameters instead of those known before. is_new: there were others."""
        engine = self._engine
        if engine is None:
            return
        targets = TargetSet(engine.config.targets, squash=True)
        found = discover(self._chunks(), optimizers, targets, False)
        if self.config.module_ranks and self.rank not in self.config.module_ranks:
            found.sources = []
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
        if engine is None:
            return
        before, self._loaded = self._loaded, loaded
        chunks = self._chunks()
        engine.config = loaded.config
        if self._given_sinks is None and loaded.config.format != before.config.format:
            self._exchange_sinks(engine)
        found, parts = self._find(engine, chunks)
        engine.dispatcher.open(self._context())
        engine.reconfigure(loaded.config, found, parts)
        engine.dispatcher.blob("config", "config.json", engine.step, loaded.text.encode())
        engine.dispatcher.event("config", engine.step, "the changed config is in force from this step")

    def _exchange_sinks(self, engine: Engine) -> None:
        """Another `format`: sinks of kinds that stay go on, the others end, new ones begin."""
        before = engine.dispatcher.sinks
        engine.dispatcher.sinks = make_sinks(self.config, self._agent, engine, before)
        for sink in before:
            if sink not in engine.dispatcher.sinks:
                sink.close("finished")

    @property
    def engine(self) -> Engine | None:
        return self._engine

    @property
    def config_watch(self) -> dynamic.ConfigWatch | None:
        """What looks at the config file under DYNAMIC_MONITOR."""
        return self._dynamic

    def _chunks(self) -> list[torch.nn.Module]:
        model = self._arguments["model"]
        if isinstance(model, dict):
            if self._named_models is None:
                self._named_models = NamedModels(model)
            return [self._named_models]
        return [_module_of(chunk) for chunk in (model if isinstance(model, (list, tuple)) else [model])]

    def _find(self, engine: Engine, chunks: list[torch.nn.Module]) -> tuple[Any, list[Any]]:
        """What the config selects: parameters, and the parts that watch modules."""
        config = engine.config
        targets = TargetSet(config.targets, squash=True)
        per_micro = config.monitor_mbs_grad and self._arguments["grad_acc_steps"] > 1
        found = discover(chunks, self._arguments["optimizer"], targets, per_micro)
        parts: list[Any] = []
        if config.module_ranks and self.rank not in config.module_ranks:
            found.sources = []
        else:
            if config.xy_distribution:
                parts += self._activations(engine, chunks, targets)
            parts += make_features(engine, chunks, targets)
        names = [name for chunk in chunks for name, _ in chunk.named_parameters()]
        names += [name for chunk in chunks for name, _ in chunk.named_modules()]
        for sentence in targets.unmatched_sentences(names):
            engine.tell(f"{sentence}; nothing is collected for it")
        return found, parts

    def _activations(self, engine: Engine, chunks: list[torch.nn.Module], targets: TargetSet) -> list[Any]:
        config = engine.config
        modules = []
        for vpp, chunk in enumerate(chunks):
            for name, module in chunk.named_modules():
                if type(module).__name__ == "FullyShardedDataParallel" or not _has_forward(module):
                    continue
                if not (targets.selects(name, vpp) or config.all_xy):
                    continue
                modules.append((name, vpp, module, _Wants(config, targets, name, vpp)))
        return [Activations(engine, modules)] if modules else []

    def _send_structure(self, engine: Engine, chunks: list[torch.nn.Module]) -> None:
        try:
            from .structure import structure_json

            engine.dispatcher.blob("structure", "model", engine.step, structure_json(chunks[0]).encode())
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("the module structure", error)

    def _context(self) -> RunContext:
        framework = f"pytorch {torch.__version__}"
        device = "cuda" if torch.cuda.is_available() else "cpu"
        agent = {"framework": framework, "device": device, "config_text": self._loaded.text, **self._agent}
        agent.setdefault("run_name", _run_name(self._chunks()[0]))
        chunks = enumerate(self._chunks())
        targets = TargetSet(self.config.targets, squash=True)
        named = [(vpp, name) for vpp, chunk in chunks for name, _ in chunk.named_parameters()]
        names = [(vpp, name) for vpp, name in named if targets.selects(name, vpp)]
        return RunContext(
            self.config,
            rank=self.rank,
            world_size=identity.world_size(),
            pp_stage=self._pp_stage(),
            start_step=self.step,
            info={"framework": framework, "device": device, "agent": agent, "parameters": names},
        )

    def _pp_stage(self) -> int:
        group = self.process_group
        if group is None:
            return self.rank
        try:
            import torch.distributed as dist

            return dist.get_rank(group)
        except Exception:  # noqa: BLE001
            return self.rank

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
        for sink in engine.dispatcher.sinks if engine is not None else []:
            if isinstance(sink, StreamSink):
                return sink.counters()
        return {}

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
            if self._adoption is not None:
                self._adoption.close()
            if self._dynamic is not None:
                self._dynamic.close()
            engine.dispatcher.close(reason)
        _live.discard(self)

    def __enter__(self) -> TrainerMon:
        return self

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        self.close("error" if kind is not None else "finished")

    def __deepcopy__(self, _memo: dict[int, Any]) -> TrainerMon:
        return self


class _Wants:
    """Whether a slot of one module is wanted."""

    def __init__(self, config: MonitorConfig, targets: TargetSet, name: str, vpp: int) -> None:
        self._config, self._targets, self._name, self._vpp = config, targets, name, vpp

    def __call__(self, slot: str, gradient: bool) -> bool:
        config = self._config
        if config.forward_only if gradient else config.backward_only:
            return False
        if len(self._targets) and self._targets.selects(self._name, self._vpp):
            return self._targets.selects_slot(self._name, slot, gradient, self._vpp)
        return True


def make_sinks(
    config: MonitorConfig, agent: dict[str, Any], engine: Engine, existing: Sequence[Sink] = ()
) -> list[Sink]:
    """The sinks that `format` names (stream by default when there is a join string, else csv), and the alerts; those of
    `existing` are used again, and files of new ones go where theirs go."""
    modes = (agent.get("mode"), os.environ.get("TELLTALE_MODE"))
    if "disabled" in modes:
        return []
    has_stream = agent.get("join") or os.environ.get("TELLTALE_JOIN") or "offline" in modes
    formats = config.format or ["stream" if has_stream else "csv"]
    old = {type(sink): sink for sink in existing}
    files = next((sink for sink in existing if isinstance(sink, FileSink)), None)
    worker = files.worker if files is not None else FrameWorker()
    directory = files.directory if files is not None else RunDirectory()
    makers: dict[str, tuple[type[Sink], Callable[[], Sink]]] = {
        "stream": (StreamSink, StreamSink),
        "csv": (CsvSink, lambda: CsvSink(worker, directory)),
        "tensorboard": (TensorBoardSink, lambda: TensorBoardSink(worker, directory)),
        "api": (ApiSink, ApiSink),
        "alerts": (AlertSink, lambda: AlertSink(worker, directory, on_event=engine.dispatcher.event)),
    }
    chosen = [makers[name] for name in dict.fromkeys([*formats, "alerts"])]
    return [old.get(kind) or make() for kind, make in chosen]


class NamedModels(torch.nn.ModuleDict):
    """Several models that train together, each under its name. Nobody calls it: a step's micro steps are counted by the
    first of them."""

    def __init__(self, models: dict[Any, Any]) -> None:
        super().__init__()
        for name, model in models.items():
            if not isinstance(name, str) or not name or "." in name:
                raise TypeError(f"a model's name is text without dots, not {name!r}")
            self.add_module(name, _module_of(model))


def _module_of(thing: Any) -> torch.nn.Module:
    """The module to walk: a DeepSpeed engine and the like are modules themselves."""
    if isinstance(thing, torch.nn.Module):
        return thing
    for name in ("module", "model"):
        inner = getattr(thing, name, None)
        if isinstance(inner, torch.nn.Module):
            return inner
    raise TypeError(f"set_monitor needs a torch.nn.Module or a list of them, not {type(thing).__name__}")


def _has_forward(module: torch.nn.Module) -> bool:
    """ModuleList and the like only hold others; nobody calls them."""
    return type(module).forward is not torch.nn.Module.forward


def _run_name(model: torch.nn.Module) -> str:
    """The script's name, else the model's class: what the run is called where nobody named it."""
    script = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    return os.path.splitext(script)[0] or type(model).__name__


def _at_least(value: Any, low: int, default: int, name: str) -> int:
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and value >= low:
        return value
    print(f"telltale: {name} is {value!r}; it must be a whole number from {low}; {default} is used", file=sys.stderr)
    return default


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
            monitor._closed = True
    _live.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
