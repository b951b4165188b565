# SPDX-License-Identifier: GPL-3.0-or-later
"""However a watched process ends, it ends as it would unwatched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from exits import WAYS

# What the parent of each sees: Python's own answers.
CODES = {
    "return": 0,
    "sys.exit": 3,
    "exception": 1,
    "SIGTERM": -signal.SIGTERM,
    "SIGINT": -signal.SIGINT,
    "os._exit": 4,
    "thread": 0,
    "spawn": 0,
}


def _ends(folder: Path, rounds: int) -> int:
    environment = dict(os.environ, DYNAMIC_MONITOR="True", TELLTALE_MODE="offline", GLOO_SOCKET_IFNAME="lo")
    script = str(Path(__file__).with_name("exits.py"))
    done = subprocess.run(
        [sys.executable, script, str(folder), str(rounds)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert {way for way, *_ in results} == set(WAYS)
    for way, ranks, status, errors in results:
        assert status == CODES[way], f"{way}, {ranks} ranks: {status}\n{errors}"
        assert "terminate called" not in errors and "Fatal Python error" not in errors, f"{way}: {errors}"
        assert "telltale" not in errors, f"{way}: {errors}"
    return len(results)


def test_a_watched_process_ends_as_it_would_unwatched(tmp_path: Path) -> None:
    assert _ends(tmp_path, 1) == 18


@pytest.mark.long
def test_three_hundred_ends(tmp_path: Path) -> None:
    assert _ends(tmp_path, 15) >= 300
