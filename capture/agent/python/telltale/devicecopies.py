# SPDX-License-Identifier: GPL-3.0-or-later
"""A torch device's results on their way to the host."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch

from .agent.measurer import Copied
from .devicestats import Queued, mark
from .deviceworker import DeviceWorker
from .dispatch import Dispatcher
from .quiet import quiet
from .series import SeriesDesc, SeriesTable


class _Event:
    """A mark on a stream where there are no kernels of our own to make one."""

    def __init__(self) -> None:
        self._event = torch.cuda.Event()
        self._event.record()

    def arrive(self) -> bool:
        while not self._event.query():
            time.sleep(0.0005)
        return True


@dataclass
class _Copy:
    names: list[tuple[SeriesTable, int, SeriesDesc]]
    host: torch.Tensor
    behind: Queued | _Event | None  # arrives with them, None = they are there
    source: torch.Tensor  # kept while it is read

    def numbers(self) -> list[Any] | None:
        if self.behind is not None and not self.behind.arrive():
            return None
        found: list[Any] = self.host.tolist()
        return found


def copied(tensors: list[tuple[SeriesTable, int, Any]]) -> list[Copied]:
    """Queues copies to the host, one for all results of a shape."""
    groups: dict[Any, list[tuple[SeriesTable, int, Any]]] = {}
    for entry in tensors:
        groups.setdefault((entry[2].device, entry[2].dtype, entry[2].shape), []).append(entry)
    out: list[Copied] = []
    for entries in groups.values():
        with quiet(entries[0][2].device):
            stacked = torch.stack([entry[2] for entry in entries])
            host = torch.empty(stacked.shape, dtype=stacked.dtype, pin_memory=stacked.is_cuda)
            host.copy_(stacked, non_blocking=True)
        behind = (mark(stacked.get_device()) or _Event()) if stacked.is_cuda else None
        names = [(table, row, table.series[row]) for table, row, _ in entries]
        out.append(_Copy(names, host, behind, stacked))
    return out


def worker(dispatcher: Dispatcher) -> DeviceWorker:
    """One that waits for torch's devices."""
    return DeviceWorker(dispatcher, copied)
