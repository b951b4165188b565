# SPDX-License-Identifier: GPL-3.0-or-later
"""Children of a watched training: they end in any way, train on, and load data, whatever threads their parent has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TRAINING = """
import os, sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, i):
        return torch.full((512,), float(i))

def step(batch):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()

def bury(pid):
    end = time.monotonic() + 300
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "it hangs"

if __name__ == "__main__":
    import telltale
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(512, 1024), nn.Linear(1024, 8))  # large enough for the statistics' second thread
    optimizer = torch.optim.Adam(model.parameters())
    monitor = telltale.watch(model, optimizer, config=os.environ["CONFIG"])
    for _ in range(2):  # a dynamic training collects from the second step on
        step(torch.ones(4, 512))
    names, end = set(), time.monotonic() + 30
    while not names >= {"telltale-stats", "telltale-sender"} and time.monotonic() < end:
        for task in os.listdir("/proc/self/task"):  # a thread gives itself its name once it runs
            names.add(open(f"/proc/self/task/{task}/comm").read().strip())
    assert "telltale-stats" in names and "telltale-sender" in names, names
    for way in ("sys.exit", "os._exit", "exec", "train on", "return"):
        pid = os.fork()
        if pid == 0:
            if way == "os._exit":
                os._exit(0)
            if way == "exec":
                os.execv("/bin/true", ["true"])
            if way == "train on":
                for _ in range(3):
                    step(torch.ones(4, 512))
                telltale.log({"loss": 1.0})
            if way == "return":
                telltale.finish()
            sys.exit(0)
        print(way, bury(pid), flush=True)
    for method in ("fork", "spawn"):
        count = 0
        for batch in DataLoader(Numbers(), 4, num_workers=1, multiprocessing_context=method):
            step(batch)
            count += 1
        print(method, count, flush=True)
    print("steps", monitor.step, "dropped", monitor.counters()["dropped"], flush=True)
"""


def test_children_of_a_watched_training_end_as_they_like_and_load_its_data(tmp_path: Path) -> None:
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    config = tmp_path / "config.json"
    config.write_text('{"wg_distribution": true, "dynamic_on": true, "format": ["stream", "csv"]}')
    environment = dict(os.environ, TELLTALE_MODE="offline", DYNAMIC_MONITOR="True", CONFIG=str(config))
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "sys.exit 0",
        "os._exit 0",
        "exec 0",
        "train on 0",
        "return 0",
        "fork 3",
        "spawn 3",
        "steps 8 dropped 0",
    ], done.stdout + done.stderr
