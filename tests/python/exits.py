# SPDX-License-Identifier: GPL-3.0-or-later
"""Small trainings, alone and as two gloo ranks, watched with every thread that a watch may have; each ends in its own
way, as a fork of one process that has loaded torch. Prints [[way, ranks, status, standard error], ...].

usage: exits.py FOLDER ROUNDS
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import telltale
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WAYS = ("return", "sys.exit", "exception", "SIGTERM", "SIGINT", "os._exit", "thread", "spawn")
LONGEST = 300.0  # seconds; a loaded machine may take its time


def load() -> None:
    """What torch imports at its first optimizer and its first process group, once for all."""
    import telltale.pytorch  # noqa: F401

    torch.set_num_threads(1)
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def train() -> Any:
    """Three steps; the model is large enough for the statistics' second thread."""
    model: Any = nn.Sequential(nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 8))
    if dist.is_initialized():
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 0.001)
    monitor = telltale.watch(model, optimizer, config=os.environ["EXIT_CONFIG"])
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(4, 512)).square().mean().backward()
        optimizer.step()
    return monitor


def spawned(_rank: int) -> None:
    """multiprocessing ends this process by os._exit."""
    train()


def end(way: str) -> None:
    """In the middle of a training."""
    if way == "sys.exit":
        sys.exit(3)
    if way == "exception":
        raise RuntimeError("on purpose")
    if way in ("SIGTERM", "SIGINT"):
        os.kill(os.getpid(), getattr(signal, way))
        time.sleep(LONGEST)
    if way == "os._exit":
        os._exit(4)


def child(way: str, rank: int, ranks: int, folder: Path) -> None:
    """What one process does before it ends."""
    output = os.open(folder / f"stderr{rank}", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), TELLTALE_DIR=str(folder / f"spool{rank}"))
    os.environ.update(MONITOR_OUTPUT_DIR=str(folder / "out"), EXIT_CONFIG=str(folder / "config.json"))
    torch.set_num_threads(1)
    if ranks > 1:
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    if way == "thread":
        training = threading.Thread(target=train)
        training.start()
        training.join()
    elif way == "spawn":
        mp.spawn(spawned, nprocs=1)
    else:
        train()
        end(way)
    if ranks > 1:
        dist.destroy_process_group()


def fork_all(rounds: int, folder: Path) -> list[tuple[str, int, int, str]] | None:
    """Every way, alone and as two ranks, `rounds` times; None in a child, which ends with the script."""
    found = []
    for number in range(rounds):
        for way in WAYS:
            for ranks in (1, 2):
                if way == "spawn" and (ranks > 1 or number % 4):  # it loads torch anew
                    continue
                if way in ("sys.exit", "thread") and ranks > 1 and rounds == 1:
                    continue
                place = folder / f"{way}-{ranks}-{number}"
                place.mkdir()
                config = {"wg_distribution": True, "xy_distribution": True, "dynamic_on": True}
                (place / "config.json").write_text(json.dumps({**config, "format": ["stream", "csv"]}))
                pids = []
                for rank in range(ranks):
                    pid = os.fork()
                    if pid == 0:
                        child(way, rank, ranks, place)
                        return None
                    pids.append(pid)
                for rank, pid in enumerate(pids):
                    errors = place / f"stderr{rank}"
                    status = wait_for(pid)
                    found.append((way, ranks, status, errors.read_text() if errors.exists() else ""))
    return found


def wait_for(pid: int) -> int:
    """The exit code as subprocess has it; 1000 when it did not end in time."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 1000


if __name__ == "__main__":
    load()
    results = fork_all(int(sys.argv[2]), Path(sys.argv[1]))
    if results is not None:
        print(json.dumps(results))
