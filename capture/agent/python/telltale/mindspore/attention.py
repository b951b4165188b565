# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention entropy, softmax maximum and largest logit per head, of cells that are called with query and key.

MindSpore has no one function through which attention passes, so a cell tells of its attention where it is given query
and key, as the documents have it. Which mask it uses is not to be seen: causal, as msprobe assumes. Calls are kept and
computed when the optimizer steps, of the first sequence of the batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agent.clock import Clock
from ..agent.features import Asked, Modules
from ..agent.measurer import At
from ..agent.part import Part, Stepping
from ..kinds import DType, Form, Kind, Stat
from ..names import listed
from ..series import Extra, SeriesDesc, SeriesTable
from ..slots import Slot
from . import executor
from .hooks import Guarded

MOST_CALLS = 64  # of one step
_LAYOUTS = {"s,b,h,d": (0, 1), "b,s,h,d": (1, 0)}  # where sequence and batch stand


@dataclass
class _Call:
    name: str
    chunk: int
    micro: int
    label: int
    number: int
    query: Any
    key: Any


def attention(query: np.ndarray, key: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """[heads, (entropy, softmax_max, max_logit)] of causal attention, means over the chosen queries; the logit is the
    largest that any of them gives to a key that it may see. query [S, H, D]; key [S, G, D], G groups of heads."""
    heads, groups = query.shape[1], key.shape[1]
    out = np.zeros((heads, 3))
    may_see = np.arange(key.shape[0])[None] <= chosen[:, None] + (key.shape[0] - query.shape[0])
    with np.errstate(all="ignore"):
        for head in range(heads):
            k = key[:, head * groups // heads]
            scores = (query[chosen, head] @ k.T).astype(np.float64) / query.shape[-1] ** 0.5
            scores = np.where(may_see, scores, -np.inf)
            p = np.exp(scores - scores.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            out[head] = -np.where(p == 0, 0.0, p * np.log(p)).sum(1).mean(), p.max(1).mean(), scores.max()
    return out


class _Seen(Guarded):
    """Forward hook (with kwargs) of one cell."""

    __slots__ = ("_part", "_name", "_chunk")
    what = "attention"

    def __init__(self, part: AttentionPart, name: str, chunk: int) -> None:
        super().__init__(part.engine.reference)
        self._part, self._name, self._chunk = part, name, chunk

    def seen(self, engine: Any, *given: Any) -> None:
        self._part.called(engine, self._name, self._chunk, given[0], (*given[1], *given[2].values()))


class AttentionPart(Part):
    what = Kind.ATTENTION.word

    def __init__(self, engine: Clock, modules: Modules) -> None:
        super().__init__(engine)
        self._modules = modules
        self._axes = _LAYOUTS.get(engine.config.sa_order.replace(" ", ""))
        self._calls: list[_Call] = []
        self._seen: dict[tuple[str, Any], int] = {}
        self._rows: dict[tuple[Any, ...], list[int]] = {}
        self._mute: dict[str, None] = {}
        self._is_told = False

    def hooked_modules(self) -> list[tuple[str, Any]]:
        return [(name, module) for name, _, module in self._modules]

    def hooks(self) -> list[Any]:
        framework = self.engine.framework
        inside = framework.unhookable(self.engine.roots)
        return [
            framework.after_forward(module, _Seen(self, name, chunk), True)
            for name, chunk, module in self._modules
            if id(module) not in inside
        ]

    def called(self, engine: Clock, name: str, chunk: int, cell: Any, given: tuple[Any, ...]) -> None:
        framework = engine.framework
        if not engine.collecting or not framework.is_training(cell) or framework.backward_pass() != -1:
            return
        tensors = [value for value in given if isinstance(value, framework.tensor)][:2]
        if len(tensors) < 2 or any(tensor.ndim != 4 for tensor in tensors) or self._axes is None:
            self._mute[name] = None
        elif len(self._calls) == MOST_CALLS:
            engine.tell(f"more than {MOST_CALLS} attention calls in one step; the rest is left out")
        else:
            mark = name, engine.micro_mark
            number = self._seen[mark] = self._seen.get(mark, -1) + 1
            self._calls.append(_Call(name, chunk, engine.micro, engine.micro_label(), number, *tensors))

    def before_step(self, stepping: Stepping) -> None:
        calls, self._calls = self._calls, []
        self._seen = {}
        for call in calls:
            self._measure(self.engine, call)

    def _measure(self, engine: Clock, call: _Call) -> None:
        assert self._axes is not None
        sequence, batch = self._axes
        (length, heads, width), (keys, groups, other) = (
            (t.shape[sequence], *t.shape[2:]) for t in (call.query, call.key)
        )
        if width != other or heads % groups or keys < length:
            self._mute[call.name] = None
            return
        most = engine.config.attention_queries
        is_sampled = 0 < most < length
        chosen = np.linspace(0, length - 1, most).astype(np.int64) if is_sampled else np.arange(length)
        table = engine.table(Kind.ATTENTION)
        words = f"causal softmax of q.k/sqrt(d), first sequence, mean over {len(chosen)} queries"
        key = call.name, call.micro, call.number, heads
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = [
                table.add(
                    SeriesDesc(
                        call.name, Slot(head=head, call=call.number), call.chunk, call.label,
                        Form.SAMPLED if is_sampled else Form.NONE, words, (length, heads, width), DType.F32,
                        len(chosen),
                    )
                )
                for head in range(heads)
            ]  # fmt: skip
        there = [(table, row) for row in rows if row >= 0]
        wants_head_0 = engine.dispatcher.wants & Extra.HEAD_0 and keys == length
        head_0 = [place for place in [self._row_of_head_0(engine, call)] if place[1] >= 0] if wants_head_0 else []

        def job(at: At, *given: Any) -> None:
            q, k = (np.moveaxis(np.asarray(t, np.float32), (sequence, batch), (0, 1))[:, 0] for t in given)
            found = attention(q, k, chosen)
            for (table, row), values in zip(there, found):
                at(table).put(row, *values)
            for table, row in head_0:
                whole = found if not is_sampled else attention(q[:, :1], k[:, :1], np.arange(length))
                at(table).put(row, *whole[0, :2])

        given = [call.query, call.key]
        if engine.measurer.is_late:  # then less is to be kept
            with executor.no_grad():
                given = [tensor[:1] if batch == 0 else tensor[:, :1] for tensor in given]
        engine.measurer.afterwards(there + head_0, job, *given)

    def _row_of_head_0(self, engine: Clock, call: _Call) -> tuple[SeriesTable, int]:
        table = engine.extra_table(Kind.ATTENTION, (Stat.ENTROPY, Stat.SOFTMAX_MAX), Extra.HEAD_0)
        key = call.name, call.micro, -1
        rows = self._rows.get(key)
        if rows is None:
            words = "head 0 of the first sequence, causal, mean over all queries, as msprobe has it"
            desc = SeriesDesc(
                call.name, Slot.named("attention"), call.chunk, call.label, definition=words, dtype=DType.F32, numel=1
            )
            rows = self._rows[key] = [table.add(desc)]
        return table, rows[0]

    def finish_step(self) -> None:
        if self._mute and not self._is_told:
            self._is_told = True
            self.engine.tell(
                f"not observed: attention of {listed(list(self._mute))}, because a MindSpore cell tells of it where it "
                "is called with query and key, each of four dimensions in the order of sa_order"
            )


def attentions(asked: Asked) -> Iterable[Part]:
    """The part for attention_hook: the cells that l2_targets names, and where all are asked for, those whose class
    says attention."""
    found = asked.named("attention_hook")
    if asked.config.attention_hook:
        known = {id(module) for _, _, module in found}
        found += [
            (name, chunk, module)
            for name, chunk, module in asked.modules()
            if id(module) not in known and "attention" in type(module).__name__.lower()
            and asked.engine.framework.is_called(module) and asked.targets.selects(name, chunk)
        ]  # fmt: skip
    return [AttentionPart(asked.engine, found)] if found else []
