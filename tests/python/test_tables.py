# SPDX-License-Identifier: GPL-3.0-or-later
"""Parquet and Arrow files through `telltale import`: value by value, and a sentence for everything that is no value."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from importedrun import HEAD, called, imported, lines_of
from serving import BUILD, TELLTALE

HARD = ["NaN", "Infinity", "-Infinity", "1e-09", "0", "-0.1", "16777217", "9007199254740992", "1.7976931348623157e+308"]
DAMAGED = int(os.environ.get("TELLTALE_DAMAGED_FILES", "60"))  # files of each format
BINS = ["[-Infinity, -1)", "[-1, 0)", "[0, 1)", "[1, Infinity)"]


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_READER_LIBRARY", str(BUILD / "lib" / "libtelltale_reader.so"))
    monkeypatch.setenv("TELLTALE_PYTHON", sys.executable)


def metrics_of(run: dict[str, Any], tmp_path: Path) -> dict[tuple[str, int], float]:
    """What rank 0 logged, by name and step."""
    lines = lines_of(run["capsule"], tmp_path)
    return {(key[4].removeprefix("'"), int(key[0])): float(value) for key, value in lines.items()}


def left_out(run: dict[str, Any]) -> dict[str, int]:
    return {one["what"]: one["count"] for one in run["left_out"]}


def hard_lines() -> list[str]:
    """Four ranks, two attempts of one, gaps, chunks, micro steps, definitions, all bits of a checksum, histograms."""
    lines = [HEAD]
    for rank, attempt in ((0, 0), (1, 0), (2, 0), (3, 0), (2, 1)):
        for step in (*range(attempt * 3, 8), *range(20, 29)):
            begin, value = f"{step},{rank},{attempt}", HARD[(step + rank) % len(HARD)]
            lines.append(f'{begin},scalar,"loss, ""all""",,-1,0,,value,{value}')
            for chunk in (0, 1):
                lines.append(f"{begin},grad_reduced,a.weight,,-1,{chunk},,norm,{value}")
            if step % 3:
                lines.append(f"{begin},grad_reduced,a.weight,,-1,0,,mean,-0.5")
                lines.append(f"{begin},actv,b,output,{step % 2},0,,nans,{2**53 if step == 4 else step}")
                lines.append(f"{begin},actv,b,output,{step % 2},0,other way,nans,7")
            lines.append(f"{begin},param_updated,a.weight,,-1,0,,checksum,fedcba98765432{rank}{step % 10}")
            for number, bounds in enumerate(BINS):
                lines.append(f'{begin},update,a.weight,,-1,0,,"hist {bounds}",{step * number}')
    return lines


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_every_sample_of_an_exported_run_comes_back(tmp_path: Path, form: str) -> None:
    source = tmp_path / "hard.csv"
    source.write_text("\n".join(hard_lines()) + "\n")
    run = imported(tmp_path / "data", source)
    before = lines_of(run["capsule"], tmp_path)
    assert len(before) > len(hard_lines()) - 40
    folder = tmp_path / "tables"
    folder.mkdir()
    called("export", run["capsule"], "--to", form, "-o", folder / f"values.{form}")
    called("export", run["capsule"], "--to", form, "--stat", "hist", "-o", folder / f"histograms.{form}")
    again = imported(tmp_path / "again", folder)
    assert again["format"] == "parquet" and again["name"] == "hard.csv" and again["processes"] == 5
    assert again["damages"] == []
    assert lines_of(again["capsule"], tmp_path) == before
    # Without them they are no more than what is not in the file.
    values = imported(tmp_path / "values only", folder / f"values.{form}")
    expected = {key: value for key, value in before.items() if not key[9].startswith("hist ")}
    assert lines_of(values["capsule"], tmp_path) == expected and 0 < len(expected) < len(before)


HISTORY = {
    "_step": pa.array([0, 1, 5, 9]),
    "train/loss": [2.5, math.nan, None, math.inf],
    "small": pa.array([1e-9, 0.1, None, 3], pa.float32()),
    "_runtime": [1.0, 2.0, 3.0, 4.0],
    "_timestamp": [1700000000.25, 1700000001.25, 1700000005.25, 1700000009.0],
    "words": ["hello", None, "NaN", "-Infinity"],
    "count": pa.array([2**53, 2**53 + 1, 2**62, 2**63 - 1]),
    "is_warm": [True, False, None, True],
    "eval": [{"acc": 1.5, "deep": {"er": 2}}, None, {"acc": None, "deep": None}, {"acc": 2.5, "deep": {"er": 7}}],
    "grads": [{"_type": "histogram", "bins": [0.0, 1.0], "values": [3]}] * 3 + [None],
    "list": [[1], [2], None, [3]],
    "=cmd|' /C calc'!A0": [1, 2, 3, 4],
    'a\x1b[31m\n"b,': [1, 2, 3, 4],
    "../../evil": [4, 5, 6, None],
    "rate": pa.array(["0.5", "0.25", None, ""]).dictionary_encode(),
}


