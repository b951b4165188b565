# SPDX-License-Identifier: GPL-3.0-or-later
"""The sinks that a config asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .. import identity, native
from ..alerts import AlertSink, EventFunction
from ..config import MonitorConfig
from ..names import squash_name
from ..sinks.api import ApiSink
from ..sinks.base import Sink
from ..sinks.csv import CsvSink
from ..sinks.records import RecordSink
from ..sinks.rundir import RunDirectory, output_base
from ..sinks.stream import NoticeStream, StreamSink
from ..sinks.tensorboard import TensorBoardSink
from ..sinks.worker import FrameWorker


class ChosenSinks:
    """Makes the sinks of one monitor, and keeps those that a changed config still names. Their files go to one
    directory, written by one thread."""

    def __init__(self, agent: dict[str, Any], say: Callable[[str], None], on_event: EventFunction) -> None:
        """agent: fields of tt_options. say: takes a sentence for the user. on_event: takes what alerts find."""
        self._join = agent.get("join") or os.environ.get("TELLTALE_JOIN")
        self._modes = agent.get("mode"), os.environ.get("TELLTALE_MODE")
        files = FrameWorker(), RunDirectory()
        self._makers: dict[str, Callable[[], Sink]] = {
            "stream": StreamSink,
            "notice": NoticeStream,
            "csv": lambda: CsvSink(*files),
            "tensorboard": lambda: TensorBoardSink(*files),
            "api": ApiSink,
            "records": lambda: RecordSink(say, *files),
            "alerts": lambda: AlertSink(*files, on_event=on_event),
        }
        self._made: dict[str, Sink] = {}

    @property
    def _streams(self) -> bool:
        """Whether a config without a `format` goes to the dashboard or its spool."""
        return bool(self._join) or "offline" in self._modes

    def choose(self, config: MonitorConfig) -> list[Sink]:
        """The sinks that `format` names (stream by default when there is a join string, else csv), what is written
        whatever the format is, and the alerts."""
        if "disabled" in self._modes:
            return []
        formats = config.format or ["stream" if self._streams else "csv"]
        always = ["records", "alerts"]
        if "stream" in formats and native.trouble():
            formats = ["csv" if name == "stream" else name for name in formats]
        elif self._join and "stream" not in formats and "offline" not in self._modes and native.available():
            always.insert(0, "notice")
        names = dict.fromkeys([*formats, *always])
        self._made = {name: self._made.get(name) or self._makers[name]() for name in names}
        # msprobe's files come with msprobe's alerts, which speak of what is in them.
        self._made["alerts"].wants = CsvSink.wants if "csv" in names else AlertSink.wants
        return list(self._made.values())

    def sentences(self, config: MonitorConfig, names: Sequence[str], is_squash_given: bool) -> list[str]:
        """What the user may not expect of the config's `format`, or who knows msprobe of names in files."""
        found: list[str] = []
        if "disabled" in self._modes:
            return found
        wanted = config.format or (["stream"] if self._streams else [])
        whereto = f"to {os.path.abspath(output_base())} as csv files"
        if "stream" in wanted and native.trouble():
            found.append(f"{native.trouble()}; until then nothing goes to the dashboard, and measurements go {whereto}")
        elif not wanted and not os.environ.get("MONITOR_OUTPUT_DIR") and identity.rank() == 0:
            found.append(
                f"no dashboard is named, so measurements go {whereto}; for the dashboard copy its join string into "
                "TELLTALE_JOIN, for another folder set MONITOR_OUTPUT_DIR"
            )
        elif self._join and config.format and "stream" not in config.format:
            words = ", ".join(f'"{name}"' for name in config.format)
            found.append(
                f'the config\'s "format" is {words}, so the measurements go there and the dashboard shows none of '
                'them: add "stream" to "format" for both, or leave "format" out for the dashboard alone'
            )
        changed = next((name for name in names if squash_name(name) != name), "")
        if changed and not is_squash_given and any(sink.has_files for sink in self._made.values()):
            found.append(
                f'files name objects in full ("{changed}"); "squash_name": true in the config writes the short names '
                f'that msprobe wrote by default before 26 ("{squash_name(changed)}"), false leaves this sentence out'
            )
        return found
