# SPDX-License-Identifier: GPL-3.0-or-later
"""`telltale import` of what grad_probe wrote: the run that `python -m telltale.gradprobe` sends, of every level and
form, and a sentence for what is damaged."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import telltale
import torch
from probed import STEPS, Named, config, flip_from, give, train
from serving import TELLTALE, Server
from telltale.gradprobe.__main__ import main as send
from telltale.gradprobe.comparator import GradComparator
from telltale.gradprobe.runsigns import write_signs
from telltale.pytorch import PrecisionDebugger

SIGNS = """
SELECT rank, name, step, data FROM blob JOIN stream ON stream.id = blob.stream JOIN source ON source.id = stream.source
WHERE kind = 'grad_sign' ORDER BY blob.id
"""
SHARES = "shares of zeros (=0), which the distributions have in their bins"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    found = Server(tmp_path / "sent")
    monkeypatch.setenv("TELLTALE_JOIN", found.join)
    yield found
    found.kill()


def imported(*sources: Path, into: Path) -> tuple[Path, dict[str, Any]]:
    """The run, and what the program says of it."""
    into.mkdir()
    words = [TELLTALE, "import", *sources, "--data-dir", into, "--json", *(["--merge"] if len(sources) > 1 else [])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    [said] = json.loads(done.stdout)["runs"]
    assert done.returncode == (1 if said["damages"] else 0)
    [run] = into.rglob("*.telltale")
    return run, said


def content(path: Path) -> tuple[list[Any], dict[Any, bytes]]:
    """Rows of values and bins with their edges, by rank, name and step; signs as they are stored."""
    rows: list[Any] = []
    with telltale.open(path) as run:
        for stats in (["norm", "min", "max"], "hist"):
            with contextlib.suppress(ValueError):  # there is none
                frame = run.frame("grad_reduced", stats)
                edges = getattr(frame, "edges", ())
                for row in frame.to_pandas().to_dict("records"):
                    values = [row[stat] for stat in ([stats] if isinstance(stats, str) else stats)]
                    key = (str(stats), row["rank"], row["name"], row["step"], tuple(edges))
                    rows.append((key, np.float32(np.stack(values).ravel()).tobytes()))
        described = [
            (one["kind"], one["rank"], one["name"], one["definition"], tuple(one["shape"]))
            for one in run.series("grad_reduced")
        ]
    with contextlib.closing(sqlite3.connect(path)) as database:
        signs: dict[Any, bytes] = {}
        for rank, name, step, data in database.execute(SIGNS):
            signs[rank, name, step] = signs.get((rank, name, step), b"") + data
    return [*sorted(rows), *sorted(described)], signs


def as_original(folder: Path) -> None:
    """Heads as MindSpore's graph mode writes them."""
    for file in folder.rglob("*.csv"):
        text = file.read_text("utf-8-sig").replace("param_name", "Param_name")
        file.write_text(text.replace("max,min,norm,shape", "Max,Min,Norm,Shape"), "utf-8")


@pytest.mark.parametrize("case", ["L0", "L1", "L2", "documented", "capitals", "one rank"])
def test_both_ways_give_the_same_run(server: Server, tmp_path: Path, case: str) -> None:
    level = case if case in ("L0", "L1") else "L2"
    top = {"telltale": {"form": "documents"}} if case == "documented" else None
    for rank, flips in ((0, None), (3, flip_from(3, "3.weight"))):
        train(config(tmp_path / "dump", level, top, bounds=[-0.01, 0, 0.5, 1e-7 + 1]), flips)
        (tmp_path / "dump/rank0").rename(tmp_path / f"dump/rank_{5 - rank}")
    if case == "capitals":
        as_original(tmp_path / "dump")
    dump = tmp_path / "dump" / ("rank_5" if case == "one rank" else "")
    run, said = imported(dump, into=tmp_path / "data")
    assert send([str(dump)]) == 0 and server.stop() == 0
    [sent] = (tmp_path / "sent").rglob("*.telltale")
    assert content(run) == content(sent)
    rows, signs = content(run)
    ranks = 1 if case == "one rank" else 2
    assert len(signs) == (0 if level == "L0" else ranks * 4 * STEPS)
    assert len(rows) == (ranks * 4 * (STEPS + 1)) * (2 if level == "L2" else 1)
    lines = 4 * STEPS * ranks
    left = {"L0": "checksums (MD5) of gradients", "L2": SHARES}.get(level)
    assert {one["what"]: one["count"] for one in said["left_out"]} == ({left: lines} if left else {})
    assert said["format"] == "grad-probe" and said["damages"] == [] and said["name"] == dump.name


