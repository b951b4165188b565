# SPDX-License-Identifier: GPL-3.0-or-later
"""The L2 features of weights and routers: linear_hook and the two router hooks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ..kinds import DType, Kind, Stat
from ..series import VALUE, Extra, SeriesDesc
from ..slots import Slot
from .clock import Clock
from .features import Asked, Modules
from .hooks import Call
from .measurer import At, Rows
from .part import Part, Stepping

SR = "F^2/sigma^2"
SR_ROOT = "F/sigma"
SIMILARITY = "mean cosine over pairs of experts"
ENTROPY = "mean over tokens of -sum p ln p, nats"


class Norms(Protocol):
    """What measures matrices, each from where it was left the last time."""

    def measure(self, key: Hashable, weight: Any) -> Any: ...
    def forget(self) -> None: ...


class Matrices(Protocol):
    """A framework's linear algebra."""

    def matrix_name(self, module: Any) -> str: ...
    def norms(self) -> Norms: ...
    def shape_of(self, weight: Any) -> tuple[int, int] | None: ...
    def beside(self, *values: Any) -> Any: ...
    def router_logits(self, output: Any) -> Any: ...
    def per_token_expert_entropy(self, logits: Any) -> Any: ...
    def router_weight_similarity(self, weight: Any) -> Any: ...


class LinearPart(Part):
    """Stable rank and spectral norm of the matrices that l2_targets.linear_hook names, before each collected step."""

    what = Kind.LINEAR.word

    def __init__(self, engine: Clock, matrices: Matrices, modules: Modules) -> None:
        """F/sigma, what msprobe's files call sr; F^2/sigma^2 beside it for sinks that want that."""
        super().__init__(engine)
        self._matrices = matrices
        self._norms = matrices.norms()
        self._step = -1
        self._tables: list[tuple[Any, Slot, str]] = []
        self._modules: list[tuple[str, int, Any, str]] = []
        for name, vpp, module in modules:
            attribute = matrices.matrix_name(module)
            if attribute:
                self._modules.append((name, vpp, module, attribute))
            else:
                engine.not_observed(Kind.LINEAR, name, "it has no weight matrix")
        self._rows: dict[str, list[int]] = {}

    def before_step(self, stepping: Stepping) -> None:
        """Measures the weights that the forward pass used, once a step."""
        engine = self.engine
        if engine.step == self._step:
            return
        self._step = engine.step
        if not self._tables:  # not before the part is in force: the tables of what was are forgotten then
            self._tables = [(engine.table(Kind.LINEAR), VALUE, SR_ROOT)]
            if engine.dispatcher.wants & Extra.STABLE_RANK:
                self._tables.append((engine.extra_table(Kind.LINEAR, only=Extra.STABLE_RANK), Slot.named("sr"), SR))
        for name, vpp, module, attribute in self._modules:
            weight = getattr(module, attribute, None)
            shape = self._matrices.shape_of(weight)
            if shape is None:
                engine.not_observed(Kind.LINEAR, name, "its weight is no matrix of numbers on this rank")
                continue
            rows = [(table, row) for (table, _, _), row in zip(self._tables, self._rows_of(name, vpp, shape))]
            if all(row >= 0 for _, row in rows):
                engine.measurer.afterwards(rows, partial(self._measure, engine, (vpp, name), rows), weight)

    def _measure(self, engine: Clock, key: Hashable, rows: Rows, at: At, weight: Any) -> None:
        stats = self._norms.measure(key, weight)
        if not getattr(stats.kernel_norm, "is_cpu", True):
            engine.tell(
                "the spectral norms of weights on a device are not converged in the first steps: they are lower "
                "bounds that grow tighter from step to step"
            )
        for (table, row), rank in zip(rows, (stats.sr_root, stats.sr)):
            engine.put_tensor(at(table), [row], self._matrices.beside(rank, stats.kernel_norm))

    def _rows_of(self, name: str, vpp: int, shape: tuple[int, int]) -> list[int]:
        rows = self._rows.get(f"{vpp}:{name}")
        if rows is None:
            desc = SeriesDesc(name=name, vpp_stage=vpp, shape=shape, dtype=DType.F32, numel=shape[0] * shape[1])
            rows = self._rows[f"{vpp}:{name}"] = [
                table.add(replace(desc, slot=slot, definition=words)) for table, slot, words in self._tables
            ]
        return rows

    def close(self) -> None:
        self._norms.forget()


