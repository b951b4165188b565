# SPDX-License-Identifier: GPL-3.0-or-later
"""Event files that MindSpore Transformers' own callbacks wrote, brought into the archive: every rank, tag and value."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import telltale
from eventreader import Curves, read_events
from serving import TELLTALE

RECORDED = Path(__file__).resolve().parents[1] / "data" / "mindspore"


def imported(source: Path, folder: Path) -> Path:
    """`telltale import` of a folder; the run."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(TELLTALE), "import", str(source), "--data-dir", str(folder), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    [run] = folder.rglob("*.telltale")
    return run


def expected(curves: Curves) -> dict[str, dict[int, float]]:
    """Metrics by the names that a run gives them: add_scalars has made a folder of each curve."""
    found = {}
    for (place, tag), values in curves.items():
        folder = "/".join(part for part in place.split("/") if not part.startswith("rank_") and part != ".")
        found[folder or tag] = values
    return found


@pytest.mark.parametrize("case", ["mf_static", "mf_pynative"])
def test_every_tag_and_value_is_in_the_run(tmp_path: Path, case: str) -> None:
    curves, texts = read_events(RECORDED / case / "tb")
    run = imported(RECORDED / case / "tb", tmp_path)
    rows = telltale.open(run).frame(kind="scalar").to_numpy()
    found: dict[str, dict[int, float]] = {}
    for name, step, value, rank in zip(rows["name"], rows["step"], rows["value"], rows["rank"]):
        assert rank == 0
        found.setdefault(name, {})[int(step)] = float(value)
    del found["telltale.wall_ns"]  # for the axis of time
    wanted = expected(curves)
    assert found.keys() == wanted.keys() and len(wanted) > 20
    for name, values in wanted.items():
        assert found[name].keys() == values.keys(), name
        assert np.float32(list(found[name].values())).tolist() == np.float32(list(values.values())).tolist(), name
    with contextlib.closing(sqlite3.connect(run)) as database:
        kept = {name for (name,) in database.execute("SELECT name FROM blob WHERE kind = 'text'")}
    assert kept == texts.keys()


def shown(run: Path, series: str) -> list[dict[str, Any]]:
    command = [str(TELLTALE), "show", str(run), "--series", series, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["series"]


def test_ranks_are_those_of_the_folders(tmp_path: Path) -> None:
    """worker/tensorboard/rank_{id}, as a job of several devices has it."""
    recorded = RECORDED / "mf_static" / "tb" / "rank_0"
    for rank in (0, 1, 7):
        shutil.copytree(recorded, tmp_path / "worker" / "tensorboard" / f"rank_{rank}")
    run = imported(tmp_path / "worker" / "tensorboard", tmp_path / "data")
    series = shown(run, "device_local_norm")
    assert sorted(one["rank"] for one in series) == [0, 1, 7]
    assert {tuple(value["step"] for value in one["values"]) for one in series} == {(1, 2, 3, 4, 5, 6)}


def steps_so_far(folder: Path, metric: str) -> list[int]:
    """Of a run that is still written; [] before there is one."""
    for run in folder.rglob("*.telltale"):
        try:
            rows = telltale.open(run).frame(kind="scalar").to_numpy()
        except (OSError, ValueError, RuntimeError):
            return []  # it is just being made
        return [int(step) for step, name in zip(rows["step"], rows["name"]) if name == metric]
    return []


def test_a_job_that_runs_is_followed_without_a_change_of_it(tmp_path: Path) -> None:
    """`telltale import --follow worker/tensorboard` while the files grow, by pieces that end anywhere."""
    recorded = RECORDED / "mf_static" / "tb" / "rank_0" / "events.out.tfevents.1795245472.rec"
    data = recorded.read_bytes()
    folder = tmp_path / "worker" / "tensorboard" / "rank_3"
    folder.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    file = folder / recorded.name
    file.write_bytes(data[: len(data) // 2])
    command = [str(TELLTALE), "import", str(folder.parent), "--follow", "--data-dir", str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as follower:
        try:
            wait(lambda: len(steps_so_far(tmp_path / "data", "loss")) >= 2)
            with file.open("ab") as growing:
                growing.write(data[len(data) // 2 :])
            wait(lambda: steps_so_far(tmp_path / "data", "loss") == [1, 2, 3, 4, 5, 6])
        finally:
            follower.send_signal(signal.SIGINT)
            said = follower.communicate(timeout=30)[0]
    assert follower.returncode == 0, said
    [run] = (tmp_path / "data").rglob("*.telltale")
    curves, _ = read_events(RECORDED / "mf_static" / "tb")
    for name in ("loss", "local_norm/net.head.weight", "weight_norm", "device_accum_local_lm_loss"):
        [series] = shown(run, name)
        assert series["rank"] == 3
        assert {one["step"]: pytest.approx(one["value"]) for one in series["values"]} == curves["rank_0", name], name


def wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
