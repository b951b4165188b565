# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's interfaces for reading metrics in the loop, and the names it has deprecated."""

from __future__ import annotations

import dataclasses
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ..configfile import OPS
from ..dispatch import frame_of
from ..kinds import Kind
from ..series import Frame, SeriesDesc

if TYPE_CHECKING:
    from ..config import LoadedConfig
    from .engine import Engine

_TASKS = {
    Kind.GRAD_REDUCED: "post_grad",
    Kind.GRAD_UNREDUCED: "pre_grad",
    Kind.ACTV: "actv",
    Kind.ACTV_GRAD: "actv_grad",
}
_VALUES = ("norm", "min", "max", "zeros", "nans", "mean")

Metrics = dict[str, dict[str, Any]]


class LegacyInterface(ABC):
    """Mixed into TrainerMon. Metrics are {tag: {op: value}} with msprobe's tags,
    "{vpp}:{name}[.slot][:micro]/rank{R}/{task}"."""

    _loaded: LoadedConfig
    _engine: Engine | None
    rank: int

    @abstractmethod
    def apply(self, loaded: LoadedConfig) -> None:
        """Puts another config in force."""

    def generate_wgrad_metrics(self, *_ignored: Any) -> tuple[Metrics, Metrics]:
        """(reduced, unreduced) weight gradients of the step in progress where they are there already, else of the last
        one."""
        return self._metrics(Kind.GRAD_REDUCED), self._metrics(Kind.GRAD_UNREDUCED)

    def generate_xy_metrics(self) -> tuple[Metrics, Metrics]:
        """(activations, gradients of activations), as generate_wgrad_metrics()."""
        return self._metrics(Kind.ACTV), self._metrics(Kind.ACTV_GRAD)

    def _metrics(self, kind: Kind) -> Metrics:
        engine = self._engine
        if engine is None:
            return {}
        engine.keeps_last = True
        frame = frame_of(engine.step, [engine.table(kind)])
        if not frame.tables and engine.last is not None:
            frame = Frame(engine.last.step, [shot for shot in engine.last.tables if shot.kind is kind])
        out: Metrics = {}
        ops = [op for op in engine.config.ops if op in _VALUES] or ["norm"]
        for shot in frame.tables:
            columns = [shot.column(op).tolist() for op in ops]
            for i, desc in enumerate(shot.series):
                values: dict[str, Any] = {op: column[i] for op, column in zip(ops, columns)}
                if "shape" in engine.config.ops:
                    values["shape"] = list(desc.shape)
                if "dtype" in engine.config.ops:
                    values["dtype"] = desc.torch_dtype
                out[f"{self._tag(desc)}/rank{self.rank}/{_TASKS[kind]}"] = values
        return out

    @staticmethod
    def _tag(desc: SeriesDesc) -> str:
        name = f"{desc.name}.{desc.slot}" if desc.slot else desc.name
        micro = f":{desc.micro_step}" if desc.micro_step >= 0 else (":0" if desc.slot else "")
        return f"{desc.vpp_stage}:{name}{micro}"

    @property
    def ops(self) -> list[str]:
        """The statistics that files and generate_*_metrics() have; the stream always has all."""
        return list(self._loaded.config.ops)

    @ops.setter
    def ops(self, value: list[str]) -> None:
        good = [op for op in value if op in OPS] if isinstance(value, (list, tuple)) else []
        unknown = [op for op in value if op not in OPS] if isinstance(value, (list, tuple)) else [value]
        if unknown and self._engine is not None:
            self._engine.tell(f"ops {unknown} are unknown and left out; there are {', '.join(OPS)}")
        self._change(ops=good or ["norm"])

    def reload_xy(self, xy_distribution: bool = False) -> None:
        """Deprecated: switches the collection of activations."""
        warnings.warn("reload_xy() is deprecated: use DYNAMIC_MONITOR", DeprecationWarning, stacklevel=2)
        self._change(xy_distribution=bool(xy_distribution))

    def set_wrapped_optimizer(self, _optimizer: Any) -> None:
        """Deprecated: pass the optimizer to set_monitor()."""
        warnings.warn(
            "set_wrapped_optimizer() is deprecated: pass the optimizer to set_monitor()",
            DeprecationWarning,
            stacklevel=2,
        )

    def _change(self, **fields: Any) -> None:
        config = dataclasses.replace(self._loaded.config, **fields)
        if config.xy_distribution and not config.targets:
            config.all_xy = True
        loaded = dataclasses.replace(self._loaded, config=config)
        if self._engine is None:
            self._loaded = loaded
        else:
            self.apply(loaded)
