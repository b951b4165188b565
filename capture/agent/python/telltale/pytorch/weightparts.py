# SPDX-License-Identifier: GPL-3.0-or-later
"""The L2 features of weights and routers: linear_hook and the two router hooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from ..agent.clock import Clock
from ..agent.part import Part, Stepping
from ..kinds import DType, Kind, Stat
from ..series import VALUE, Extra, SeriesDesc
from ..slots import Slot
from .compiled import compiled_inside, is_recompute
from .hooks import Call
from .linear import SR, SR_ROOT, SpectralNorms, matrix_name
from .router import ENTROPY, SIMILARITY, per_token_expert_entropy, router_logits, router_weight_similarity

Modules = list[tuple[str, int, torch.nn.Module]]  # name, chunk, module


class LinearPart(Part):
    """Stable rank and spectral norm of the matrices that l2_targets.linear_hook names, before each collected step."""

    what = Kind.LINEAR.word

    def __init__(self, engine: Clock, modules: Modules) -> None:
        """F/sigma, what msprobe's files call sr; F^2/sigma^2 beside it for sinks that want that."""
        super().__init__(engine)
        self._norms = SpectralNorms()
        self._step = -1
        self._tables: list[tuple[Any, Slot, str]] = []
        self._modules: list[tuple[str, int, torch.nn.Module, str]] = []
        for name, vpp, module in modules:
            attribute = matrix_name(module)
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
            stats = self._norms.measure((vpp, name), getattr(module, attribute, None))
            if stats is None:
                engine.not_observed(Kind.LINEAR, name, "its weight is no matrix of numbers on this rank")
                continue
            if not stats.kernel_norm.is_cpu:
                engine.tell(
                    "the spectral norms of weights on a device are not converged in the first steps: they are lower "
                    "bounds that grow tighter from step to step"
                )
            ranks = stats.sr_root, stats.sr
            for (table, _, _), rank, row in zip(self._tables, ranks, self._rows_of(name, vpp, stats.shape)):
                engine.put_tensor(table, [row], torch.stack((rank, stats.kernel_norm))[None])

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

    def __init__(self, engine: Clock, logits: Modules, weights: Modules) -> None:
        super().__init__(engine)
        self._logits, self._weights = logits, weights
        self._step = -1
        self._rows: dict[tuple[str, int, int, int], int] = {}

    def hooked_modules(self) -> list[tuple[str, Any]]:
        return [(name, module) for name, _, module in self._logits]

    def hooks(self) -> list[Any]:
        inside = compiled_inside(self.engine.roots)
        return [
            module.register_forward_hook(Call(self.seen, name, vpp))
            for name, vpp, module in self._logits
            if id(module) not in inside
        ]

    def seen(self, name: str, vpp: int, module: Any, _args: Any, output: Any) -> None:
        """A router has run. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting or engine.strikes.is_off(Kind.ROUTER.word):
            return
        try:
            if not module.training or is_recompute():
                return
            logits = router_logits(output)
            value = None if logits is None else per_token_expert_entropy(logits)
            if value is None:
                engine.not_observed(Kind.ROUTER, name, "its output holds no logits")
                return
            self._put(engine, Stat.ENTROPY, name, vpp, engine.micro, value, ENTROPY)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.ROUTER.word, error)

    def before_step(self, stepping: Stepping) -> None:
        """Measures the weights that the forward pass used, once a step."""
        engine = self.engine
        if engine.step == self._step:
            return
        self._step = engine.step
        for name, vpp, module in self._weights:
            attribute = matrix_name(module)
            value = router_weight_similarity(getattr(module, attribute)) if attribute else None
            if value is None:
                engine.not_observed(Kind.ROUTER, name, "it has no weight matrix")
            else:
                self._put(engine, Stat.SIMILARITY, name, vpp, -1, value, SIMILARITY)

    def _put(self, engine: Clock, stat: Stat, name: str, vpp: int, micro: int, value: Any, words: str) -> None:
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
        if row >= 0:
            engine.put_tensor(table, [row], value.reshape(1, 1))
