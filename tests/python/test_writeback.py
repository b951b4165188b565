# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that dies while it writes a pushed config into the job's config.json, or whose disk loses its power: the
file is one of the whole texts, and not older than what was answered."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from offers import ACCEPTED, APPLIED, IN_FORCE, Offers
from serving import BUILD
from telltale import native

sys.path.append(str(Path(__file__).resolve().parents[1] / "chaos"))
from disks import PowerDisk, no_loop  # noqa: E402

# Long enough that writing it takes a moment.
TEXT = '{\n  "dynamic_on": true,\n  "wg_distribution": true,\n' + "  // why we watch what we watch\n" * 8000 + "}\n"
# Begins a training in a process of its own for each line that it reads, so that torch is imported once.
BEGINNER = """
import json, os, signal, sys, time
import torch, torch.nn as nn
from telltale.pytorch import TrainerMon
torch.set_num_threads(1)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

def train(path, join, spool, syncs):
    if not syncs:
        os.fsync = lambda handle: None
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    monitor = TrainerMon(path, agent={"join": join, "spool_dir": spool, "batch_ms": 5})
    monitor.set_monitor(model, optimizer=optimizer)
    while True:
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()
        time.sleep(0.002)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        train(**json.loads(line))
    print(child, flush=True)
"""


class Beginner:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGINNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._living: set[int] = set()
        self._cpp: dict[int, subprocess.Popen[bytes]] = {}

    def begin(self, path: Path, join: str, spool: Path, syncs: bool = True) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        job = {"path": str(path), "join": join, "spool": str(spool), "syncs": syncs}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        self._living.add(child)
        return child

    def begin_cpp(self, path: Path, join: str, spool: Path) -> int:
        """The same in a training in C++."""
        options = f"--config {path} --join {join} --steps 1000000 --layers 1 --heads 1 --width 8"
        env = dict(os.environ, TELLTALE_DIR=str(spool), OMP_NUM_THREADS="1")
        trainer = subprocess.Popen(
            [BUILD / "bin" / "telltale-demo-trainer", *options.split()], env=env, stderr=subprocess.DEVNULL
        )
        self._cpp[trainer.pid] = trainer
        self._living.add(trainer.pid)
        return trainer.pid

    def kill(self, child: int) -> None:
        """And waits until it is gone."""
        self._living.discard(child)
        os.kill(child, signal.SIGKILL)
        if child in self._cpp:
            self._cpp.pop(child).wait()
        end = time.monotonic() + 30
        while Path(f"/proc/{child}").exists():
            assert time.monotonic() < end
            time.sleep(0.001)

    def close(self) -> None:
        for child in list(self._living):
            self.kill(child)
        self._process.communicate()


@pytest.fixture(scope="module")
def beginner() -> Iterator[Beginner]:
    made = Beginner()
    yield made
    made.close()


