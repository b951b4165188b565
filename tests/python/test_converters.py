# SPDX-License-Identifier: GPL-3.0-or-later
"""csv2tensorboard_by_step and csv2db beside msprobe's own on the same recorded folders."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from telltale.compat.msprobe import CSV2DBConfig, csv2db, csv2tensorboard_by_step
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

DATA = Path(__file__).parents[1] / "data" / "msprobe"


@pytest.fixture(params=["single", "ddp"])
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "monitor_output"
    shutil.copytree(DATA / request.param / "out", folder)
    return folder


def scalars(folder: Path) -> dict[str, dict[str, list[tuple[int, float]]]]:
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for file in sorted(folder.rglob("events.out.tfevents.*")):
        events = EventAccumulator(str(file.parent), size_guidance={"scalars": 0})
        events.Reload()
        place = str(file.parent.relative_to(folder))
        found[place] = {
            tag: [(e.step, e.value) for e in events.Scalars(tag)]
            for tag in events.Tags()["scalars"]
        }
    return found


def same(a: Any, b: Any) -> bool:
    return a == b or (
        a is not None and b is not None and math.isnan(a) and math.isnan(b)
    )


def test_event_files_are_those_of_msprobe(recorded: Path, tmp_path: Path) -> None:
    theirs_module = pytest.importorskip("msprobe.pytorch.monitor.csv2tb")
    csv2tensorboard_by_step(str(recorded), output_dirpath=str(tmp_path / "ours"))
    theirs_module.csv2tensorboard_by_step(
        str(recorded), output_dirpath=str(tmp_path / "theirs")
    )
    ours, theirs = scalars(tmp_path / "ours"), scalars(tmp_path / "theirs")
    assert set(ours) == set(theirs) and ours
    for place, tags in theirs.items():
        assert list(ours[place]) == list(tags), place
        for tag, values in tags.items():
            assert len(ours[place][tag]) == len(values)
            for (step, value), (their_step, their_value) in zip(
                ours[place][tag], values
            ):
                assert step == their_step and same(value, their_value), (
                    place,
                    tag,
                    step,
                )


def test_types_times_processes_and_the_folder_of_the_documents(
    recorded: Path, tmp_path: Path
) -> None:
    name = next(path.name for path in recorded.iterdir() if "-rank0-" in path.name)
    time = name.split("-rank")[0]
    csv2tensorboard_by_step(
        str(recorded),
        time,
        time,
        process_num=2,
        data_type_list=["grad_reduced", "actv"],
    )
    [made] = recorded.glob("*-csv2tensorboard_by_step")
    assert {str(path.relative_to(made)) for path in made.glob("rank*/*")} == {
        f"rank{rank}/{kind}"
        for rank in range(len(list(recorded.glob(f"{time}-rank*"))))
        for kind in ("grad_reduced", "actv")
    }
    csv2tensorboard_by_step(
        str(recorded),
        "Dec30_00-00-00",
        "Dec31_00-00-00",
        output_dirpath=str(tmp_path / "none"),
    )
    assert not list((tmp_path / "none").rglob("events*"))
    for words, sentence in (
        ({"process_num": 0}, "process_num"),
        ({"process_num": 1000}, "maximum"),
        ({"data_type_list": "actv"}, "is not a list"),
        ({"data_type_list": ["other"]}, "is not supported"),
        (
            {"time_start": "Dec31_00-00-00", "time_end": "Dec30_00-00-00"},
            "greater than",
        ),
        ({"time_start": "yesterday"}, "is no time"),
    ):
        with pytest.raises(ValueError, match=sentence):
            csv2tensorboard_by_step(str(recorded), **words)  # type: ignore[arg-type]


def their_rows(recorded: Path, tmp_path: Path) -> dict[tuple[Any, ...], float | None]:
    module = pytest.importorskip("msprobe.core.monitor.csv2db")
    ranks = {
        int(path.name.split("-rank")[1].split("-")[0]): str(path)
        for path in recorded.glob("*-rank*-*")
    }
    path = tmp_path / "theirs.trend.db"
    config = module.CSV2DBConfig(
        target_output_dirs=ranks, db_file=str(path), micro_step=False
    )
    assert module.import_data(config)
    database = sqlite3.connect(path)
    columns = [row[1] for row in database.execute("PRAGMA table_info(trend_data)")][4:]
    query = (
        "SELECT rank, step, metric_name, target_name, vpp_stage, micro_step, trend_data.* FROM trend_data "
        "JOIN monitoring_targets USING(target_id) JOIN monitoring_metrics USING(metric_id)"
    )
    return {
        (*row[:6], stat): row[10 + i]
        for row in database.execute(query)
        for i, stat in enumerate(columns)
    }  # fmt: skip


def our_rows(path: Path) -> dict[tuple[Any, ...], float | None]:
    database = sqlite3.connect(path)
    found: dict[tuple[Any, ...], float | None] = {}
    for metric, name in database.execute(
        "SELECT metric_id, metric_name FROM monitoring_metrics"
    ).fetchall():
        tables = [
            row
            for row in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            if row[0].startswith(f"metric_{metric}_step_")
        ]
        for (table,) in tables:
            columns = [
                row[1] for row in database.execute(f'PRAGMA table_info("{table}")')
            ]
            stats = [
                column
                for column in columns
                if column not in ("rank", "step", "target_id")
            ]
            picked = ", ".join(f'"{stat}"' for stat in stats)
            for row in database.execute(
                f'SELECT rank, step, target_name, vpp_stage, micro_step, {picked} FROM "{table}" '
                "JOIN monitoring_targets USING(target_id)"
            ):
                for i, stat in enumerate(stats):
                    found[(row[0], row[1], name, row[2], row[3], row[4], stat)] = row[
                        5 + i
                    ]
    return found


def test_the_database_has_the_rows_of_msprobe(recorded: Path, tmp_path: Path) -> None:
    csv2db(
        CSV2DBConfig(
            str(recorded),
            output_dirpath=str(tmp_path / "ours"),
            step_partition=10,
            process_num=2,
        )
    )
    path = tmp_path / "ours" / "monitor_metrics.db"
    ours, theirs = our_rows(path), their_rows(recorded, tmp_path)
    assert set(ours) == set(theirs) and len(ours) > 3000
    for key, value in theirs.items():
        assert same(ours[key], value), key
    stats = dict(
        sqlite3.connect(path).execute("SELECT stat_name, stat_value FROM global_stats")
    )
    steps = {key[1] for key in ours}
    assert stats == {
        "max_rank": max(key[0] for key in ours), "min_step": min(steps), "max_step": max(steps),
        "step_partition_size": 10,
    }  # fmt: skip


def test_a_wish_that_cannot_be_is_refused(tmp_path: Path) -> None:
    for wrong in (5, 100_000_000):
        with pytest.raises(ValueError, match="step_partition"):
            csv2db(CSV2DBConfig(str(tmp_path), step_partition=wrong))
    with pytest.raises(FileNotFoundError):
        csv2db(CSV2DBConfig(str(tmp_path / "missing")))
    csv2db(CSV2DBConfig(str(tmp_path), output_dirpath=str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()


def test_a_script_of_the_documents_runs_where_msprobe_is_not_installed(
    tmp_path: Path,
) -> None:
    script = tmp_path / "convert.py"
    shutil.copytree(DATA / "ddp" / "out", tmp_path / "monitor_output")
    script.write_text(
        "from msprobe.pytorch.monitor.csv2tb import csv2tensorboard_by_step\n"
        "from msprobe.core.monitor.csv2db import CSV2DBConfig, csv2db\n"
        "csv2tensorboard_by_step(monitor_path='monitor_output', data_type_list=['grad_reduced'])\n"
        "csv2db(CSV2DBConfig(monitor_path='monitor_output', output_dirpath='monitor_output'))\n"
    )
    hide = tmp_path / "hide"
    hide.mkdir()
    (hide / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'msprobe' and name not in sys.modules:\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, package=None: "
        "None if name.partition('.')[0] == 'msprobe' else found(name, package)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    environment = dict(os.environ)
    environment["PYTHONPATH"] = f"{hide}:{environment.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-m", "telltale.compat.msprobe", str(script)], cwd=tmp_path, env=environment,
        capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "monitor_output" / "monitor_metrics.db").exists()
    assert list(
        (tmp_path / "monitor_output").glob(
            "*-csv2tensorboard_by_step/rank1/grad_reduced/events*"
        )
    )
