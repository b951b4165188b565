# SPDX-License-Identifier: GPL-3.0-or-later
"""The L2 features of weights and routers: linear_hook and the two router hooks."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from ..kinds import DType, Kind, Stat
from ..series import SeriesDesc
from .activations import is_recompute
from .compiled import compiled_inside, is_recording
from .hooks import Hook
from .linear import SR, SR_ROOT, SpectralNorms, matrix_name
from .part import Part
from .router import ENTROPY, SIMILARITY, per_token_expert_entropy, router_logits, router_weight_similarity

if TYPE_CHECKING:
    from .engine import Engine

Modules = list[tuple[str, int, torch.nn.Module]]  # name, chunk, module


class LinearPart(Part):
    """Stable rank and spectral norm of the matrices that l2_targets.linear_hook names, before each collected step."""

    def __init__(self, engine: Engine, modules: Modules, like_msprobe: bool) -> None:
        """like_msprobe: F/sigma alone, what its files call sr; else F^2/sigma^2 beside it."""
        super().__init__(engine)
        self._norms = SpectralNorms()
        self._step = -1
        self._both = not like_msprobe
        self._modules: list[tuple[str, int, torch.nn.Module, str]] = []
        for name, vpp, module in modules:
            attribute = matrix_name(module)
            if attribute:
                self._modules.append((name, vpp, module, attribute))
            else:
                engine.not_observed(Kind.LINEAR, name, "it has no weight matrix")
        self._rows: dict[str, list[int]] = {}
        self._told_loose = False

    def before_step(self, sources: list[Any]) -> None:
        """Measures the weights that the forward pass used, once a step."""
        engine = self._engine()
        if engine is None or engine.step == self._step or engine.strikes.is_off(Kind.LINEAR.word):
            return
        self._step = engine.step
        try:
            for name, vpp, module, attribute in self._modules:
                stats = self._norms.measure((vpp, name), getattr(module, attribute, None))
                if stats is None:
                    engine.not_observed(Kind.LINEAR, name, "its weight is no matrix of numbers on this rank")
                    continue
                if not (stats.kernel_norm.is_cpu or self._told_loose):
                    self._told_loose = True
                    engine.tell(
                        "the spectral norms of weights on a device are not converged in the first steps: they are "
                        "lower bounds that grow tighter from step to step"
                    )
                values = [torch.stack((stats.sr_root, stats.kernel_norm))]
                if self._both:
                    values.append(torch.stack((stats.sr, stats.kernel_norm)))
                engine.put_tensor(Kind.LINEAR, self._rows_of(engine, name, vpp, stats.shape), torch.stack(values))
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(Kind.LINEAR.word, error)

    def _rows_of(self, engine: Engine, name: str, vpp: int, shape: tuple[int, int]) -> list[int]:
        rows = self._rows.get(f"{vpp}:{name}")
        if rows is None:
            forms = [("", SR_ROOT)] + ([("sr", SR)] if self._both else [])
            rows = self._rows[f"{vpp}:{name}"] = [
                engine.table(Kind.LINEAR).add(
                    SeriesDesc(
                        name=name,
                        slot=slot,
                        vpp_stage=vpp,
                        definition=words,
                        shape=shape,
                        dtype=DType.F32,
                        numel=shape[0] * shape[1],
                    )
                )
                for slot, words in forms
            ]
        return rows

    def close(self) -> None:
        self._norms.forget()


class _RouterHook(Hook):
    """Forward hook of a router."""

    __slots__ = ("_part", "_name", "_vpp")

    def __init__(self, part: weakref.ReferenceType[RouterPart], name: str, vpp: int) -> None:
        self._part, self._name, self._vpp = part, name, vpp

    def __call__(self, module: Any, _args: Any, output: Any) -> None:
        if is_recording():
            return None
        part = self._part()
        if part is not None:
            part.seen(self._name, self._vpp, module, output)
        return None


class RouterPart(Part):
    """per_token_expert_entropy of the routers named in moe_router_logit_hook, router_weight_similarity of those in
    moe_router_weight_hook."""

    def __init__(self, engine: Engine, logits: Modules, weights: Modules) -> None:
        super().__init__(engine)
        self._logits, self._weights = logits, weights
        self._step = -1
        self._handles: list[Any] = []
        self._rows: dict[tuple[str, int, int, int], int] = {}

    def collect(self, on: bool) -> None:
        """Installs or removes the hooks."""
        if on and not self._handles:
            me = weakref.ref(self)
            engine = self._engine()
            inside = compiled_inside(engine.roots) if engine is not None else set()
            self._handles = [
                m.register_forward_hook(_RouterHook(me, name, vpp))
                for name, vpp, m in self._logits
                if id(m) not in inside
            ]
        elif not on:
            for handle in self._handles:
                handle.remove()
            self._handles = []

    def seen(self, name: str, vpp: int, module: Any, output: Any) -> None:
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

    def before_step(self, sources: list[Any]) -> None:
        """Measures the weights that the forward pass used, once a step."""
        engine = self._engine()
        if engine is None or engine.step == self._step or engine.strikes.is_off(Kind.ROUTER.word):
            return
        self._step = engine.step
        try:
            for name, vpp, module in self._weights:
                attribute = matrix_name(module)
                value = router_weight_similarity(getattr(module, attribute)) if attribute else None
                if value is None:
                    engine.not_observed(Kind.ROUTER, name, "it has no weight matrix")
                    continue
                self._put(engine, Stat.SIMILARITY, name, vpp, -1, value, SIMILARITY)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add(Kind.ROUTER.word, error)

    def _put(self, engine: Engine, stat: Stat, name: str, vpp: int, micro: int, value: Any, words: str) -> None:
        table = engine.extra_table(Kind.ROUTER, (stat,))
        row = self._rows.get((name, vpp, micro, int(stat)))
        if row is None:
            desc = SeriesDesc(
                name=name,
                slot="" if stat is Stat.ENTROPY else "weight",
                vpp_stage=vpp,
                micro_step=-1 if micro < 0 else engine.micro_label(),
                definition=words,
                dtype=DType.F32,
                numel=1,
            )
            row = self._rows[name, vpp, micro, int(stat)] = table.add(desc)
        if row >= 0:
            engine.put_tensor(table, [row], value.reshape(1, 1))
