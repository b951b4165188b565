# SPDX-License-Identifier: GPL-3.0-or-later
"""A server for the bench that can be stopped, killed and brought back; and what each of that does to a training."""

from __future__ import annotations

import resource
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchworker import Worker

ROOT = Path(__file__).resolve().parents[2]
_TURN = 20
_SETTLE = 1.5  # seconds after a change, in which the training goes on: the agent notices, or delivers its spool


class BenchServer:
    """`telltale serve` on one data directory and one port. Thread: one."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._address = "127.0.0.1:0"
        self._process: subprocess.Popen[str] | None = None
        self.join = ""

    def start(self) -> None:
        self._process = subprocess.Popen(
            [str(ROOT / "build/release/bin/telltale"), "serve", "--data-dir", self._folder, "--listen", self._address],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.join = self._process.stdout.readline().strip()
        self._address = self.join.removeprefix("telltale://").split("#")[0]

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> BenchServer:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            self._process.wait()


def states(rounds: int, folder: str, environment: dict[str, str]) -> list[tuple[str, float, float]]:
    """(state, change of the step's time against the server being up in %, the step's time in ms) with everything
    collected, the states taken in turn in each round."""
    found: dict[str, list[float]] = {}
    with BenchServer(folder) as server:
        worker = Worker("telltale everything", "0.83 M", dict(environment, TELLTALE_JOIN=server.join))
        try:
            for _ in range(rounds):
                for state, change in (
                    ("up", lambda: None),
                    ("stopped", lambda: server.signal(signal.SIGSTOP)),
                    ("down", server.kill),
                    ("down, disk full", lambda: _spool_limit(worker, 4096)),
                    ("back, taking the spool", lambda: (_spool_limit(worker, resource.RLIM_INFINITY), server.start())),
                ):
                    change()
                    end = time.monotonic() + _SETTLE
                    if state.startswith("back"):
                        end = 0  # the delivery is what is measured
                    while time.monotonic() < end:
                        worker.steps(1)
                    found.setdefault(state, []).append(statistics.median(worker.steps(_TURN)["ms"]))
                end = time.monotonic() + 2 * _SETTLE
                while time.monotonic() < end:
                    worker.steps(1)
                shown = ", ".join(f"{state} {values[-1]:.2f}" for state, values in found.items())
                print(f"server states, ms a step: {shown}", file=sys.stderr)
        finally:
            worker.close()
    up = found.pop("up")
    return [
        (
            state,
            statistics.median(100 * (value / base - 1) for value, base in zip(values, up)),
            statistics.median(values),
        )
        for state, values in found.items()
    ]


def _spool_limit(worker: Worker, size: int) -> None:
    """No file of the training's process may grow past `size`: to its spool, a full disk."""
    _, hard = resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))
