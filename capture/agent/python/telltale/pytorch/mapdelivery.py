# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention maps on their way from a forward to the sinks: when they are due, which heads, and off a card without
waiting for it."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from typing import Any

import torch

from ..agent.clock import Clock
from .attentionmaps import MOST_CELLS, AttentionMaps, attention_maps, packed
from .attentionwatch import Scores

USUAL_HEADS = range(4)  # of a module that names none
MOST_MAPS = 64  # of one step: half a MiB
_LAST_WAIT = 0.5  # seconds, for what a card is still writing when the watch ends


class _Landing:
    """Pinned memory that a card writes the maps of one step into. Made before the first forward: making it waits for
    the card."""

    def __init__(self) -> None:
        self.memory = torch.empty(MOST_MAPS * MOST_CELLS * MOST_CELLS, dtype=torch.float16, pin_memory=True)
        self.clear()

    def clear(self) -> None:
        self.used = 0
        self.entries: list[tuple[str, dict[str, Any], int, int]] = []  # name, head of the document, from, to
        self.event: torch.cuda.Event | None = None
        self.step = 0

    def has_come(self) -> bool:
        return self.event is not None and self.event.query()

    def documents(self) -> list[tuple[str, bytes]]:
        return [(name, packed(head, self.memory[a:b].numpy().tobytes())) for name, head, a, b in self.entries]


class MapDelivery:
    """Thread: training."""

    def __init__(self, engine: Clock, heads: dict[str, list[int]], is_on_card: bool) -> None:
        """heads: of each module whose maps are asked for; none = the first few. Steps of the config that lie before
        the engine's are not made up for."""
        self._heads = heads
        self._interval = engine.config.attention_maps_interval
        self._steps = sorted(engine.config.attention_maps_steps)
        self._size = engine.config.attention_maps_size
        # The interval that the last maps were of; or how many of the listed steps are done with.
        self._turn = bisect_left(self._steps, engine.step) if self._steps else -1
        self._count = 0  # of the step in progress
        self._here: dict[tuple[str, int], tuple[dict[str, Any], Any]] = {}
        self._landings: list[_Landing] = []
        self._flying: list[_Landing] = []
        self._filling: _Landing | None = None
        if not engine.dispatcher.takes_kept:
            engine.tell("attention_maps: maps are for the dashboard, and nothing goes there; none are made")
            self._heads = {}
        elif is_on_card:
            self._landings = [_Landing(), _Landing()]

    def saw(self, engine: Clock, name: str, call: int, chunk: int, scores: Scores) -> None:
        """A call of a module in a step that is collected. Only the first of a forward, and of the first micro step."""
        heads = self._heads.get(name)
        if heads is None or call > 0 or engine.micro > 0 or not self._is_due(engine):
            return
        room = MOST_MAPS - self._count
        if len(heads) > room:
            engine.tell(f"attention_maps: a step has at most {MOST_MAPS} maps; those of {name} and later are left out")
            return
        maps = attention_maps(
            scores.query, scores.key, heads or USUAL_HEADS, self._size, layout=scores.layout, **scores.options
        )
        if maps is None:
            engine.tell(f"attention_maps: {name} has none of the heads {heads}; none of its maps are sent")
            return
        self._count += len(maps.heads) if (name, chunk) not in self._here else 0
        head = maps.head(call, chunk)
        if maps.cells.is_cpu:
            self._here[name, chunk] = head, maps.cells
        elif maps.cells.is_cuda:
            self._let_fly(engine, name, head, maps)
        else:
            engine.tell(f"attention_maps: they are not fetched from {maps.cells.device.type}; none are sent")

    def finish_step(self, engine: Clock) -> None:
        """Hands over what is there."""
        for (name, _), (head, cells) in self._here.items():
            engine.dispatcher.blob("attention_map", name, engine.step, packed(head, cells.numpy().tobytes()))
        if self._here or self._filling is not None:
            self._turn = self._turn_of(engine)
        self._here.clear()
        self._count = 0
        if self._filling is not None:
            self._filling.event = torch.cuda.Event()
            self._filling.event.record()
            self._flying.append(self._filling)
            self._filling = None
        self.land(engine)

    def close(self, engine: Clock) -> None:
        """The watch ends, or its config: what a card is still writing has a moment to come."""
        end = time.monotonic() + _LAST_WAIT
        self.land(engine)
        while self._flying and time.monotonic() < end:
            time.sleep(0.0005)
            self.land(engine)

    def _turn_of(self, engine: Clock) -> int:
        if self._steps:
            return bisect_right(self._steps, engine.step)
        return (engine.step - engine.config.start_step) // self._interval

    def _is_due(self, engine: Clock) -> bool:
        """The first step that is collected of an interval, or from a listed step on, whichever that is."""
        return self._turn_of(engine) != self._turn

    def _let_fly(self, engine: Clock, name: str, head: dict[str, Any], maps: AttentionMaps) -> None:
        if self._filling is None:
            if not self._landings:
                engine.tell("attention_maps: a card has not sent those of two steps yet; the next ones are left out")
                return
            self._filling = self._landings.pop()
            self._filling.step = engine.step
        landing = self._filling
        end = landing.used + maps.cells.numel()
        if end > landing.memory.numel():  # the step is tried again, and again
            return
        landing.memory[landing.used : end].view_as(maps.cells).copy_(maps.cells, non_blocking=True)
        landing.entries = [entry for entry in landing.entries if entry[0] != name]
        landing.entries.append((name, head, landing.used, end))
        landing.used = end

    def land(self, engine: Clock) -> None:
        """Hands over what has come from a card by now."""
        while self._flying and self._flying[0].has_come():
            landing = self._flying.pop(0)
            for name, document in landing.documents():
                engine.dispatcher.blob("attention_map", name, landing.step, document)
            landing.clear()
            self._landings.append(landing)
