# SPDX-License-Identifier: GPL-3.0-or-later
"""TrainerMon for MindSpore: msprobe's class, by its names and in both of its argument orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindspore as ms
from mindspore import nn

from ..agent.monitor import Monitor
from ..agent.sources import Discovery
from ..agent.targets import TargetSet
from ..config import MonitorConfig
from . import executor
from .engine import Engine
from .features import FEATURES
from .measure import Reader
from .sources import discover
from .structure import structure_json


class NamedCells:
    """Several nets that train together, each under its name. No Cell: that would rename their parameters."""

    def __init__(self, nets: dict[str, Any]) -> None:
        self._nets = {name: cell_of(net) for name, net in nets.items()}
        for name in nets:
            if not isinstance(name, str) or not name or "." in name:
                raise TypeError(f"a net's name is text without dots, not {name!r}")
        self.first = next(iter(self._nets.values()))

    def name_cells(self) -> dict[str, Any]:
        return self._nets

    def cells_and_names(self) -> Iterator[tuple[str, Any]]:
        for prefix, net in self._nets.items():
            for name, cell in net.cells_and_names():
                yield f"{prefix}.{name}" if name else prefix, cell

    def parameters_and_names(self) -> Iterator[tuple[str, Any]]:
        for prefix, net in self._nets.items():
            for name, parameter in net.parameters_and_names():
                yield f"{prefix}.{name}", parameter


def cell_of(thing: Any) -> Any:
    """The Cell to walk; a train.Model has it inside."""
    found = thing if isinstance(thing, nn.Cell) else getattr(thing, "_network", None)
    if not isinstance(found, nn.Cell):
        raise TypeError(f"set_monitor needs a mindspore.nn.Cell or a list of them, not {type(thing).__name__}")
    return found


class TrainerMon(Monitor):
    """Watches a training in PyNative mode: weights, gradients, moments, activations, run metrics.

    Training stays bitwise the same: no hook draws a random number, writes to a tensor, communicates, waits for a tensor
    or raises. Thread: training.
    """

    framework = Engine.framework
    features = FEATURES
    _named: NamedCells | None = None

    def set_monitor(self, model: Any = None, *args: Any, **kwargs: Any) -> None:
        executor.tell_of_modes(self)
        super().set_monitor(model, *args, **kwargs)

    def mode_changed(self) -> None:
        """The hooks go before a net is compiled with them, and come back with PyNative mode."""
        engine = self.engine
        if engine is None or self.is_closed:
            return
        if executor.is_graph_mode():
            engine.detach()
            engine.tell(
                f"the context was switched to GRAPH mode before step {engine.step}: nets are compiled whole, and a "
                "hook would become part of what is compiled, so all are taken away; steps in that mode are not seen, "
                "and watching goes on when mindspore.set_context(mode=mindspore.PYNATIVE_MODE) is called"
            )
        else:
            self._arguments["start"] = engine.step
            self._watch()

    def make_engine(self, config: MonitorConfig) -> Engine:
        reader = Reader(config.eps, config.threads, checksum=config.checksum, has_bins=bool(config.histogram))
        return Engine(config, reader, self.rank)

    def chunks(self) -> list[Any]:
        model = self._arguments["model"]
        if isinstance(model, dict):
            if self._named is None:
                self._named = NamedCells(model)
            return [self._named]
        return [cell_of(chunk) for chunk in (model if isinstance(model, (list, tuple)) else [model])]

    def discover(self, chunks: list[Any], optimizer: Any, targets: TargetSet, per_micro_step: bool) -> Discovery:
        return discover(self.framework, chunks, optimizer, targets)

    def structure(self, chunk: Any) -> str:
        return structure_json(chunk)

    def whereabouts(self) -> tuple[str, str]:
        return f"mindspore {ms.__version__}", str(ms.get_context("device_target")).lower()
