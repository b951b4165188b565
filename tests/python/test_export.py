# SPDX-License-Identifier: GPL-3.0-or-later
"""`telltale export`, read by TensorBoard's own reader and by pandas, against what `telltale show` says."""

from __future__ import annotations

import json
import math
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from serving import TELLTALE, Server, result, start_training, wait_for_step
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from twoattempts import record_two_attempts

WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def telltale(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(TELLTALE), *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_two_attempts(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def shown(run: Path) -> list[dict[str, Any]]:
    """Every series of the newest attempt with every statistic that is a number, as `telltale show` says it."""
    found = []
    for stat in ("norm", "mean", "min", "max", "zeros", "nans", "posinfs", "neginfs", "value", "entropy"):
        found += json.loads(telltale("show", str(run), "--series", "*", "--stat", stat, "--json").stdout)["series"]
    return found


def number(value: Any) -> float:
    return WORDS[value] if isinstance(value, str) else value


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def events_of(folder: Path) -> EventAccumulator:
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    events.Reload()
    return events


def test_tensorboard_reads_every_value_of_every_attempt(
    run: Path, shown: list[dict[str, Any]], tmp_path: Path
) -> None:
    report = json.loads(telltale("export", str(run), "--to", "tensorboard", "-o", str(tmp_path), "--json").stdout)
    assert {Path(file).parent.name for file in report["files"]} == {"rank0", "rank0-attempt1"}
    events = events_of(tmp_path / "rank0-attempt1")
    first = events_of(tmp_path / "rank0")
    checked = 0
    for series in shown:
        of_slot = f".{series['slot']}" if series["slot"] else ""
        tag = f"{series['kind']}.{series['stat']}/{series['name']}{of_slot}"
        if series["micro_step"] >= 0:
            tag += f"@{series['micro_step']}"
        if series["kind"] == "scalar":
            tag = series["name"]
        values = {event.step: event.value for event in events.Scalars(tag)}
        expected = {one["step"]: number(one["value"]) for one in series["values"] if one["value"] is not None}
        assert set(values) == set(expected), tag
        for step, value in expected.items():
            assert same(values[step], float(np.float32(value))), (tag, step)
        checked += len(expected)
    assert checked > 10_000
    # Nothing of the first attempt is lost either, nor made finite.
    spoiled = {event.step: event.value for event in first.Scalars("actv.norm/blocks.0.mlp.fc1.output")}
    assert sorted(spoiled) == list(range(12))
    assert math.isnan(spoiled[6]) and not math.isnan(spoiled[5])
    times = [event.wall_time for event in events.Scalars("loss")]
    assert times == sorted(times) and times[0] < times[-1] <= time.time()
    assert "wg_distribution" in events.Tensors("config")[0].tensor_proto.string_val[0].decode()
    assert {one["what"].split(",")[0] for one in report["left_out"]} == {
        "checksums",
        "digits beyond a float32's",
    }


def test_histograms_keep_every_count(run: Path, tmp_path: Path) -> None:
    telltale("export", str(run), "--to", "tensorboard", "--stat", "hist", "-o", str(tmp_path))
    events = events_of(tmp_path / "rank0-attempt1")
    shown = json.loads(telltale("show", str(run), "--series", "*", "--stat", "hist", "--json").stdout)["series"]
    assert {f"{one['kind']}.hist/{one['name']}" for one in shown} == set(events.Tags()["histograms"])
    assert not events.Tags()["scalars"]
    for series in shown:
        expected = {one["step"]: one["value"] for one in series["values"]}
        found = events.Histograms(f"{series['kind']}.hist/{series['name']}")
        assert {event.step: event.histogram_value.bucket for event in found} == expected
        assert found[0].histogram_value.bucket_limit[:-1] == series["edges"][1:-1]


def test_msprobes_tags_are_those_of_the_documents(run: Path, tmp_path: Path) -> None:
    telltale("export", str(run), "--to", "tensorboard", "--tags", "msprobe", "-o", str(tmp_path))
    tags = events_of(tmp_path / "rank0").Tags()
    assert {
        "0:blocks.0.mlp.fc1.input:0/rank0/actv_norm",
        "0:blocks.0.mlp.fc1.output:0/rank0/actv_grad_nans",
        "0:head.weight/rank0/post_grad_norm",
        "0:head.weight/rank0/acc_grad_mean",
        "0:head.weight/rank0/exp_avg_sq_max",
        "0:blocks.0.attn.core.attention.head_1:0/rank0/qkt_entropy",
        "loss",
    } <= set(tags["scalars"])
    assert "0:head.weight/rank0/adam_update_hist" in tags["histograms"]


def test_pandas_reads_the_csv(run: Path, shown: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    telltale("export", str(run), "--to", "csv", "-o", str(path))
    table = pd.read_csv(path, dtype={"value": str}, keep_default_na=False)
    newest = table[table["attempt"] == 1]
    found = {
        key: dict(zip(rows["step"], rows["value"]))
        for key, rows in newest.groupby(["kind", "name", "slot", "micro_step", "definition", "stat"])
    }
    for series in shown:
        key = (*(series[word] for word in ("kind", "name", "slot", "micro_step", "definition")), series["stat"])
        expected = {one["step"]: number(one["value"]) for one in series["values"] if one["value"] is not None}
        assert set(found[key]) == set(expected), key
        for step, value in expected.items():
            assert same(float(found[key][step]), value), (key, step)
    sums = json.loads(telltale("show", str(run), "--series", "head.weight", "--stat", "checksum", "--json").stdout)
    series = next(one for one in sums["series"] if one["kind"] == "param_updated")
    of_sums = newest[(newest["stat"] == "checksum") & (newest["kind"] == "param_updated")]
    assert list(of_sums[of_sums["name"] == "head.weight"]["value"]) == [one["value"] for one in series["values"]]
    again = telltale("export", str(run), "--to", "csv", "-o", str(path), code=2)
    assert "is there already" in again.stderr


def test_what_is_chosen_alone_is_written(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    telltale("export", str(run), "--to", "csv", "-o", str(path), "--kind", "actv", "--stat", "zeros", "--steps", "5:6",
             "--modules", "blocks.*.mlp.fc1")  # fmt: skip
    table = pd.read_csv(path)
    assert set(table["kind"]) == {"actv"} and set(table["stat"]) == {"zeros"} and set(table["step"]) == {5, 6}
    assert all(name.startswith("blocks.0.mlp.fc1") for name in table["name"])
    assert np.isfinite(table["value"]).all()  # a share of all elements, also beside a NaN
    for words, sentence in (
        (["--to", "xlsx"], "there is no format 'xlsx'; choose from tensorboard, csv"),
        (["--to", "csv", "--kind", "gradient"], "there is no kind 'gradient'"),
        (["--to", "csv", "--tags", "mine"], "--tags 'mine' is neither readable nor msprobe"),
    ):
        assert sentence in telltale("export", str(run), "-o", str(tmp_path / "x"), *words, code=2).stderr
    assert not (tmp_path / "x").exists()


def test_a_live_run_is_followed_to_its_end(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    training = start_training(tmp_path / "training", 60, TELLTALE_JOIN=server.join, PAUSE="0.05")
    try:
        wait_for_step(training, 5)
        [capsule] = (tmp_path / "data").rglob("*.telltale")
        follower = subprocess.Popen(
            [str(TELLTALE), "export", str(capsule), "--to", "tensorboard", "-o", str(tmp_path / "tb"), "--follow"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        result(training)
        out, err = follower.communicate(timeout=60)
        assert follower.returncode == 0, err
    finally:
        training.kill()
        server.stop()
    events = events_of(tmp_path / "tb" / "rank0")
    assert [event.step for event in events.Scalars("loss")] == list(range(60))
    for tag in events.Tags()["scalars"]:
        steps = [event.step for event in events.Scalars(tag)]
        assert steps == sorted(set(steps)), tag


def test_numpy_loads_every_array_and_it_is_what_show_says(
    run: Path, shown: list[dict[str, Any]], tmp_path: Path
) -> None:
    out = tmp_path / "npy"
    report = json.loads(telltale("export", str(run), "--to", "npy", "-o", str(out), "--json").stdout)
    assert {Path(file).parent.name for file in report["files"]} == {"rank0", "rank0-attempt1"}
    expected = {
        (one["kind"], one["name"], one["slot"], one["micro_step"], one["stat"]): {
            value["step"]: number(value["value"]) for value in one["values"] if value["value"] is not None
        }
        for one in shown
    }
    found: dict[tuple[Any, ...], dict[int, float]] = {}
    for table in sorted((out / "rank0-attempt1").glob("*.csv")):
        kind = table.name.split(".")[0]
        columns = pd.read_csv(table, keep_default_na=False)
        if (edges_file := table.with_suffix(".edges.npy")).exists():
            edges = np.load(edges_file, allow_pickle=False)
            rows = np.load(table.with_suffix(".hist.npy"), allow_pickle=False)
            assert np.all(np.diff(edges) > 0) and rows.shape[1] == 2 + len(edges) - 1
            assert set(rows[:, 0].tolist()) <= set(range(len(columns)))
            continue
        steps = np.load(table.with_suffix(".steps.npy"), allow_pickle=False)
        assert steps.dtype == np.int64 and np.all(np.diff(steps) > 0)
        for there_file in sorted(table.parent.glob(f"{table.stem}.*.there.npy")):
            stat = there_file.name.removeprefix(f"{table.stem}.").removesuffix(".there.npy")
            values = np.load(table.with_suffix(f".{stat}.npy"), allow_pickle=False)
            there = np.load(there_file, allow_pickle=False)
            assert values.shape == there.shape == (len(steps), len(columns)) and there.dtype == np.bool_
            for i, row in columns.iterrows():
                place = (kind, row["name"], row["slot"], int(row["micro_step"]), stat)
                one = found.setdefault(place, {})
                one.update(zip(steps[there[:, i]].tolist(), values[there[:, i], i].tolist(), strict=True))
    checked = 0
    for place, of_show in expected.items():
        assert set(found[place]) == set(of_show), place
        for step, value in of_show.items():
            exact = found[place][step]  # of a float32, which is shown with its own digits
            assert same(exact, value) or np.float32(exact) == np.float32(value), (place, step)
        checked += len(of_show)
    assert checked > 10_000
