# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention entropy and softmax maximum per head, live: the engine's part around AttentionWatch."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from ..kinds import DType, Form, Kind
from ..series import SeriesDesc
from .attention import msprobe_head0
from .attentionwatch import AttentionWatch
from .compiled import compiled_inside, is_recording
from .hooks import Hook
from .part import Part

if TYPE_CHECKING:
    from .engine import Engine


class _Enter(Hook):
    """Forward pre-hook."""

    __slots__ = ("_part", "_name")

    def __init__(self, part: weakref.ReferenceType[AttentionPart], name: str) -> None:
        self._part = part
        self._name = name

    def __call__(self, module: Any, _args: Any) -> None:
        if is_recording():
            return None
        part = self._part()
        if part is not None:
            part.enter(self._name, module)
        return None


class _Leave(Hook):
    """Forward hook with kwargs."""

    __slots__ = ("_part", "_name", "_vpp")

    def __init__(self, part: weakref.ReferenceType[AttentionPart], name: str, vpp: int) -> None:
        self._part = part
        self._name = name
        self._vpp = vpp

    def __call__(self, module: Any, args: Any, kwargs: Any, _output: Any) -> None:
        if is_recording():
            return None
        part = self._part()
        if part is not None:
            part.leave(self._name, self._vpp, module, args, kwargs)
        return None


class AttentionPart(Part):
    """Hooks of the selected attention modules, installed only while something is collected. A series per head
    ("head_0"), and, for files in msprobe's layout, its own value of head 0 of the first sequence ("attention")."""

    def __init__(self, engine: Engine, modules: list[tuple[str, int, Any]], like_msprobe: bool) -> None:
        """modules: (name, chunk, module)."""
        super().__init__(engine)
        self._modules = modules
        self._like_msprobe = like_msprobe
        config = engine.config
        self._layout = config.sa_order.replace(" ", "")
        strikes = engine.strikes
        self._watch = AttentionWatch(
            config.sa_order, config.attention_queries, lambda name, error: strikes.add(f"attention of {name}", error)
        )
        # From the start: put in place after the first compiled call, it would make torch compile once more.
        self._watch.install()
        self._handles: list[Any] = []
        self._rows: dict[tuple[str, int, int, int], list[int]] = {}
        self._reported = False

    def collect(self, on: bool) -> None:
        """Installs or removes the hooks."""
        if on and not self._handles:
            me = weakref.ref(self)
            engine = self._engine()
            inside = compiled_inside(engine.roots) if engine is not None else set()
            for name, vpp, module in self._modules:
                if id(module) in inside:
                    continue
                self._handles.append(module.register_forward_pre_hook(_Enter(me, name)))
                self._handles.append(module.register_forward_hook(_Leave(me, name, vpp), with_kwargs=True))
        elif not on and self._handles:
            for handle in self._handles:
                handle.remove()
            self._handles = []

    def enter(self, name: str, module: Any) -> None:
        """A watched forward begins. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting or engine.strikes.is_off("attention"):
            return
        try:
            self._watch.enter(name, module)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add("attention", error)

    def leave(self, name: str, vpp: int, module: Any, args: Any, kwargs: Any) -> None:
        """A watched forward ended. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting:
            return
        try:
            for call, stats in enumerate(self._watch.leave(name, module, args, kwargs)):
                self._keep(engine, name, vpp, call, stats)
            if self._like_msprobe and module.training and len(args) > 1:
                self._keep_head0(engine, name, vpp, args)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("attention", error)

    def _keep(self, engine: Engine, name: str, vpp: int, call: int, stats: Any) -> None:
        heads = int(stats.entropy.shape[0])
        rows = self._rows.get((name, engine.micro, call, heads))
        if rows is None:
            form = Form.SAMPLED if stats.sampled else Form.NONE
            suffix = f"@{call + 1}" if call else ""
            rows = self._rows[name, engine.micro, call, heads] = [
                engine.table(Kind.ATTENTION).add(
                    SeriesDesc(
                        name=name,
                        slot=f"head_{head}{suffix}",
                        vpp_stage=vpp,
                        micro_step=engine.micro_label(),
                        form=form,
                        definition=stats.definition,
                        dtype=DType.F32,
                        numel=stats.queries,
                    )
                )
                for head in range(heads)
            ]
        if rows[-1] >= 0:
            engine.put_tensor(Kind.ATTENTION, rows, torch.stack((stats.entropy, stats.softmax_max), 1))

    def _keep_head0(self, engine: Engine, name: str, vpp: int, args: Any) -> None:
        values = msprobe_head0(args[0], args[1], self._layout)
        if values is None:
            return
        rows = self._rows.get((name, engine.micro, -1, 1))
        if rows is None:
            desc = SeriesDesc(
                name=name,
                slot="attention",
                vpp_stage=vpp,
                micro_step=engine.micro_label(),
                definition="head 0 of the first sequence, causal, mean over all queries, as msprobe has it",
                dtype=DType.F32,
                numel=1,
            )
            rows = self._rows[name, engine.micro, -1, 1] = [engine.table(Kind.ATTENTION).add(desc)]
        if rows[0] >= 0:
            engine.put_tensor(Kind.ATTENTION, rows, torch.stack(values)[None])

    def finish_step(self) -> None:
        """Says once which modules had nothing to see."""
        self._watch.reset()
        engine = self._engine()
        if self._reported or engine is None:
            return
        self._reported = True
        for name, reason in sorted(self._watch.reasons.items())[:8]:
            engine.not_observed(Kind.ATTENTION, name, reason)

    def close(self) -> None:
        super().close()
        self._watch.remove()


def attention_modules(model: torch.nn.Module) -> list[tuple[str, Any]]:
    """The innermost modules whose class says attention: (name, module)."""
    found = [
        (name, module)
        for name, module in model.named_modules()
        if any(word in type(module).__name__.lower() for word in ("attention", "attn"))
        and type(module).forward is not torch.nn.Module.forward
    ]
    names = [name for name, _ in found]
    return [(name, module) for name, module in found if not any(other.startswith(f"{name}.") for other in names)]