@pytest.mark.parametrize("form", ["parquet", "arrow", "feather"])
def test_a_history_of_wandb_comes_in_and_what_is_no_number_is_named(tmp_path: Path, form: str) -> None:
    table, path = pa.table(HISTORY), tmp_path / "history.bin"  # what it is, is told by its content
    if form == "parquet":
        pq.write_table(table, path, row_group_size=3)
    elif form == "feather":
        pa.feather.write_feather(table, str(path), compression="zstd")
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    run = imported(tmp_path / "data", path)
    found = metrics_of(run, tmp_path)
    expected: dict[tuple[str, int], float] = {}
    nested = {"eval.acc": [1.5, None, None, 2.5], "eval.deep.er": [2, None, None, 7]}
    read_texts = {"words": [None, None, math.nan, -math.inf], "rate": [0.5, 0.25, None, None]}
    for name, column in {**table.to_pydict(), **nested, **read_texts}.items():
        shown = name.replace("\x1b", "\\u001b").replace("\n", "\\u000a")
        for step, value in zip(HISTORY["_step"].to_pylist(), column, strict=True):
            if name not in ("_step", "_timestamp", "eval", "grads", "list") and value is not None:
                expected[shown, step] = float(value)
    for step, seconds in zip(HISTORY["_step"].to_pylist(), HISTORY["_timestamp"], strict=True):
        expected["telltale.wall_ns", step] = seconds * 1e9
    assert found.keys() == expected.keys()
    for key, value in expected.items():  # what a float32 holds is shown by a float32's digits
        same = found[key] == value or float(np.float32(found[key])) == value
        assert same or (math.isnan(value) and math.isnan(found[key])), key
    assert {what.replace("<item:", "<element:"): count for what, count in left_out(run).items()} == {
        'column "grads" (a histogram or other media of W&B)': 3, 'column "list" (list<element: int64>)': 3,
        'column "words": texts that are no numbers': 1, 'digits behind the 53rd bit in column "count"': 2,
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("values")) == ["data", path.name]


def test_pandas_and_trackio_tables_come_in(tmp_path: Path) -> None:
    stamps = pd.to_datetime(["2026-02-05T12:46:01.5Z", "2026-02-05T12:46:02.0Z", "2026-02-05T12:46:03.0Z"])
    log = pd.DataFrame(
        {"timestamp": stamps, "run_name": ["dainty-meadow"] * 3, "step": [1, 2, 3], "loss": [0.5, 0.25, math.nan]},
        index=[4, 5, 6],
    )
    log.to_parquet(tmp_path / "one.parquet")
    one = imported(tmp_path / "data", tmp_path / "one.parquet")
    assert one["name"] == "dainty-meadow" and list(left_out(one).values()) == [1]
    assert "there NaN is empty, too" in next(iter(left_out(one)))
    found = metrics_of(one, tmp_path)
    assert found == {
        ("loss", 1): 0.5, ("loss", 2): 0.25, ("telltale.wall_ns", 1): 1770295561.5e9,
        ("telltale.wall_ns", 2): 1770295562e9, ("telltale.wall_ns", 3): 1770295563e9,
    }  # fmt: skip
    two = pa.table({"run_name": ['a"b', "c"], "step": [1, 1], "loss": [1.0, 2.0]})
    pq.write_table(two, tmp_path / "two.parquet")
    assert metrics_of(imported(tmp_path / "data", tmp_path / "two.parquet"), tmp_path) == {
        ('a"b/loss', 1): 1.0, ("c/loss", 1): 2.0,
    }  # fmt: skip


def test_files_of_a_folder_are_parts_of_a_run_or_runs_beside_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    folder.mkdir()
    for part in range(3):
        steps = list(range(part * 10, part * 10 + 10))
        table = pa.table({"_step": steps, "loss": [step / 2 for step in steps]})
        pq.write_table(table, folder / f"000{part}.parquet")
    pq.write_table(pa.table({"_step": [0, 1], "acc": [0.5, 0.75]}), folder / "acc.parquet")
    run = imported(tmp_path / "data", folder)
    assert run["name"] == "history" and run["left_out"] == []
    assert metrics_of(run, tmp_path) == {("loss", step): step / 2 for step in range(30)} | {
        ("acc", 0): 0.5, ("acc", 1): 0.75,
    }  # fmt: skip
    pq.write_table(pa.table({"_step": [0, 1], "loss": [7.0, 8.0]}), folder / "other.parquet")
    pq.write_table(pa.table({"gpu": [1, 2]}), folder / "system.parquet")
    (folder / "cut.parquet").write_bytes((folder / "0000.parquet").read_bytes()[:-9])
    (folder / "notes.txt").write_text("no table")
    several = imported(tmp_path / "data", folder, code=1)  # a part of it could not be read
    found = metrics_of(several, tmp_path)
    assert found["other/loss", 1] == 8 and found["0000/loss", 1] == 0.5 and found["0002/loss", 29] == 14.5
    assert len(found) == 34 and found["acc/acc", 1] == 0.75
    [what] = left_out(several)
    assert "system.parquet, which says no steps" in what
    [damage] = several["damages"]
    assert "cut.parquet: pyarrow cannot read it: " in damage and "\n" not in damage


