# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that offers configs to a training."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from typing import Any

from serving import BUILD

ACCEPTED, REFUSED, APPLIED, PASSED, IN_FORCE = range(1, 6)
WEIGHTS = {"dynamic_on": True, "wg_distribution": True}
EVERYTHING = {
    **WEIGHTS,
    "mv_distribution": True,
    "param_distribution": True,
    "xy_distribution": True,
    "mg_direction": True,
    "ur_distribution": True,
    "recording_l2_features": True,
    "l2_targets": {"linear_hook": ["0"]},
    "ops": ["norm", "mean", "min", "max", "zeros", "nans"],
}


class Offers:
    """`offerserver`: the wire is real, the server behind it keeps nothing."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(BUILD / "tests" / "offerserver")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.join = self._process.stdout.readline().strip()
        self.heard: list[dict[str, Any]] = []
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._rev = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))

    def offer(self, config: dict[str, Any], step: int = 0) -> int:
        """The number of its revision."""
        assert self._process.stdin is not None
        self._rev += 1
        self._process.stdin.write(f"{self._rev} {step} {json.dumps(config)}\n")
        self._process.stdin.flush()
        return self._rev

    def wait(self, rev: int, *statuses: int, timeout: float = 20.0) -> dict[str, Any]:
        """The next answer to a revision that is one of these."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            try:
                answer = self._lines.get(timeout=left)
            except queue.Empty:
                break
            self.heard.append(answer)
            if answer["rev"] == rev and answer["status"] in statuses:
                return answer
        raise AssertionError(f"revision {rev} is not answered: {self.heard[-5:]}")

    @property
    def newest(self) -> int:
        """The revision that was offered last."""
        return self._rev

    def so_far(self, status: int) -> list[int]:
        """The revisions that have been answered so until now."""
        while not self._lines.empty():
            self.heard.append(self._lines.get())
        return [answer["rev"] for answer in self.heard if answer["status"] == status]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
