# SPDX-License-Identifier: GPL-3.0-or-later
"""Event files that MindSpore Transformers' own callbacks wrote, brought into the archive: every rank, tag and value,
and curves over samples as the axis that they are."""

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
from serving import TELLTALE, Server
from telltale.sinks.tensorboard import event_file
from telltale.sinks.textfile import GrowingFile
from telltale.sinks.tfrecord import ScalarRecord

RECORDED = Path(__file__).resolve().parents[1] / "data" / "mindspore"
REPEATED = "curves over samples (NAME-vs-samples), which repeat NAME: the run has their samples as an axis"


def imported(source: Path, folder: Path, told: dict[str, int] | None = None) -> Path:
    """`telltale import` of a folder; the run. told: takes what was left out."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(TELLTALE), "import", str(source), "--data-dir", str(folder), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    if told is not None:
        [said] = json.loads(done.stdout)["runs"]
        told.update({one["what"]: one["count"] for one in said["left_out"]})
    [run] = folder.rglob("*.telltale")
    return run


def curves_of(run: Path) -> dict[str, dict[int, float]]:
    """Metrics of a run, but when each step was."""
    rows = telltale.open(run).frame(kind="scalar").to_numpy()
    found: dict[str, dict[int, float]] = {}
    for name, step, value, rank in zip(rows["name"], rows["step"], rows["value"], rows["rank"]):
        assert rank == 0
        found.setdefault(name, {})[int(step)] = float(value)
    del found["telltale.wall_ns"]  # for the axis of time
    return found


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
    told: dict[str, int] = {}
    run = imported(RECORDED / case / "tb", tmp_path, told)
    found = curves_of(run)
    wanted = expected(curves)
    repeated = [name for name in wanted if name.endswith("_vs_samples")]
    by_samples = wanted["loss_vs_samples"]
    assert found.pop("telltale.samples_seen") == dict(zip(wanted["loss"], by_samples))
    assert told == {REPEATED: sum(len(wanted.pop(name)) for name in repeated)} and len(repeated) > 6
    assert found.keys() == wanted.keys() and len(wanted) > 12
    for name, values in wanted.items():
        assert found[name].keys() == values.keys(), name
        assert np.float32(list(found[name].values())).tolist() == np.float32(list(values.values())).tolist(), name
    with contextlib.closing(sqlite3.connect(run)) as database:
        kept = {name for (name,) in database.execute("SELECT name FROM blob WHERE kind = 'text'")}
    assert kept == texts.keys()


def test_only_what_repeats_a_metric_is_an_axis(tmp_path: Path) -> None:
    """Megatron-LM's tags, values that are not the metric's, and a tag of that form whose metric is not there."""
    file = event_file(str(tmp_path / "tb"))
    for step in range(1, 5):
        place = step + step // 3  # a step is missing
        put(file, place, {"lm loss": np.nan if step == 2 else 0.1 / step, "rate": 0.5})
        put(file, 512 * place, {"lm loss vs samples": np.nan if step == 2 else 0.1 / step, "rate vs samples": 0.25})
        put(file, place, {"accuracy_vs_samples": step / 4})
    file.close()
    told: dict[str, int] = {}
    found = curves_of(imported(tmp_path / "tb", tmp_path / "data", told))
    steps = [1, 2, 4, 5]
    assert found["telltale.samples_seen"] == {step: 512 * step for step in steps}
    assert list(found["accuracy_vs_samples"].values()) == [0.25, 0.5, 0.75, 1.0]
    assert found.keys() == {"lm loss", "rate", "accuracy_vs_samples", "telltale.samples_seen"}
    assert {name: sorted(curve) for name, curve in found.items()} == dict.fromkeys(found, steps)
    assert told == {REPEATED: 4, "values over samples that are not those of their metric's newest step": 4}


def put(file: GrowingFile, step: int, values: dict[str, float]) -> None:
    file.append(ScalarRecord(list(values)).fill(step, np.array(list(values.values())), 1.7e9 + step))


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
    [seen] = shown(run, "telltale.samples_seen")
    assert [(one["step"], one["value"]) for one in seen["values"]] == [(step, 4 * step) for step in range(1, 7)]
    for name in ("loss", "local_norm/net.head.weight", "weight_norm", "device_accum_local_lm_loss"):
        [series] = shown(run, name)
        assert series["rank"] == 3
        assert {one["step"]: pytest.approx(one["value"]) for one in series["values"]} == curves["rank_0", name], name


@pytest.mark.parametrize("is_served", [False, True])
def test_a_follower_that_was_killed_goes_on_when_it_is_started_again(tmp_path: Path, is_served: bool) -> None:
    recorded = RECORDED / "mf_static" / "tb" / "rank_0" / "events.out.tfevents.1795245472.rec"
    whole = recorded.read_bytes()
    folder = tmp_path / "worker" / "tensorboard" / "rank_0"
    folder.mkdir(parents=True)
    data = tmp_path / "data"
    data.mkdir()
    file = folder / recorded.name
    command = [str(TELLTALE), "import", str(folder.parent), "--follow", "--data-dir", str(data)]
    server = Server(data) if is_served else None
    try:
        for part, steps in ((2, 2), (1, 6)):
            file.write_bytes(whole[: len(whole) // part])
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as follower:
                try:
                    wait(lambda steps=steps: len(set(steps_so_far(data, "loss"))) >= steps)
                finally:
                    follower.send_signal(signal.SIGKILL if part == 2 else signal.SIGINT)
                    said = follower.communicate(timeout=30)[0]
        assert follower.returncode == 0 and "went on with run" in said, said
    finally:
        if server is not None:
            server.stop()
    [run] = data.rglob("*.telltale")
    curves, _ = read_events(RECORDED / "mf_static" / "tb")
    for name in ("loss", "local_norm/net.head.weight", "weight_norm", "device_accum_local_lm_loss"):
        [series] = shown(run, name)  # of one attempt, and every step once
        assert [one["step"] for one in series["values"]] == sorted(curves["rank_0", name])
        assert {one["step"]: pytest.approx(one["value"]) for one in series["values"]} == curves["rank_0", name], name


def wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
