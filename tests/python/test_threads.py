# SPDX-License-Identifier: GPL-3.0-or-later
"""The package's own threads: what they may not do to the training."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from telltale.pytorch import TrainerMon
from torch import nn


def _blocked(task: int) -> set[int]:
    """The signals that a thread of this process blocks."""
    for line in Path(f"/proc/self/task/{task}/status").read_text().splitlines():
        if line.startswith("SigBlk:"):
            mask = int(line.split()[1], 16)
            return {number for number in range(1, 65) if mask >> (number - 1) & 1}
    raise AssertionError("no SigBlk")


def _ours() -> dict[str, int]:
    """Name and kernel id of every thread of this process that is ours: native ones by the kernel's name for them."""
    found = {thread.name: thread.native_id or 0 for thread in threading.enumerate()}
    for task in os.listdir("/proc/self/task"):
        found[Path(f"/proc/self/task/{task}/comm").read_text().strip()] = int(task)
    return {name: task for name, task in found.items() if name.startswith("telltale")}


def _step(model: nn.Module, optimizer: Any) -> None:
    optimizer.zero_grad()
    model(torch.ones(2, model.weight.shape[1])).sum().backward()  # type: ignore[union-attr,index]
    optimizer.step()


def test_every_thread_of_ours_blocks_every_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    monkeypatch.setenv("TELLTALE_MODE", "offline")
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"wg_distribution": True, "dynamic_on": True, "format": ["stream", "csv"]}))
    model = nn.Linear(1024, 512)  # large enough for the statistics' second thread
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with TrainerMon(str(path)) as monitor:
        monitor.set_monitor(model, optimizer=optimizer)
        for _ in range(2):  # a dynamic training collects from the second step on
            _step(model, optimizer)
        expected = {"telltale-config", "telltale-files", "telltale-sender", "telltale-stats"}
        end = time.monotonic() + 30
        while not expected <= (ours := _ours()).keys() and time.monotonic() < end:
            time.sleep(0.001)  # a thread gives itself its name once it runs
        blocked = {name: _blocked(task) for name, task in ours.items()}
    assert expected <= ours.keys()
    every = {int(number) for number in signal.valid_signals()} - {signal.SIGKILL, signal.SIGSTOP}
    for name, signals in blocked.items():
        assert every <= signals, f"{name} takes {sorted(every - signals)}"


def test_a_config_file_that_cannot_be_read_in_time_holds_up_no_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    path = tmp_path / "config.json"
    config = {"wg_distribution": True, "collect_times": 100, "format": "api"}
    path.write_text(json.dumps({**config, "dynamic_on": False}))
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon(str(path))
    monitor.set_monitor(model, optimizer=optimizer)
    watch = monitor.config_watch
    assert watch is not None and watch.look_now()
    # Whoever opens a pipe for reading sleeps until somebody writes, as one who reads from a server that is gone does.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Timer(20, lambda: pipe.write_text("{}"))
    os.replace(pipe, path)
    pipe = path
    writer.start()
    try:
        assert not watch.look_now(0.5)
        began = time.monotonic()
        for _ in range(20):
            _step(model, optimizer)
        assert time.monotonic() - began < 5 and monitor.step == 20
    finally:
        writer.cancel()
    pipe.write_text("nothing")
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps({**config, "dynamic_on": True}))
    os.replace(edited, path)
    assert watch.look_now()
    _step(model, optimizer)
    engine = monitor.engine
    assert engine is not None and engine.collected == 0
    _step(model, optimizer)
    assert engine.collected == 1
    monitor.close()
    assert not watch.look_now(0.2), "the thread goes on after close()"
