# SPDX-License-Identifier: GPL-3.0-or-later
"""When in its step the tensor of an alert came to be."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .anomalyentries import Entry

# What the step found when it began comes first: moments and parameters are recorded as the update before left them.
_FOUND = {"exp_avg": 0, "exp_avg_sq": 0, "param_origin": 1}
_FORWARD = {"actv", "qkt", "sr", "router_weight", "router_logit", "input", "output"}
_BACKWARD = {"actv_grad": 0, "input_grad": 0, "output_grad": 0, "acc_grad": 1, "pre_grad": 1}
_REDUCED = "post_grad"
_LATE = {_REDUCED: 0, "mg_direction": 1, "adam_update": 1, "adam_ratio": 1, "param_updated": 2}
_UNKNOWN = 3  # collectives, and what versions to come may have
_REVERSED = {*_BACKWARD, _REDUCED}

Stretch = tuple[int, int, int, int]  # found / micro steps / late; micro step; forward, backward or what of late; sub
Place = tuple[float, ...]


class Tag(NamedTuple):
    """ "0:blocks.0.input:0/rank0/actv", taken apart."""

    module: tuple[str, ...]
    port: str  # input, output_1, weight, ...
    micro_step: int  # -1 without
    kind: str


class Places:
    """Places the alerts of one rank, a step at a time. Within a stretch of the step the call_ids decide, with two
    corrections: a module is counted when it is left, so what enters it (its input; backward its output's gradient) goes
    before all that is inside; and where the call_ids of gradients follow the model rather than the backward, as they
    always do for reduced gradients and in Telltale's files for all of them, they are turned round. Which of the two
    it is, the numbers in the names tell."""

    def __init__(self) -> None:
        self._ascents: dict[str, int] = {}  # kind -> layers that follow a lower one, less those that follow a higher

    def of_step(self, entries: Sequence[Entry]) -> list[Place]:
        tags = [parse(entry.tag_name) for entry in entries]
        self._learn(entries, tags)
        micros = [max(entry.micro_step, tag.micro_step) for entry, tag in zip(entries, tags)]
        last = max(micros, default=0)
        stretches = [
            self._stretch(tag, last if tag.kind in _BACKWARD and tag.micro_step < 0 and not entry.micro_step else micro)
            for entry, tag, micro in zip(entries, tags, micros)
        ]
        times = [self._time(entry, tag) for entry, tag in zip(entries, tags)]
        spans = _spans(stretches, times, tags)
        return [
            _place(entry, tag, stretch, time, spans)
            for entry, tag, stretch, time in zip(entries, tags, stretches, times)
        ]

    def _learn(self, entries: Sequence[Entry], tags: Sequence[Tag]) -> None:
        """Whether the call_ids of gradients go up or down the model."""
        before: dict[str, tuple[str, ...]] = {}
        called = [(entry.call_id, tag) for entry, tag in zip(entries, tags) if entry.call_id >= 0]
        for _, tag in sorted((pair for pair in called if pair[1].kind in _REVERSED), key=lambda pair: pair[0]):
            ascent = _ascent(before.get(tag.kind, ()), tag.module)
            self._ascents[tag.kind] = self._ascents.get(tag.kind, 0) + ascent
            before[tag.kind] = tag.module

    def _is_listed(self, kind: str) -> bool:
        """The call_ids of a kind of gradients follow the model."""
        ascents = self._ascents.get(kind, 0)
        return ascents > 0 or (ascents == 0 and kind == _REDUCED)

    def _time(self, entry: Entry, tag: Tag) -> float:
        if tag.kind in _REVERSED and self._is_listed(tag.kind):
            return -entry.call_id
        return math.inf if entry.call_id < 0 and tag.kind not in _FOUND else entry.call_id

    def _stretch(self, tag: Tag, micro: int) -> Stretch:
        kind = tag.kind
        if kind in _FOUND:
            return 0, 0, 0, _FOUND[kind]
        if kind in _FORWARD:
            return 1, micro, 0, 0
        if kind in _BACKWARD:  # call_ids that follow the model say nothing between kinds
            return 1, micro, 1, _BACKWARD[kind] if self._is_listed(kind) else 0
        return 2, 0, _LATE.get(kind, _UNKNOWN), 0


@functools.lru_cache(maxsize=1 << 16)
def parse(tag_name: str) -> Tag:
    name, _, kind = tag_name.rpartition("/")
    parts = name.partition("/")[0].split(":")
    micro = int(parts.pop()) if len(parts) > 2 and parts[-1].isdigit() else -1
    path = ":".join(parts[1:] if len(parts) > 1 and parts[0].isdigit() else parts)
    if kind in ("input", "output", "input_grad", "output_grad"):  # older versions' way
        return Tag(tuple(filter(None, path.split("."))), kind, micro, kind)
    module, _, port = path.rpartition(".")
    return Tag(tuple(filter(None, module.split("."))), port, micro, kind)


def _ascent(before: tuple[str, ...], now: tuple[str, ...]) -> int:
    for one, other in zip(before, now):
        if one != other:
            return (int(one) < int(other)) * 2 - 1 if one.isdigit() and other.isdigit() else 0
    return 0


Spans = dict[tuple[Stretch, tuple[str, ...]], tuple[float, float]]


def _spans(stretches: Iterable[Stretch], times: Iterable[float], tags: Iterable[Tag]) -> Spans:
    """First and last time of each module and all inside it."""
    spans: Spans = {}
    for stretch, time, tag in zip(stretches, times, tags):
        if stretch[0] != 1 or not math.isfinite(time):
            continue
        for depth in range(len(tag.module) + 1):
            key = stretch, tag.module[:depth]
            low, high = spans.get(key, (time, time))
            spans[key] = min(low, time), max(high, time)
    return spans


def _place(entry: Entry, tag: Tag, stretch: Stretch, time: float, spans: Spans) -> Place:
    part, micro, phase, sub = stretch
    is_backward = tag.kind in _REVERSED
    stage = (-entry.vpp_stage, -entry.pp_stage) if is_backward else (entry.vpp_stage, entry.pp_stage)
    low, high = spans.get((stretch, tag.module), (time, time))
    depth = len(tag.module)
    within: Place = (time, 1, 0) if math.isfinite(time) else (high, 1, 0)
    if part == 1 and tag.port.startswith("output" if is_backward else "input"):
        within = low, 0, depth
    elif part == 1 and tag.port.startswith("input" if is_backward else "output"):
        within = high, 2, -depth
    return (part, micro, phase, *stage, sub, *within, time)
