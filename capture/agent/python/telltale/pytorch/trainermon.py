# SPDX-License-Identifier: GPL-3.0-or-later
"""TrainerMon: msprobe's class, by its names and in both of its argument orders."""

from __future__ import annotations

from typing import Any

import torch

<<<<<<< HEAD
from ..agent.engine import Engine as AnyEngine
from ..agent.monitor import Monitor
from ..agent.part import Part
from ..agent.sources import Discovery, Source
from ..agent.targets import TargetSet
from ..config import MonitorConfig
=======
from .. import configfile, exits, identity, runpage
from ..config import LoadedConfig, MonitorConfig
from ..console import log
from ..flightrecorder import is_left_out, kept_config
from ..kinds import Kind
>>>>>>> mf
from ..measure import Measurer
from . import first_forward, groups
from .adoption import Adoption
from .compiled import unreachable
from .discover import discover
from .engine import Engine
<<<<<<< HEAD
from .features import FEATURES
=======
from .features import make_features
from .jobmetrics import LOCAL_NORM, JobMetrics, local_norm_of
from .legacy import LegacyInterface, harmless
from .metrics import Finish
>>>>>>> mf
from .optimizers import optimizer_chain
from .structure import structure_json
from .watchedmodels import NamedModels, chunks_of


class TrainerMon(Monitor):
    """Watches a training: weights, gradients, moments, activations, attention, run metrics.

    Training stays bitwise the same: no hook draws a random number, writes to a tensor, communicates, waits for a device
    or raises. Thread: training.
    """

<<<<<<< HEAD
    framework = Engine.framework
    features = FEATURES
    _named_models: NamedModels | None = None
=======
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
        self._adoption: Adoption | None = None
        self._named_models: NamedModels | None = None
        self._sinks: ChosenSinks | None = None
        self.page = runpage.RunPage(_version(), self.rank, self._tell)
        self.job = JobMetrics()
        self._told: set[str] = set()
>>>>>>> mf

    def make_engine(self, config: MonitorConfig) -> Engine:
        measurer = Measurer(config.eps, config.threads, checksum=config.checksum, has_bins=bool(config.histogram))
        return Engine(config, measurer, self.rank)

    def chunks(self) -> list[torch.nn.Module]:
        model = self._arguments["model"]
        if isinstance(model, dict):
            if self._named_models is None:
                self._named_models = NamedModels(model)
            return [self._named_models]
        return chunks_of(model)

    def discover(
        self, chunks: list[torch.nn.Module], optimizer: Any, targets: TargetSet, per_micro_step: bool
    ) -> Discovery:
        return discover(chunks, optimizer, targets, per_micro_step)

    def structure(self, chunk: torch.nn.Module) -> str:
        return structure_json(chunk)

    def whereabouts(self) -> tuple[str, str]:
        return f"pytorch {torch.__version__}", "cuda" if torch.cuda.is_available() else "cpu"

    def is_awaited(self) -> bool:
        return first_forward.is_awaited(self.chunks(), self._begin_late)

<<<<<<< HEAD
    def make_adoption(self, engine: AnyEngine) -> Adoption:
        return Adoption(engine, self.handed_over, self.adopt)

    def handed_over(self) -> list[Any]:
        """Everything from the optimizer that set_monitor() was given down to torch's."""
        return optimizer_chain(self._arguments["optimizer"])
=======
    def _begin_page(self, engine: Engine) -> None:
        """Only where somebody reads it."""
        engine.system = self._step_ends
        engine.local_norm = self._local_norm
        if engine.dispatcher.takes_pages():
            dispatcher = engine.dispatcher
            self.page.begin(dispatcher.blob, dispatcher.event, lambda: self.step, self._page_wants)

    def _step_ends(self) -> dict[str, float]:
        """What is known of a step only when it ends."""
        engine = self._engine
        if engine is not None and (values := self.job.step_ends()):
            self.log(values, engine.step)
        return self.page.sample()

    def _local_norm(self, engine: Engine) -> Finish | None:
        if not self.job.wants_local_norm:
            return None
        table = engine.known_table(Kind.GRAD_UNREDUCED)
        value, finish = local_norm_of(table, engine.measurer.has_pending)
        if value is not None:
            self.log({LOCAL_NORM: value}, engine.step)
        return finish

    def _page_wants(self, field: str) -> bool:
        """Thread: any."""
        engine = self._engine
        is_there = engine is not None and engine.active or field != "system_metrics"
        return bool(is_there and getattr(self.config, field))
>>>>>>> mf

    def unreachable(self, engine: AnyEngine, parts: list[Part]) -> str:
        return unreachable(engine, parts)

<<<<<<< HEAD
    def place_in(self, group: Any) -> tuple[int, list[int]]:
        return groups.place_in(group, self.rank)
=======
    def tell_once(self, sentence: str) -> None:
        """What a caller may not expect, on the console and in the run; the same sentence not again."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

    def log_document(self, kind: str, name: str, value: Any, step: int | None) -> None:
        """A "text" or an "image" of the user's at a step; without one at that of log()."""
        engine = self._engine
        if engine is None or self._closed:
            return
        try:
            at = engine.step_of_log() if step is None else int(step)
            (self.page.text if kind == "text" else self.page.image)(name, value, at)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("texts and images", error)
>>>>>>> mf

    def coordinate(self, group: Any) -> int | None:
        return groups.coordinate(group)

    def duplicates(self, sources: list[Source]) -> dict[str, frozenset[tuple[int, str]]]:
        return groups.duplicates(sources, self._arguments["dp_group"], self._arguments["tp_group"])
