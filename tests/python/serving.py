# SPDX-License-Identifier: GPL-3.0-or-later
"""A real capture server for tests, and trainings in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

BUILD = Path(os.environ.get("TELLTALE_BUILD", Path(__file__).resolve().parents[2] / "build" / "release"))
TELLTALE = BUILD / "bin" / "telltale"

TRAINING = """
import hashlib, json, os, resource, signal, sys, time
if os.environ.get("SMALLEST_FILE"):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["SMALLEST_FILE"]), resource.RLIM_INFINITY))
import torch, torch.nn as nn
torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
monitor = None
if os.environ.get("WATCH", "1") == "1":
    import telltale
    monitor = telltale.watch(model, optimizer)
for step in range(int(os.environ["STEPS"])):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 16)).square().mean()
    loss.backward()
    optimizer.step()
    if monitor is not None:
        telltale.log({"loss": loss}, step=step)
    print(step, flush=True)
    time.sleep(float(os.environ.get("PAUSE", "0")))
weights = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
counters = {}
if monitor is not None:
    flushed = monitor.flush(float(os.environ.get("FLUSH", "20")))
    counters = monitor.counters()
print(json.dumps({"weights": weights, "counters": counters}), flush=True)
"""


class Server:
    """`telltale serve` on a free loopback port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listen = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        """Starts, on the same port after the first time."""
        self.process = subprocess.Popen(
            [str(TELLTALE), "serve", "--data-dir", str(self.folder), "--listen", self.listen],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.join = self.process.stdout.readline().strip()
        assert self.join.startswith("telltale://"), self.process.stderr.read() if self.process.stderr else ""
        self.listen = self.join.removeprefix("telltale://").split("#")[0]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """A clean end; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def inspect(self) -> dict[str, Any]:
        """`telltale inspect --json` of the only capsule."""
        return self._ask("inspect", "--verify")

    def show(self, series: str) -> list[dict[str, Any]]:
        """`telltale show --json` of a parameter's series."""
        return self._ask("show", "--series", series)["series"]

    def log(self, kind: str) -> list[dict[str, Any]]:
        """`telltale log --json` of the only capsule."""
        return self._ask("log", "--kind", kind)

    def _ask(self, verb: str, *options: str) -> Any:
        [capsule] = list(self.folder.rglob("*.telltale"))
        done = subprocess.run(
            [str(TELLTALE), verb, str(capsule), *options, "--json"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)


def start_training(folder: Path, steps: int, **environment: str) -> subprocess.Popen[str]:
    """The training above, spooling under `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "training.py"
    script.write_text(TRAINING)
    env = dict(os.environ, STEPS=str(steps), TELLTALE_DIR=str(folder / "spool"), OMP_NUM_THREADS="1", **environment)
    return subprocess.Popen(
        [sys.executable, str(script)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_step(training: subprocess.Popen[str], step: int) -> None:
    """Reads the training's output until it has passed a step."""
    assert training.stdout is not None
    for line in training.stdout:
        if line.strip() == str(step):
            return
    raise AssertionError(f"the training ended before step {step}: {training.stderr.read() if training.stderr else ''}")


def result(training: subprocess.Popen[str], timeout: float = 120) -> dict[str, Any]:
    """{"weights": sha256, "counters": {...}} of a training that ended well."""
    out, err = training.communicate(timeout=timeout)
    assert training.returncode == 0, err
    return json.loads(out.strip().splitlines()[-1]) | {"stderr": err}
