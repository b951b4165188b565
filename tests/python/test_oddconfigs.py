# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever somebody pushes through a real server: a training runs one whole config or another, and nobody grows."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from oddconfigs import hostile, random_ones
from serving import BUILD, TELLTALE, Server
from telltale import native

BEGIN = {"dynamic_on": True, "wg_distribution": True}
END = {"dynamic_on": True, "param_distribution": True, "ndigits": 7}
TRAINING = """
import json, os, sys, time
import torch, torch.nn as nn
import telltale
from telltale.configfile import from_document
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
monitor = telltale.watch(model, optimizer, json.loads(sys.argv[1]))
said, last = open(sys.argv[2], "w"), None
while not os.path.exists(sys.argv[3]):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    time.sleep(0.001)
    running = monitor._steering._document
    if running is not last:
        last = running
        is_whole = monitor.engine.config is monitor.config and (
            vars(from_document({**running, "dynamic_on": True})) == {**vars(monitor.config), "dynamic_on": True})
        print(json.dumps([monitor.step, is_whole, running]), file=said, flush=True)
"""
MOST_GROWTH = 48 << 20  # bytes, after the first tenth


def resident(process: subprocess.Popen[Any]) -> int:
    """Bytes of memory."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Pusher:
    def __init__(self, server: Server) -> None:
        listed = subprocess.run(
            [str(TELLTALE), "runs", "--json", "--data-dir", str(server.folder)], capture_output=True, text=True
        )
        [run] = json.loads(listed.stdout)
        self._process = subprocess.Popen(
            [str(BUILD / "tests" / "configpusher"), str(server.folder), run["id"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.slowest = 0.0

    def push(self, config: bytes) -> dict[str, Any]:
        """Without a config: until all ranks have answered the newest."""
        assert self._process.stdin is not None and self._process.stdout is not None
        began = time.monotonic()
        self._process.stdin.write(b"%d\n" % len(config) + config)
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        if config:
            self.slowest = max(self.slowest, time.monotonic() - began)
        return said

    def close(self) -> None:
        self._process.communicate()


def whole(text: bytes) -> str:
    """The config that a text says, whoever has switched it off since."""
    # The wire is UTF-8: what is none has been replaced on its way.
    return canonical(native.read_config(text.decode("utf-8", "replace"))["config"])


def canonical(document: dict[str, Any]) -> str:
    return json.dumps({**document, "dynamic_on": False}, sort_keys=True)


LONG = [pytest.mark.long, pytest.mark.timeout(3000)]


@pytest.mark.parametrize("count", [pytest.param((60, 300), id="short"), pytest.param((1000, 10_000), marks=LONG)])
def test_hostile_and_random_configs_change_the_whole_config_or_nothing(tmp_path: Path, count: tuple[int, int]) -> None:
    server = Server(tmp_path / "data")
    said, stop, errors = tmp_path / "said", tmp_path / "stop", tmp_path / "errors"
    (tmp_path / "training.py").write_text(TRAINING)
    with errors.open("w") as to:
        training = subprocess.Popen(
            [sys.executable, str(tmp_path / "training.py"), json.dumps(BEGIN), str(said), str(stop)],
            env=dict(os.environ, TELLTALE_JOIN=server.join, OMP_NUM_THREADS="1"),
            stdout=subprocess.DEVNULL,
            stderr=to,
        )
    try:
        _wait(lambda: said.exists() and said.read_text() and list(server.folder.rglob("*.telltale")), training)
        pusher = Pusher(server)
        every = list(hostile())
        assert len(every) >= 1000
        chosen = [every[i * len(every) // count[0]] for i in range(count[0])]
        known, answers, memory = _push_all(
            pusher, [*chosen, *itertools.islice(random_ones(7), count[1])], server, training
        )
        assert pusher.push(json.dumps(END).encode()).keys() == {"rev"}
        known.add(whole(json.dumps(END).encode()))
        assert pusher.push(b"").keys() == {"rev"}
        _wait(lambda: '"ndigits": 7' in said.read_text().splitlines()[-1], training)
        pusher.close()
        stop.touch()
        assert training.wait(60) == 0 and "internal error" not in errors.read_text(), errors.read_text()
        assert server.stop() == 0
    finally:
        training.kill()
        server.kill()
    ran = [json.loads(line) for line in said.read_text().splitlines()]
    print(f"{answers}, {len(ran)} in force, slowest answer {pusher.slowest:.2f} s, memory in MiB {memory}")
    known.add(whole(json.dumps(BEGIN).encode()))
    assert [one for one in ran if not one[1]] == []
    assert [one for one in ran if canonical(one[2]) not in known] == []
    assert len({canonical(one[2]) for one in ran}) > sum(count) // 60
    assert answers["error"] > count[0] // 3 and answers["rev"] > count[1] // 10
    assert pusher.slowest < 10
    for name, (at_first, at_last) in memory.items():
        assert at_last - at_first < MOST_GROWTH >> 20, f"{name} grows: {memory}"


def _wait(is_true: Any, training: subprocess.Popen[Any]) -> None:
    end = time.monotonic() + 60
    while not is_true():
        assert training.poll() is None and time.monotonic() < end
        time.sleep(0.02)


def _push_all(
    pusher: Pusher, configs: Iterable[bytes], server: Server, training: subprocess.Popen[Any]
) -> tuple[set[str], dict[str, int], dict[str, tuple[int, int]]]:
    """The configs that the server took; its answers, counted; memory after the first tenth and at the end."""
    known: set[str] = set()
    answers = {"rev": 0, "error": 0, "cut": 0}
    sizes = []
    configs = list(configs)
    for i, config in enumerate(configs):
        [answer] = pusher.push(config)
        answers[answer] += 1
        if answer == "rev":
            known.add(whole(config))
        if i % 30 == 29:
            settled = pusher.push(b"")  # every rank has answered
            assert settled.keys() == {"rev"}, settled
            sizes.append((resident(server.process) >> 20, resident(training) >> 20))
        assert server.process.poll() is None and training.poll() is None
    first = sizes[len(sizes) // 10]
    return known, answers, {"server": (first[0], sizes[-1][0]), "training": (first[1], sizes[-1][1])}
