# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded runs in Python, archived and live alike: `telltale.open()`."""

from __future__ import annotations

from .binding import ReaderMissing, ReadError
from .frame import Frame
from .openedrun import FollowedStep, Run, open_run
from .picture import Picture
from .tablefile import write_table

__all__ = ["FollowedStep", "Frame", "Picture", "ReadError", "ReaderMissing", "Run", "open_run", "write_table"]