def test_what_cannot_be_read_gets_a_sentence(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"_step": [0, 1], "loss": [7.0, 8.0]}), whole)
    (tmp_path / "data").mkdir()
    data = ["--data-dir", tmp_path / "data"]
    for python, said in (("/nowhere/python", "cannot start"), ("/usr/bin/python3", "does not have")):
        done = called("import", whole, *data, code=1, TELLTALE_PYTHON=python, PYTHONPATH="")
        assert said in done.stderr and "TELLTALE_PYTHON" in done.stderr
    for columns, said in (
        ({"gpu": [1]}, "says no steps"),
        ({"_step": [1], "x": [[1]]}, 'that a run could hold: column "x" (list<'),
    ):
        path = tmp_path / "none.parquet"
        pq.write_table(pa.table(columns), path)
        assert said in called("import", path, *data, code=1).stderr
    path.write_bytes(b"PAR1 and no more")
    done = called("import", path, *data, "--json", code=1)
    [error] = json.loads(done.stdout)["errors"]
    assert "pyarrow cannot read it: " in error and "Traceback" not in done.stderr
    assert "they alone can be followed" in called("import", "--follow", whole, *data, code=2).stderr
    twice = pa.table([[1], [2], [3]], names=["_step", "loss", "loss"])
    pq.write_table(twice, path)
    assert "several columns that are called 'loss'" in called("import", path, *data, code=1).stderr


def test_a_folder_of_strangers_gives_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"_step": [0, 1], "loss": [7.0, 8.0]}), tmp_path / "-x.parquet")
    for name in ("pyarrow", "telltale", "json", "importlib"):
        (tmp_path / f"{name}.py").write_text("open('taken', 'w')\n")
    monkeypatch.chdir(tmp_path)
    run = imported(tmp_path / "data", Path("."))
    called("export", run["capsule"], "--to", "parquet", "-o", "out.bin")
    assert run["scalars"] == 2 and Path("out.bin").exists() and not Path("taken").exists()


def test_an_import_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    path, data = tmp_path / "long.parquet", tmp_path / "data"
    data.mkdir()
    steps = np.arange(1 << 20)
    pq.write_table(pa.table({"_step": steps, **{f"m{i}": steps * 0.1 for i in range(8)}}), path)
    words = [str(TELLTALE), "import", str(path), "--data-dir", str(data)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True) as program:
        reading: list[Path] = []
        while program.poll() is None and not reading:
            time.sleep(0.002)
            with contextlib.suppress(OSError):  # those that are looked at may just be gone
                children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
                found = [Path(f"/proc/{pid}/cmdline") for pid in children]
                reading = [one for one in found if b"\0tables\0" in one.read_bytes()]
        os.killpg(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=60)
    assert program.returncode == 1 and "the import was canceled" in said and "Traceback" not in said
    assert not reading[0].exists() and not list(data.rglob("*.telltale"))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_damaged_files_are_said_and_never_more_than_that(tmp_path: Path, form: str) -> None:
    """Each in the process that the program would start, so that it ends as it may."""
    table, path = pa.table(HISTORY), tmp_path / f"whole.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    chosen, whole, files = random.Random(7), path.read_bytes(), []
    for number in range(DAMAGED):
        bad = bytearray(whole)
        for _ in range(chosen.randint(1, 4)):
            bad[chosen.randrange(6, len(bad))] = chosen.randrange(256)
        if number % 4 == 0:
            del bad[chosen.randrange(6, len(bad)) :]
        files.append(tmp_path / f"{number}.{form}")
        files[-1].write_bytes(bad)
    words = [sys.executable, "-m", "telltale", "tables", "--", *map(str, files)]
    done = subprocess.run(words, capture_output=True, timeout=120)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
    at, said, ended = 0, 0, 0
    while at < len(done.stdout):
        end = done.stdout.index(b"\n", at)
        message = json.loads(done.stdout[at:end])
        at = end + 1 + message.get("bytes", 0)
        said += message["message"] == "damage"
        ended += message["message"] in ("end", "done")
    assert ended == len(files) + 1 and said >= len(files) // 4