def test_signs_of_any_shape_and_order_come_back_as_they_were(tmp_path: Path) -> None:
    """More than a document holds, none, one, and an array whose first index goes fastest."""
    torch.manual_seed(0)
    shapes = {"large": (1025, 1027), "none": (0, 3), "one": (), "a/b": (3, 4, 5)}
    model = Named(**{name.replace("/", "_"): torch.zeros(shape) for name, shape in shapes.items()})
    PrecisionDebugger(config(tmp_path / "dump")).monitor(model)
    give(model, {name: torch.randn_like(parameter) for name, parameter in model.named_parameters()})
    PrecisionDebugger.stop()
    file = tmp_path / "dump/rank0/step0/a_b.npy"
    bools = np.load(file)
    np.save(file, np.asfortranarray(bools))
    run, said = imported(tmp_path / "dump", into=tmp_path / "data")
    assert write_signs(str(run), str(tmp_path / "read")) == [] and said["damages"] == []
    for name in ("large", "none", "one", "a_b"):
        found = np.load(tmp_path / f"read/rank0/step0/{name}.npy")
        assert np.array_equal(found, bools if name == "a_b" else np.load(tmp_path / f"dump/rank0/step0/{name}.npy"))
        assert found.shape == shapes[name.replace("_", "/")]
    found = GradComparator.compare_distributed(run, tmp_path / "dump", tmp_path / "out")
    assert [one.name for one in found] == ["none"]  # of no sign msprobe says that none is the same
    # A run is taken for another one's part with its signs.
    again, _ = imported(run, tmp_path / "dump", into=tmp_path / "both")
    assert content(again)[1].keys() == content(run)[1].keys()


def test_what_is_damaged_is_a_sentence_and_the_rest_comes(tmp_path: Path) -> None:
    train(config(tmp_path / "dump", "L2"))
    folder = tmp_path / "dump/rank0"
    (folder / "grad_summary_0.csv").write_bytes(b"what")
    cells = (folder / "grad_summary_1.csv").read_bytes().split(b"\r\n")
    cells[2] += b",7"
    cells[3] = cells[3].replace(b",", b",x", 1)
    (folder / "grad_summary_1.csv").write_bytes(b"\r\n".join(cells))
    other = folder / "grad_summary_2.csv"
    other.write_bytes(other.read_bytes().replace(b"(-inf, -1]", b"(-inf, -2]"))
    files = {name: folder / f"step3/{name}.npy" for name in ("0.weight", "0.bias", "3.weight", "3.bias")}
    files["0.weight"].write_bytes(files["0.weight"].read_bytes()[:-1])
    files["0.bias"].write_bytes(b"what")
    np.save(files["3.weight"], np.zeros(3, np.float32))
    files["3.weight"].write_bytes(files["3.weight"].read_bytes().replace(b"'<f4'", b"'\n\x1b4'"))
    files["3.bias"].write_bytes(files["3.bias"].read_bytes() + b"x")
    (folder / "grad_summary_5.csv").unlink()
    run, said = imported(tmp_path / "dump", into=tmp_path / "data")
    told = [one.removeprefix(f"{folder}/") for one in said["damages"]]
    assert told == [
        "grad_summary_0.csv is no summary of grad_probe: its first line has no column param_name",
        "grad_summary_1.csv: 2 of 4 lines cannot be read; the first is line 3: "
        "it has not as many cells as the first line",
        "grad_summary_2.csv has other bounds than the first step; its distributions are left out",
        "step3/0.weight.npy is cut off: 256 bytes are right, and it has 255",
        "step3/0.bias.npy is no NumPy file that can be read",
        r"step3/3.weight.npy has elements of '\u000a\u001b4', and signs are bools",
        "step3/3.bias.npy is longer than its head says: 132 bytes are right, and it has 133",
    ]
    with telltale.open(run) as opened:
        assert len(opened.frame("grad_reduced", "norm").to_pandas()) == 2 + 3 * 4
        assert len(opened.frame("grad_reduced", "hist").to_pandas()) == 2 + 2 * 4
    assert len(content(run)[1]) == 4 * (STEPS - 1)  # also of the steps without a summary
    assert {step for _, _, step in content(run)[1]} == {0, 1, 2, 4, 5}
    shutil.rmtree(tmp_path / "dump/rank0")
    done = subprocess.run([TELLTALE, "import", tmp_path / "dump"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "nothing of another format" in done.stderr
