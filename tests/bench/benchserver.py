# SPDX-License-Identifier: GPL-3.0-or-later
"""A server for the bench that can be stopped, killed and brought back; and what each of that does to a training."""

from __future__ import annotations

import resource
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchworker import Worker

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "python"))

from serving import Server  # noqa: E402

_TURN = 20
_SETTLE = 1.5  # seconds after a change, in which the training goes on: the agent notices, or delivers its spool


class BenchServer(Server):
    """Is there for the length of a with block."""

    def __enter__(self) -> BenchServer:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.stop()


def states(rounds: int, folder: Path, environment: dict[str, str]) -> list[tuple[str, float, float]]:
    """(state, change of the step's time against the server being up in %, the step's time in ms) with everything
    collected, the states taken in turn in each round."""
    found: dict[str, list[float]] = {}
    with BenchServer(folder) as server:
        worker = Worker("telltale everything", "0.83 M", dict(environment, TELLTALE_JOIN=server.join))
        try:
            for _ in range(rounds):
                for state, change in (
                    ("up", lambda: None),
                    ("stopped", lambda: server.process.send_signal(signal.SIGSTOP)),
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
