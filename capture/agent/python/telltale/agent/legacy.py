# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's interfaces for reading metrics in the loop, and the names it has deprecated."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from ..configfile import OPS
from ..console import log
from ..kinds import Kind
from ..series import SeriesDesc, TableSnapshot
from .asked import gradients_now, values_now

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
_Function = TypeVar("_Function", bound=Callable[..., Any])


def harmless(make: Callable[[], Any] = lambda: None) -> Callable[[_Function], _Function]:
    """What goes wrong in the decorated function is told, and never ends a training; `make()` is the result then."""

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return function(self, *args, **kwargs)
            except DeprecationWarning:
                raise  # the user has made warnings errors
            except Exception as error:  # noqa: BLE001 - a monitor never ends a training
                log.warning("%s() failed: %s: %s; training goes on", function.__name__, type(error).__name__, error)
                return make()

        return guarded  # type: ignore[return-value]

    return decorate


class LegacyInterface(ABC):
    """Mixed into TrainerMon. Metrics are {tag: {op: value}} with msprobe's tags,
    "{vpp}:{name}[.slot][:micro]/rank{R}/{task}"."""

    _loaded: LoadedConfig
    _engine: Engine | None
    _wrapped_optimizer: Any = None
    rank: int

    @abstractmethod
    def apply(self, loaded: LoadedConfig) -> None:
        """Puts another config in force."""

    @abstractmethod
    def set_monitor(self, model: Any = None, *args: Any, **kwargs: Any) -> None:
        """Watches a model."""

    @harmless(lambda: ({}, {}))
    def generate_wgrad_metrics(self, *_ignored: Any, **_more: Any) -> tuple[Metrics, Metrics]:
        """(reduced, unreduced) weight gradients: those that an optimizer would take now, else, where they have been
        cleared, of the last collected step; before reduction, of the step in progress, else of the last one. Waits for
        results that are still on a device."""
        engine = self._engine
        if engine is None:
            return {}, {}
        if not engine.config.wg_distribution:
            engine.tell("generate_wgrad_metrics() has nothing to give: wg_distribution is not true in the config")
            return {}, {}
        reduced = gradients_now(engine) or values_now(engine, Kind.GRAD_REDUCED)
        return self._metrics(engine, reduced), self._metrics(engine, values_now(engine, Kind.GRAD_UNREDUCED))

    @harmless(lambda: ({}, {}))
    def generate_xy_metrics(self) -> tuple[Metrics, Metrics]:
        """(activations, gradients of activations) of the step in progress, else of the last collected one. Waits for
        results that are still on a device."""
        engine = self._engine
        if engine is None:
            return {}, {}
        if not engine.config.xy_distribution:
            engine.tell("generate_xy_metrics() has nothing to give: xy_distribution is not true in the config")
            return {}, {}
        values, gradients = values_now(engine, Kind.ACTV), values_now(engine, Kind.ACTV_GRAD)
        return self._metrics(engine, values), self._metrics(engine, gradients)

    def _metrics(self, engine: Engine, shot: TableSnapshot | None) -> Metrics:
        out: Metrics = {}
        if shot is None:
            return out
        ops = [op for op in engine.config.ops if op in _VALUES] or ["norm"]
        columns = [shot.column(op).tolist() for op in ops]
        for i, desc in enumerate(shot.series):
            values: dict[str, Any] = {op: column[i] for op, column in zip(ops, columns)}
            if "shape" in engine.config.ops:
                values["shape"] = list(desc.shape)
            if "dtype" in engine.config.ops:
                values["dtype"] = desc.torch_dtype
            out[f"{self._tag(desc)}/rank{self.rank}/{_TASKS[shot.kind]}"] = values
        return out

    @staticmethod
    def _tag(desc: SeriesDesc) -> str:
        slot = desc.slot.text
        name = f"{desc.name}.{slot}" if slot else desc.name
        micro = f":{desc.micro_step}" if desc.micro_step >= 0 else (":0" if slot else "")
        return f"{desc.vpp_stage}:{name}{micro}"

    @property
    def ops(self) -> list[str]:
        """The statistics that files and generate_*_metrics() have; the stream always has all."""
        return list(self._loaded.config.ops)

    @ops.setter
    def ops(self, value: list[str]) -> None:
        self._set_ops(value)

    @harmless()
    def _set_ops(self, value: Any) -> None:
        given = list(value) if isinstance(value, (list, tuple)) else [value]
        unknown = [op for op in given if op not in OPS]
        if unknown and self._engine is not None:
            self._engine.tell(f"ops {unknown} are unknown and left out; there are {', '.join(OPS)}")
        self._change(ops=[op for op in given if op in OPS] or ["norm"])

    @harmless()
    def reload_xy(self, xy_distribution: bool = False) -> None:
        """Deprecated: switches the collection of activations."""
        warnings.warn("reload_xy() is deprecated: use DYNAMIC_MONITOR", DeprecationWarning, stacklevel=3)
        self._change(xy_distribution=bool(xy_distribution))

    @harmless()
    def set_wrapped_optimizer(self, optimizer: Any = None) -> None:
        """Deprecated: the optimizer of a monitor_gnorm_with_ad() or set_monitor() that is given none."""
        warnings.warn(
            "set_wrapped_optimizer() is deprecated: pass the optimizer to set_monitor()",
            DeprecationWarning,
            stacklevel=3,
        )
        self._wrapped_optimizer = optimizer

    @harmless()
    def monitor_gnorm_with_ad(self, model: Any = None, *args: Any, **kwargs: Any) -> None:
        """Deprecated: set_monitor() by its former name."""
        warnings.warn(
            "monitor_gnorm_with_ad() is deprecated: it is called set_monitor() now", DeprecationWarning, stacklevel=3
        )
        self.set_monitor(model, *args, **kwargs)

    def _change(self, **fields: Any) -> None:
        config = dataclasses.replace(self._loaded.config, **fields)
        if config.xy_distribution and not config.targets:
            config.all_xy = True
        document = {**self._loaded.document, **fields}
        loaded = dataclasses.replace(self._loaded, config=config, document=document)
        if self._engine is None:
            self._loaded = loaded
        else:
            self.apply(loaded)
