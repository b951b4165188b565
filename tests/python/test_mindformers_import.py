# SPDX-License-Identifier: GPL-3.0-or-later
"""Event files that MindSpore Transformers' own callbacks wrote, brought into the archive: every rank, tag and value."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
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