class RouterPart(Part):
    """per_token_expert_entropy of the routers named in moe_router_logit_hook, router_weight_similarity of those in
    moe_router_weight_hook."""

    what = Kind.ROUTER.word

    def __init__(self, engine: Clock, matrices: Matrices, logits: Modules, weights: Modules) -> None:
        super().__init__(engine)
        self._matrices = matrices
        self._logits, self._weights = logits, weights
        self._step = -1
        self._rows: dict[tuple[str, int, int, int], int] = {}

    def hooked_modules(self) -> list[tuple[str, Any]]:
        return [(name, module) for name, _, module in self._logits]

    def hooks(self) -> list[Any]:
        framework = self.engine.framework
        inside = framework.unhookable(self.engine.roots)
        return [
            framework.after_forward(module, Call(self.seen, name, vpp))
            for name, vpp, module in self._logits
            if id(module) not in inside
        ]

    def seen(self, name: str, vpp: int, module: Any, _args: Any, output: Any) -> None:
        """A router has run. Never raises."""
        engine = self._engine()
        if engine is None or engine.framework.is_recording():
            return
        if not engine.collecting or engine.strikes.is_off(Kind.ROUTER.word):
            return
        try:
            framework = engine.framework
            if not framework.is_training(module) or framework.backward_pass() != -1:
                return
            logits = self._matrices.router_logits(output)
            if logits is None:
                engine.not_observed(Kind.ROUTER, name, "its output holds no logits")
                return
            measure = self._matrices.per_token_expert_entropy
            self._put(engine, Stat.ENTROPY, name, vpp, engine.micro, measure, logits, ENTROPY)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.ROUTER.word, error)

    def before_step(self, stepping: Stepping) -> None:
        """Measures the weights that the forward pass used, once a step."""
        engine = self.engine
        if engine.step == self._step:
            return
        self._step = engine.step
        for name, vpp, module in self._weights:
            attribute = self._matrices.matrix_name(module)
            weight = getattr(module, attribute) if attribute else None
            if self._matrices.shape_of(weight) is None:
                engine.not_observed(Kind.ROUTER, name, "it has no weight matrix")
            else:
                measure = self._matrices.router_weight_similarity
                self._put(engine, Stat.SIMILARITY, name, vpp, -1, measure, weight, SIMILARITY)

    def _put(
        self, engine: Clock, stat: Stat, name: str, vpp: int, micro: int, measure: Any, tensor: Any, words: str
    ) -> None:
        table = engine.extra_table(Kind.ROUTER, (stat,))
        row = self._rows.get((name, vpp, micro, int(stat)))
        if row is None:
            desc = SeriesDesc(
                name=name,
                slot=VALUE if stat is Stat.ENTROPY else Slot.named("weight"),
                vpp_stage=vpp,
                micro_step=-1 if micro < 0 else engine.micro_label(),
                definition=words,
                dtype=DType.F32,
                numel=1,
            )
            row = self._rows[name, vpp, micro, int(stat)] = table.add(desc)
        if row < 0:
            return

        def job(at: At, given: Any) -> None:
            value = measure(given)
            if value is not None:
                engine.put_tensor(at(table), [row], value.reshape(1, 1))
            else:
                engine.not_observed(Kind.ROUTER, name, "its output holds no logits")

        engine.measurer.afterwards([(table, row)], job, tensor)


def linear(asked: Asked, matrices: Matrices) -> Iterable[Part]:
    """The part for linear_hook."""
    modules = asked.named("linear_hook")
    if asked.listed("linear_hook") == []:
        modules = [entry for entry in asked.modules() if matrices.matrix_name(entry[2])]
    return [LinearPart(asked.engine, matrices, modules)] if modules else []


def routers(asked: Asked, matrices: Matrices) -> Iterable[Part]:
    """The part for the router hooks."""
    modules = asked.named("moe_router_logit_hook"), asked.named("moe_router_weight_hook")
    return [RouterPart(asked.engine, matrices, *modules)] if any(modules) else []
