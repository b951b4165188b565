# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the sinks that write files, so that they share one thread and one directory."""

from __future__ import annotations

from collections.abc import Iterable

from ..alerts import AlertSink, EventFunction
from .base import Sink
from .csv import CsvSink
from .rundir import RunDirectory
from .tensorboard import TensorBoardSink
from .worker import FrameWorker


def file_sinks(formats: Iterable[str], on_event: EventFunction | None = None) -> list[Sink]:
    """The sinks of `formats` that write files ("csv", "tensorboard"; others are passed over), and the alerts, which do
    nothing while the config has no rules. on_event: what an alert tells the dashboard, called on the worker."""
    worker, directory = FrameWorker(), RunDirectory()
    kinds = {"csv": CsvSink, "tensorboard": TensorBoardSink}
    sinks: list[Sink] = [kinds[name](worker, directory) for name in dict.fromkeys(formats) if name in kinds]
    sinks.append(AlertSink(worker, directory, on_event))
    return sinks
