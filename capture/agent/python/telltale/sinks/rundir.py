# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run's files go: msprobe's directory names and time stamps."""

from __future__ import annotations

import os
import re
import uuid
from datetime import datetime, timedelta, timezone

SHANGHAI = timezone(timedelta(hours=8))  # no summer time since 1991: needs no time zone database
STAMP = "%b%d_%H-%M-%S"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RUN_DIR = re.compile(r"([A-Z][a-z]{2})(\d{2})_(\d{2})-(\d{2})-(\d{2})-rank(\d{1,5})-")
_STAMP = re.compile(r"([A-Z][a-z]{2})(\d{2})_(\d{2})-(\d{2})-(\d{2})$")


def output_base() -> str:
    """MONITOR_OUTPUT_DIR, or ./monitor_output as msprobe has it."""
    return os.environ.get("MONITOR_OUTPUT_DIR") or "./monitor_output"


def stamp(now: datetime | None = None) -> str:
    """ "Dec03_21-34-40": English month whatever the locale, time in Shanghai whatever the host's zone."""
    local = (now or datetime.now(timezone.utc)).astimezone(SHANGHAI)
    return f"{_MONTHS[local.month - 1]}{local:%d_%H-%M-%S}"


def new_name(rank: int) -> str:
    """A run directory's name: "Dec03_21-34-40-rank0-1a2b3c4d"."""
    return f"{stamp()}-rank{rank}-{str(uuid.uuid4())[:8]}"


def within(base: str, rank: int, window: list[str]) -> str | None:
    """The newest directory of a rank whose stamp lies between the two of `window`, None when there is none or a stamp
    cannot be read. Stamps have no year: a window that ends before it begins reaches over New Year."""
    if len(window) != 2:
        return None
    first, last = (_seconds(_STAMP.match(text)) for text in window)
    if first is None or last is None:
        return None
    found: list[tuple[float, str]] = []
    try:
        entries = list(os.scandir(base))
    except OSError:
        return None
    for entry in entries:
        match = _RUN_DIR.match(entry.name)
        when = _seconds(match)
        if match is None or when is None or int(match.group(6)) != rank or not entry.is_dir():
            continue
        if first <= when <= last or (first > last and (when >= first or when <= last)):
            age = when - first if when >= first else when - first + 366 * 86400
            found.append((age, entry.path))
    return max(found)[1] if found else None


def _seconds(match: re.Match[str] | None) -> float | None:
    """Seconds into a leap year, so that 29 February is a day like any other."""
    if match is None or match.group(1) not in _MONTHS:
        return None
    month, day = _MONTHS.index(match.group(1)) + 1, int(match.group(2))
    hour, minute, second = (int(match.group(i)) for i in (3, 4, 5))
    try:
        return datetime(2000, month, day, hour, minute, second, tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None


class RunDirectory:
    """This process's directory under the output directory; it is made when the first file needs it. Csv and tensorboard
    files of a run share it. Thread: choose() one; the rest any, afterwards."""

    def __init__(self, base: str | None = None) -> None:
        """base: instead of MONITOR_OUTPUT_DIR."""
        self._given = base
        self.base = ""
        self.path = ""
        self.rank = 0

    def choose(self, rank: int, append_output: list[str]) -> list[str]:
        """Decides the directory, once; returns what the user should know."""
        if self.path:
            return []
        self.base = os.path.abspath(self._given or output_base())
        self.rank = rank
        found = within(self.base, rank, append_output) if append_output else None
        self.path = found or os.path.join(self.base, new_name(rank))
        if not append_output or found:
            return []
        return [
            f"append_output {append_output}: no directory of rank {rank} in {self.base} lies in this window; a new one "
            "is made"
        ]

    def make(self) -> str:
        """The path, after making sure that it exists. OSError when it cannot be made."""
        os.makedirs(self.path, exist_ok=True)
        return self.path


def write_whole(path: str, data: bytes) -> None:
    """Writes a file so that readers see the old one or the new one, never half of it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
