# SPDX-License-Identifier: GPL-3.0-or-later
"""A real server, and the processes of a job that it steers by `telltale config`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from serving import TELLTALE, Server

TRAINING = """
import json, os, time
os.environ.update(json.loads(os.environ.get("OF_RANK", "{}")).get(os.environ["RANK"], {}))
import torch, torch.nn as nn
import torch.distributed as dist
import telltale
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
is_job = "TORCHELASTIC_RUN_ID" in os.environ
if is_job:
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
telltale.watch(model, optimizer, os.environ.get("CONFIG") or {"dynamic_on": True, "wg_distribution": True})
over = torch.zeros(1)
while not over:
    optimizer.zero_grad()
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    time.sleep(0.01)
    over += os.path.exists(os.environ["STOP"])
    if is_job:
        dist.all_reduce(over)
if is_job:
    telltale.finish()
    dist.destroy_process_group()
"""


class SteeredRun:
    """A server, and the processes of a job that trains until it is told to stop."""

    def __init__(self, folder: Path, training: str = TRAINING) -> None:
        self.folder = folder
        self.server = Server(folder / "data")
        self.script = folder / "training.py"
        self.script.write_text(training)
        self.ranks: dict[int, subprocess.Popen[str]] = {}

    def _start(self, command: list[str], rank: int, **environment: str) -> None:
        env = dict(
            os.environ,
            OMP_NUM_THREADS="1",
            GLOO_SOCKET_IFNAME="lo",
            STOP=str(self.folder / "stop"),
            TELLTALE_RUN_ID="job",
            TELLTALE_JOIN=self.server.join,
            TELLTALE_DIR=str(self.folder / f"spool{rank}"),
        )
        self.ranks[rank] = subprocess.Popen(
            [sys.executable, *command, str(self.script)],
            env=env | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, rank: int, **environment: str) -> None:
        """A rank by itself: a job of two that do not know each other."""
        self._start([], rank, **{"RANK": str(rank), "WORLD_SIZE": "2", **environment})

    def torchrun(self, world: int, of_rank: dict[int, dict[str, str]] | None = None, **environment: str) -> None:
        """All ranks of a job in DDP; of_rank: what some of them have in their environment alone."""
        command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world)]
        self._start(command, 0, OF_RANK=json.dumps(of_rank or {}), **environment)

    def kill(self, rank: int) -> None:
        self.ranks[rank].kill()
        self.ranks.pop(rank).communicate()

    def tell(self, verb: str, *words: str) -> tuple[int, str]:
        """The exit code of `telltale VERB RUN ...`, and what it says."""
        data = ["--data-dir", str(self.server.folder)]
        listed = subprocess.run([str(TELLTALE), "runs", "--json", *data], capture_output=True, text=True, timeout=60)
        [found] = json.loads(listed.stdout)
        command = [str(TELLTALE), *verb.split(), found["id"], *words, *data]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90)
        print(done.stderr, end="")
        return done.returncode, done.stdout

    def config(self, verb: str, *words: str) -> tuple[int, Any]:
        """The exit code of `telltale config VERB RUN ... --json`, and what it says."""
        code, said = self.tell(f"config {verb}", *words, "--json")
        return code, json.loads(said)

    def log(self) -> Any:
        return json.loads(self.tell("log", "--json")[1])

    def push(self, config: dict[str, Any], *words: str) -> tuple[int, Any]:
        path = self.folder / "pushed.json"
        path.write_text(json.dumps(config))
        return self.config("push", str(path), *words)

    def wait(self, what: str, **wanted: Any) -> None:
        """Until `config show` says of each rank what is wanted: wait("status", ...) by rank number as rank0, rank1."""
        said: list[Any] = []

        def is_said() -> bool:
            code, shown = self.config("show")
            said[:] = [shown]
            found = {f"rank{rank['rank']}": rank.get(what) for rank in shown.get("ranks", [])} if code == 0 else {}
            return all(found.get(rank) == value for rank, value in wanted.items())

        self.wait_until(is_said, said)

    def wait_until(self, is_true: Callable[[], bool], *said: Any) -> None:
        end = time.monotonic() + 60
        while not is_true():
            assert time.monotonic() < end, said
            time.sleep(0.05)

    def wait_for_steps(self, count: int, kind: str = "grad_reduced", ranks: Iterable[int] = ()) -> None:
        """Until every rank that is there has so many steps in the run."""
        self.wait_until(lambda: all(len(self.steps(kind, rank)) >= count for rank in ranks or self.ranks))

    def steps(self, kind: str, rank: int, name: str = "0.weight") -> list[int]:
        capsules = list(self.server.folder.rglob("*.telltale"))
        if not capsules:
            return []
        command = [str(TELLTALE), "show", str(capsules[0]), "--series", name, "--rank", str(rank), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return []
        found = [entry for entry in json.loads(done.stdout)["series"] if entry["kind"] == kind]
        return [value["step"] for value in found[0]["values"]] if found else []

    def stop(self) -> None:
        """Ends the training; another may begin."""
        (self.folder / "stop").touch()
        for process in self.ranks.values():
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
        self.ranks.clear()
        (self.folder / "stop").unlink()

    def close(self) -> None:
        for process in self.ranks.values():
            if process.poll() is None:
                process.terminate()  # torchrun ends its ranks
                process.communicate()
        if self.server.process.poll() is None:
            self.server.kill()
