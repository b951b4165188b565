# SPDX-License-Identifier: GPL-3.0-or-later
"""TrainerMon: msprobe's class, by its names and in both of its argument orders."""

from __future__ import annotations

from typing import Any

import torch

from ..agent.engine import Engine as AnyEngine
from ..agent.metrics import Finish
from ..agent.monitor import Monitor
from ..agent.part import Part
from ..agent.sources import Discovery, Source
from ..agent.targets import TargetSet
from ..config import MonitorConfig
from ..kinds import Kind
from ..measure import Measurer
from . import first_forward, groups
from .adoption import Adoption
from .compiled import unreachable
from .discover import discover
from .engine import Engine
from .features import FEATURES
from .jobmetrics import LOCAL_NORM, JobMetrics, local_norm_of
from .optimizers import optimizer_chain
from .structure import structure_json
from .watchedmodels import NamedModels, chunks_of


class TrainerMon(Monitor):
    """Watches a training: weights, gradients, moments, activations, attention, run metrics.

    Training stays bitwise the same: no hook draws a random number, writes to a tensor, communicates, waits for a device
    or raises. Thread: training.
    """

    framework = Engine.framework
    features = FEATURES
    _named_models: NamedModels | None = None

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.job = JobMetrics()

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

    def _begin_page(self, engine: AnyEngine) -> None:
        super()._begin_page(engine)
        engine.system = self._step_ends
        engine.local_norm = self._local_norm

    def _step_ends(self) -> dict[str, float]:
        """What is known of a step only when it ends."""
        engine = self._engine
        if engine is not None and (values := self.job.step_ends()):
            self.log(values, engine.step)
        return self.page.sample()

    def _local_norm(self, engine: AnyEngine) -> Finish | None:
        if not self.job.wants_local_norm:
            return None
        table = engine.known_table(Kind.GRAD_UNREDUCED)
        value, finish = local_norm_of(table, engine.measurer.has_pending)
        if value is not None:
            self.log({LOCAL_NORM: value}, engine.step)
        return finish

    def structure(self, chunk: torch.nn.Module) -> str:
        return structure_json(chunk)

    def whereabouts(self) -> tuple[str, str]:
        return f"pytorch {torch.__version__}", "cuda" if torch.cuda.is_available() else "cpu"

    def is_awaited(self) -> bool:
        return first_forward.is_awaited(self.chunks(), self._begin_late)

    def make_adoption(self, engine: AnyEngine) -> Adoption:
        return Adoption(engine, self.handed_over, self.adopt)

    def handed_over(self) -> list[Any]:
        """Everything from the optimizer that set_monitor() was given down to torch's."""
        return optimizer_chain(self._arguments["optimizer"])

    def unreachable(self, engine: AnyEngine, parts: list[Part]) -> str:
        return unreachable(engine, parts)

    def place_in(self, group: Any) -> tuple[int, list[int]]:
        return groups.place_in(group, self.rank)

    def coordinate(self, group: Any) -> int | None:
        return groups.coordinate(group)

    def duplicates(self, sources: list[Source]) -> dict[str, frozenset[tuple[int, str]]]:
        return groups.duplicates(sources, self._arguments["dp_group"], self._arguments["tp_group"])
