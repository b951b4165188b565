# SPDX-License-Identifier: GPL-3.0-or-later
"""The sinks that a config asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..alerts import AlertSink
from ..config import MonitorConfig
from ..sinks.api import ApiSink
from ..sinks.base import Sink
from ..sinks.csv import CsvSink
from ..sinks.filesink import FileSink
from ..sinks.records import RecordSink
from ..sinks.rundir import RunDirectory
from ..sinks.stream import NoticeStream, StreamSink
from ..sinks.tensorboard import TensorBoardSink
from ..sinks.worker import FrameWorker
from .targets import squash_name

if TYPE_CHECKING:
    from .engine import Engine


FILES = (CsvSink, TensorBoardSink)


def _modes(agent: dict[str, Any]) -> tuple[Any, ...]:
    return agent.get("mode"), os.environ.get("TELLTALE_MODE")


def _join(agent: dict[str, Any]) -> Any:
    return agent.get("join") or os.environ.get("TELLTALE_JOIN")


def make_sinks(
    config: MonitorConfig, agent: dict[str, Any], engine: Engine, existing: Sequence[Sink] = ()
) -> list[Sink]:
    """The sinks that `format` names (stream by default when there is a join string, else csv), what is written whatever
    the format is, and the alerts; those of `existing` are used again, and files of new ones go where theirs go."""
    if "disabled" in _modes(agent):
        return []
    has_stream = _join(agent) or "offline" in _modes(agent)
    formats = config.format or ["stream" if has_stream else "csv"]
    if _join(agent) and "stream" not in formats and "offline" not in _modes(agent):
        formats = [*formats, "notice"]
    old = {type(sink): sink for sink in existing}
    files = next((sink for sink in existing if isinstance(sink, FileSink)), None)
    worker = files.worker if files is not None else FrameWorker()
    directory = files.directory if files is not None else RunDirectory()
    makers: dict[str, tuple[type[Sink], Callable[[], Sink]]] = {
        "stream": (StreamSink, StreamSink),
        "notice": (NoticeStream, NoticeStream),
        "csv": (CsvSink, lambda: CsvSink(worker, directory)),
        "tensorboard": (TensorBoardSink, lambda: TensorBoardSink(worker, directory)),
        "api": (ApiSink, ApiSink),
        "records": (RecordSink, lambda: RecordSink(engine.tell, worker, directory)),
        "alerts": (AlertSink, lambda: AlertSink(worker, directory, on_event=engine.dispatcher.event)),
    }
    chosen = [makers[name] for name in dict.fromkeys([*formats, "records", "alerts"])]
    return [old.get(kind) or make() for kind, make in chosen]


def name_sentences(sinks: Sequence[Sink], names: Sequence[str]) -> list[str]:
    """What a user of an msprobe that shortened names by default may not expect."""
    changed = next((name for name in names if squash_name(name) != name), "")
    if not changed or not any(isinstance(sink, FILES) for sink in sinks):
        return []
    return [
        f'files name objects in full ("{changed}"); "squash_name": true in the config writes the short names that '
        f'msprobe wrote by default before 26 ("{squash_name(changed)}"), false leaves this sentence out'
    ]


def format_sentences(config: MonitorConfig, agent: dict[str, Any], sinks: Sequence[Sink]) -> list[str]:
    """What the user may not expect of the config's `format`."""
    words = ", ".join(f'"{name}"' for name in config.format)
    sentences = []
    if _join(agent) and config.format and not any(type(sink) is StreamSink for sink in sinks):
        sentences.append(
            f'the config\'s "format" is {words}, so the measurements go there and the dashboard shows none of them: '
            'add "stream" to "format" for both, or leave "format" out for the dashboard alone'
        )
    return sentences