class Place(contextlib.ExitStack):
    """What a disk wants to know of a trial."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        folder.mkdir()


def config(rev: int) -> dict[str, Any]:
    return {"dynamic_on": True, "wg_distribution": True, "collect_times": 10**6 + rev}


def whole_texts(most: int) -> list[str]:
    """What the file says of the config of the start, and of every revision after it."""
    wanted = (json.dumps(config(rev)) for rev in range(1, most + 1))
    return [TEXT, *(native.edit_config(TEXT, text) for text in wanted)]


def push(offers: Offers, chance: random.Random, path: Path, how: int) -> None:
    """Some revisions; returns while the last is under way: as the file is written, as it is answered, or any time."""
    count = chance.randrange(1, 4)
    before = set(os.listdir(path.parent))
    for rev in range(1, count + 1):
        offers.wait(offers.offer(config(rev)), ACCEPTED)
        if rev < count or how == 1:
            offers.wait(rev, APPLIED)
    if how == 0:
        end = time.monotonic() + 20
        while not set(os.listdir(path.parent)) - before and count not in offers.so_far(APPLIED):
            assert time.monotonic() < end
    if how != 1:
        time.sleep(chance.uniform(0.0, (0.003, 0.0, 0.03)[how]))


def judge(path: Path, answered: list[int], texts: list[str]) -> int:
    """The revision that the file has."""
    found = path.read_text("utf-8")
    assert found in texts, f"torn: {len(found)} characters, {found[:200]!r}"
    assert texts.index(found) >= max(answered, default=0), f"stale: {texts.index(found)} after {answered}"
    return texts.index(found)


@pytest.mark.parametrize("kills", [9, pytest.param(100, marks=pytest.mark.long)])
def test_a_training_that_is_killed_leaves_a_whole_file_that_is_not_stale(
    beginner: Beginner, tmp_path: Path, kills: int
) -> None:
    chance, texts, midway, ended = random.Random(kills), whole_texts(4), 0, []
    for kill in range(kills):
        path = tmp_path / f"{kill}" / "config.json"
        path.parent.mkdir()
        path.write_text(TEXT)
        offers = Offers()
        with contextlib.closing(offers):
            child = beginner.begin(path, offers.join, tmp_path / f"spool{kill}")
            offers.wait(0, IN_FORCE)
            push(offers, chance, path, kill % 3)
            beginner.kill(child)
            ended.append(judge(path, offers.so_far(APPLIED), texts))
        midway += len(os.listdir(path.parent)) - 1
    print(f"{kills} kills, {midway} of them between the temporary file and its new name")
    assert midway >= kills // 12 and len(set(ended)) > 1


@pytest.mark.parametrize("killed", ["python", "cpp"])
def test_what_a_killed_writer_left_goes_when_the_next_training_begins(
    beginner: Beginner, tmp_path: Path, killed: str
) -> None:
    path = tmp_path / "job" / "config.json"
    path.parent.mkdir()
    users = path.parent / ".config.json.telltale-notes"
    users.touch()
    begins = {"python": beginner.begin, "cpp": beginner.begin_cpp}
    begin = begins.pop(killed)
    for attempt in range(50):
        path.write_text(TEXT)
        with contextlib.closing(Offers()) as offers:
            child = begin(path, offers.join, tmp_path / f"spool{attempt}")
            offers.wait(0, IN_FORCE, timeout=60)
            offers.wait(offers.offer(config(1)), ACCEPTED)
            while 1 not in offers.so_far(APPLIED) and len(os.listdir(path.parent)) == 2:
                pass
            beginner.kill(child)
        if len(os.listdir(path.parent)) > 2:
            break
    assert len(os.listdir(path.parent)) > 2
    [begin] = begins.values()
    with contextlib.closing(Offers()) as offers:
        child = begin(path, offers.join, tmp_path / "spool")
        offers.wait(0, IN_FORCE, timeout=60)
        end = time.monotonic() + 20
        while set(os.listdir(path.parent)) != {path.name, users.name}:
            assert time.monotonic() < end, os.listdir(path.parent)
            time.sleep(0.01)
        beginner.kill(child)


@pytest.mark.skipif(bool(no_loop()), reason=no_loop())
@pytest.mark.parametrize("cuts", [4, pytest.param(25, marks=pytest.mark.long)])
def test_a_power_cut_leaves_a_whole_file_that_is_not_stale(beginner: Beginner, tmp_path: Path, cuts: int) -> None:
    texts = whole_texts(4)
    print([cut_power(beginner, tmp_path / f"{cut}", random.Random(cut), texts, cut % 3) for cut in range(cuts)])


@pytest.mark.skipif(bool(no_loop()), reason=no_loop())
def test_a_power_cut_without_syncs_is_seen(beginner: Beginner, tmp_path: Path) -> None:
    """Else the test above would show nothing."""
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        for cut in range(20):
            cut_power(beginner, tmp_path / f"{cut}", random.Random(cut), whole_texts(4), 1, syncs=False)


def cut_power(
    beginner: Beginner, folder: Path, chance: random.Random, texts: list[str], how: int, syncs: bool = True
) -> int:
    """The revision that the file has when the power is back."""
    with Place(folder) as place:
        disk = PowerDisk(place, "disk", 16)  # type: ignore[arg-type]
        path = disk.point / "config.json"
        with path.open("w") as file:
            file.write(TEXT)
            file.flush()
            os.fsync(file.fileno())
        handle = os.open(disk.point, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        offers = place.enter_context(contextlib.closing(Offers()))
        child = beginner.begin(path, offers.join, folder / "spool", syncs)
        offers.wait(0, IN_FORCE)
        push(offers, chance, path, how)
        answered = offers.so_far(APPLIED)
        disk.cut()
        beginner.kill(child)
        disk.back()
        return judge(path, answered, texts)
