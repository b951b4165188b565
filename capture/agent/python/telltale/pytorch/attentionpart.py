# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention entropy, softmax maximum and largest logit per head, live: the engine's part around AttentionWatch."""

from __future__ import annotations

from typing import Any

import torch

from ..agent.clock import Clock
from ..agent.part import Part
from ..kinds import DType, Form, Kind, Stat
from ..series import Extra, SeriesDesc
from ..slots import Slot
from .attention import msprobe_head0
from .attentionwatch import AttentionWatch, Scores
from .compiled import compiled_inside
from .hooks import Call
from .mapdelivery import MapDelivery


class AttentionPart(Part):
    """Hooks of the selected attention modules, installed only while something is collected. A series per head
    ("head_0"), and, for files in msprobe's layout, its own value of head 0 of the first sequence ("attention"); maps of
    chosen heads now and then."""

    what = Kind.ATTENTION.word

    def __init__(
        self,
        engine: Clock,
        modules: list[tuple[str, int, Any]],
        with_head_0: bool,
        mapped: dict[str, list[int]] | None = None,
    ) -> None:
        """modules: (name, chunk, module). with_head_0: msprobe's own value as well, for sinks that want it. mapped:
        modules and the heads of them whose maps are sent."""
        super().__init__(engine)
        self._modules = modules
        self._with_head_0 = with_head_0
        config = engine.config
        self._layout = config.sa_order.replace(" ", "")
        strikes = engine.strikes
        self._maps: MapDelivery | None = None
        if mapped:
            on_card = any(p.is_cuda for name, _, module in modules if name in mapped for p in module.parameters())
            self._maps = MapDelivery(engine, mapped, on_card)
        self._chunks = {name: chunk for name, chunk, _ in modules}
        self._watch = AttentionWatch(
            config.sa_order,
            config.attention_queries,
            lambda name, error: strikes.add(f"attention of {name}", error),
            self._saw if mapped else None,
        )
        # From the start: put in place after the first compiled call, it would make torch compile once more.
        self._watch.install()
        self._rows: dict[tuple[str, int, int, int], list[int]] = {}
        self._reported = False

    def hooked_modules(self) -> list[tuple[str, Any]]:
        return [(name, module) for name, _, module in self._modules]

    def hooks(self) -> list[Any]:
        inside = compiled_inside(self.engine.roots)
        handles = []
        for name, vpp, module in self._modules:
            if id(module) not in inside:
                handles.append(module.register_forward_pre_hook(Call(self.enter, name)))
                handles.append(module.register_forward_hook(Call(self.leave, name, vpp), with_kwargs=True))
        return handles

    def enter(self, name: str, module: Any, _args: Any) -> None:
        """A watched forward begins. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting or engine.strikes.is_off("attention"):
            return
        try:
            self._watch.enter(name, module)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add("attention", error)

    def leave(self, name: str, vpp: int, module: Any, args: Any, kwargs: Any, _output: Any = None) -> None:
        """A watched forward ended. Never raises."""
        engine = self._engine()
        if engine is None or not engine.collecting:
            return
        try:
            for call, stats in enumerate(self._watch.leave(name, module, args, kwargs)):
                self._keep(engine, name, vpp, call, stats)
            if self._with_head_0 and module.training and len(args) > 1:
                self._keep_head0(engine, name, vpp, args)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add("attention", error)

    def _saw(self, name: str, call: int, scores: Scores) -> None:
        engine = self._engine()
        if engine is not None and self._maps is not None and not engine.strikes.is_off("attention maps"):
            try:
                self._maps.saw(engine, name, call, self._chunks[name], scores)
            except Exception as error:  # noqa: BLE001 - the statistics go on without maps
                engine.strikes.add("attention maps", error)

    def _keep(self, engine: Clock, name: str, vpp: int, call: int, stats: Any) -> None:
        heads = int(stats.entropy.shape[0])
        rows = self._rows.get((name, engine.micro, call, heads))
        if rows is None:
            form = Form.SAMPLED if stats.sampled else Form.NONE
            rows = self._rows[name, engine.micro, call, heads] = [
                engine.table(Kind.ATTENTION).add(
                    SeriesDesc(
                        name=name,
                        slot=Slot(head=head, call=call),
                        vpp_stage=vpp,
                        micro_step=engine.micro_label(),
                        form=form,
                        definition=stats.definition,
                        shape=stats.shape,
                        dtype=DType.F32,
                        numel=stats.queries,
                    )
                )
                for head in range(heads)
            ]
        if rows[-1] >= 0:
            values = torch.stack((stats.entropy, stats.softmax_max, stats.max_logit), 1)
            engine.put_tensor(engine.table(Kind.ATTENTION), rows, values)

    def _keep_head0(self, engine: Clock, name: str, vpp: int, args: Any) -> None:
        values = msprobe_head0(args[0], args[1], self._layout)
        if values is None:
            return
        table = engine.extra_table(Kind.ATTENTION, (Stat.ENTROPY, Stat.SOFTMAX_MAX), Extra.HEAD_0)
        rows = self._rows.get((name, engine.micro, -1, 1))
        if rows is None:
            desc = SeriesDesc(
                name=name,
                slot=Slot.named("attention"),
                vpp_stage=vpp,
                micro_step=engine.micro_label(),
                definition="head 0 of the first sequence, causal, mean over all queries, as msprobe has it",
                dtype=DType.F32,
                numel=1,
            )
            rows = self._rows[name, engine.micro, -1, 1] = [table.add(desc)]
        if rows[0] >= 0:
            engine.put_tensor(table, rows, torch.stack(values)[None])

    def finish_step(self) -> None:
        """Says once which modules had nothing to see."""
        self._watch.reset()
        if self._maps is not None:
            self._maps.finish_step(self.engine)
        if self._reported:
            return
        self._reported = True
        for name, reason in sorted(self._watch.reasons.items())[:8]:
            self.engine.not_observed(Kind.ATTENTION, name, reason)

    def collect(self, on: bool) -> None:
        super().collect(on)
        engine = self._engine()
        if not on and self._maps is not None and engine is not None:
            self._maps.land(engine)

    def close(self) -> None:
        super().close()
        self._watch.remove()
        engine = self._engine()
        if self._maps is not None and engine is not None:
            self._maps.close(engine)


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
