# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs and distributions of gradients on their way to the dashboard: signs as stored documents of the kind grad_sign,
one bit an element, distributions as histograms whose edges are the config's bounds."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable

import numpy as np

from .. import native
from ..kinds import Kind
from ..series import SeriesDesc
from .probeconfig import ProbeConfig

SIGNS = "grad_sign"
ROLE = "grad_probe"  # a stream of its own beside that of whatever else watches the rank


class ProbeStream:
    """An agent of the rank's own, and a budget of signs a step. Thread: the probe's worker."""

    def __init__(
        self, config: ProbeConfig, rank: int, world_size: int, framework: str, tell: Callable[[str], None]
    ) -> None:
        """ValueError or LibraryMissing with a sentence where nothing can be sent."""
        self._budget = int(config.stream_mib * (1 << 20))
        self._tell = tell
        self._step = -1
        self._left = 0
        self._is_sent = False
        self._edges = edges_of(config)
        self._definition = f"elements a bin; grad_probe's bounds {list(config.bounds)}"
        self._rows: dict[str, tuple[int, int]] = {}  # layout and place in it
        self._counts: dict[int, int] = {}  # series of each layout
        self._agent = native.Agent(
            rank=rank, world_size=world_size, role=ROLE, framework=framework, config_text=config.text
        )

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

    def distributions(self, step: int, found: list[tuple[SeriesDesc, list[int]]]) -> None:
        """The elements in each interval of a step's gradients."""
        found = [(desc, counts) for desc, counts in found if desc.numel]
        new = [desc for desc, _ in found if desc.name not in self._rows]
        for at in range(0, len(new), 4096):
            descs = [self._described(desc) for desc in new[at : at + 4096]]
            layout = self._agent.add_histograms(int(Kind.GRAD_REDUCED), self._edges, descs)
            self._counts[layout] = len(descs)
            self._rows.update({desc.name: (layout, i) for i, desc in enumerate(descs)})
            if not layout:
                self._tell(f"stream: distributions are not stored: {self._agent.last_error()[1]}")
        slab = self._agent.begin(step) if found else 0
        if not slab:
            self._agent.dropped(step, sum(len(counts) for _, counts in found), 0)
            return
        bins = len(self._edges) - 1
        for layout, count in self._counts.items():
            here = [(self._rows[desc.name][1], counts) for desc, counts in found if self._rows[desc.name][0] == layout]
            to, flags = self._agent.counts(slab, layout) if here and layout else (0, 0)
            if to:
                values = np.frombuffer((ctypes.c_uint64 * (count * bins)).from_address(to), np.uint64).reshape(-1, bins)
                present = np.frombuffer((ctypes.c_uint8 * count).from_address(flags), np.uint8)
                for row, counts in here:
                    values[row], present[row] = counts, 1
        self._agent.commit(slab)

    def close(self) -> None:
        """Sends what is left."""
        self._agent.flush(5.0)
        self._agent.close("finished")

    def _described(self, desc: SeriesDesc) -> SeriesDesc:
        return SeriesDesc(desc.name, definition=self._definition, shape=desc.shape, numel=desc.numel, dtype=desc.dtype)


def edges_of(config: ProbeConfig) -> list[float]:
    """Of histograms, whose bins hold their lower edge, so that they count the intervals (a, b] of float32 numbers."""
    inner = [np.nextafter(np.float32(bound), np.float32(np.inf)) for bound in config.bounds]
    return [-math.inf, *map(float, inner), math.inf]
