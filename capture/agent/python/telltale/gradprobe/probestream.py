# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs and distributions of gradients on their way to the dashboard: signs as stored documents of the kind grad_sign,
one bit an element, distributions as histograms whose edges are the config's bounds."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import native
from ..kinds import Kind, Stat
from ..series import SeriesDesc
from .probeconfig import ProbeConfig

SIGNS = "grad_sign"
STATISTICS = [int(Stat.NORM), int(Stat.MIN), int(Stat.MAX)]
ROLE = "grad_probe"  # a stream of its own beside that of whatever else watches the rank


@dataclass
class _Table:
    """Series of one kind."""

    definition: str
    width: int  # values of each
    dtype: np.dtype[Any]
    register: Callable[[list[SeriesDesc]], int]  # the number of their layout, 0 = refused
    place: Callable[[int, int], tuple[int, int]]  # of a layout's values and presence in a slab
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)  # layout and place in it
    sizes: dict[int, int] = field(default_factory=dict)  # series of each layout


class ProbeStream:
    """An agent of the rank's own, and a budget of signs a step. Thread: the probe's worker."""

    def __init__(
        self, config: ProbeConfig, rank: int, world_size: int, framework: str, tell: Callable[[str], None], **run: str
    ) -> None:
        """run: run_id and run_name, else what the environment says. ValueError or LibraryMissing with a sentence where
        nothing can be sent."""
        self._budget = int(config.stream_mib * (1 << 20))
        self._tell = tell
        self._step = -1
        self._left = 0
        self._is_sent = False
        self._agent = agent = native.Agent(
            rank=rank, world_size=world_size, role=ROLE, framework=framework, config_text=config.text, **run
        )
        edges = edges_of(config)
        self._bins = _Table(
            f"elements a bin; grad_probe's bounds {list(config.bounds)}", len(edges) - 1, np.dtype(np.uint64),
            lambda descs: agent.add_histograms(int(Kind.GRAD_REDUCED), edges, descs), agent.counts,
        )  # fmt: skip
        self._values = _Table(
            "", len(STATISTICS), np.dtype(np.float32),
            lambda descs: agent.add_layout(int(Kind.GRAD_REDUCED), STATISTICS, descs), agent.floats,
        )  # fmt: skip
        self._shares = _Table(
            f"share of the signs of {config.reference}", 1, np.dtype(np.float32),
            lambda descs: agent.add_layout(int(Kind.GRAD_SIGN), [int(Stat.SIMILARITY)], descs), agent.floats,
        )  # fmt: skip

    def signs(self, name: str, step: int, shape: tuple[int, ...], first: int, count: int, bits: np.ndarray) -> None:
        """Some of a gradient's signs, from its element `first` on. A gradient goes whole or not at all."""
        if step != self._step:
            self._step, self._left = step, self._budget
        if first == 0:
            size = (math.prod(shape) + 7) // 8
            self._is_sent = size <= self._left
            if not self._is_sent:
                self._tell(
                    f"stream: signs of {name} and others are not sent, since a step has at most {self._budget} bytes "
                    'of them ("stream_mib"); "param_list" chooses. The files have them'
                )
                return
            self._left -= size
        if not self._is_sent:
            return
        head = json.dumps({"shape": shape, "first": first, "count": count, "order": "lowest bit first"})
        if not self._agent.blob(SIGNS, name, step, head.encode() + b"\n" + bits.tobytes()):
            self._is_sent = False
            self._tell("stream: signs come faster than they are sent; some are dropped and counted. The files have all")

    def end_step(self) -> None:
        """What comes next has a budget of its own, also where a closure computes the same step anew."""
        self._step = -1

    def distributions(self, step: int, found: list[tuple[SeriesDesc, list[int]]]) -> None:
        """The elements in each interval of a step's gradients."""
        self._put(self._bins, step, [(desc, counts) for desc, counts in found if desc.numel])

    def statistics(self, step: int, found: list[tuple[SeriesDesc, list[float]]]) -> None:
        """Norm, least and largest of a step's gradients."""
        self._put(self._values, step, found)

    def similarities(self, step: int, found: list[tuple[SeriesDesc, list[float]]]) -> None:
        """The shares of a step's signs that are those of the reference."""
        self._put(self._shares, step, found)

    def event(self, step: int, sentence: str) -> None:
        """A sentence for the run's log."""
        self._agent.event("log", step, sentence, rule=SIGNS)

    def _put(self, table: _Table, step: int, found: list[tuple[SeriesDesc, list[Any]]]) -> None:
        if not found:
            return
        new = [desc for desc, _ in found if desc.name not in table.rows]
        for at in range(0, len(new), 4096):
            descs = [self._described(desc, table) for desc in new[at : at + 4096]]
            layout = table.register(descs)
            table.sizes[layout] = len(descs)
            table.rows.update({desc.name: (layout, i) for i, desc in enumerate(descs)})
            if not layout:
                self._tell(f"stream: {table.definition or 'statistics'} are not stored: {self._agent.last_error()[1]}")
        slab = self._agent.begin(step)
        if not slab:
            self._agent.dropped(step, sum(len(values) for _, values in found), 0)
            return
        for layout, size in table.sizes.items():
            here = [(table.rows[desc.name][1], values) for desc, values in found if table.rows[desc.name][0] == layout]
            to, flags = table.place(slab, layout) if here and layout else (0, 0)
            if to:
                length = size * table.width * table.dtype.itemsize
                flat = np.frombuffer((ctypes.c_char * length).from_address(to), table.dtype)
                # Bins lie series by series, statistics statistic by statistic.
                into = flat.reshape(size, -1) if table is self._bins else flat.reshape(-1, size).T
                present = np.frombuffer((ctypes.c_uint8 * size).from_address(flags), np.uint8)
                for row, values in here:
                    into[row], present[row] = values, 1
        self._agent.commit(slab)

    def flush(self, seconds: float) -> bool:
        """Waits until everything has come there; False when it has not."""
        return self._agent.flush(seconds)

    def close(self) -> bool:
        """Sends what is left; whether everything has come there."""
        self._agent.flush(5.0)
        return self._agent.close("finished")

    @staticmethod
    def _described(desc: SeriesDesc, table: _Table) -> SeriesDesc:
        return SeriesDesc(desc.name, definition=table.definition, shape=desc.shape, numel=desc.numel)


def edges_of(config: ProbeConfig) -> list[float]:
    """Of histograms, whose bins hold their lower edge, so that they count the intervals (a, b] of float32 numbers."""
    inner = [np.nextafter(np.float32(bound), np.float32(np.inf)) for bound in config.bounds]
    return [-math.inf, *map(float, inner), math.inf]
