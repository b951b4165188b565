# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs and distributions that go to the dashboard, and runs compared by them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import telltale
import torch
from probed import STEPS, config, flip_from, model_of, train
from serving import TELLTALE, Server
from telltale import gradcompare
from telltale.gradprobe.__main__ import main as send
from telltale.gradprobe.comparator import GradComparator
from telltale.gradprobe.probestream import SIGNS, ProbeStream
from telltale.gradprobe.runsigns import write_signs
from telltale.gradprobe.signfile import ProbeError
from telltale.pytorch import PrecisionDebugger

NAMES = ["0.weight", "0.bias", "3.weight", "3.bias"]
STREAM = {"telltale": {"stream": True}}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    found = Server(tmp_path / "data")
    monkeypatch.setenv("TELLTALE_JOIN", found.join)
    yield found
    PrecisionDebugger.stop()
    found.kill()


def runs(server: Server, folder: Path) -> dict[str, Path]:
    """The runs by their names, when the server has ended."""
    assert server.stop() == 0
    found = {}
    for path in (folder / "data").rglob("*.telltale"):
        with telltale.open(path) as run:
            found[run.name] = path
    return found


def test_runs_are_compared_by_the_signs_that_were_streamed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bare = train(None)
    for name, flips in (("clean", None), ("flipped", flip_from(3, "3.weight"))):
        monkeypatch.setenv("TELLTALE_RUN_ID", name)
        ends = train(config(tmp_path / name, "L2", top=STREAM), flips)
        assert name != "clean" or all(torch.equal(a, b) for a, b in zip(bare, ends))
    found = runs(server, tmp_path)
    assert set(found) == {"clean", "flipped"}
    for name, path in found.items():
        assert write_signs(str(path), str(tmp_path / "read" / name)) == []
        for file in (tmp_path / name).rglob("*.npy"):
            copy = tmp_path / "read" / name / file.relative_to(tmp_path / name)
            assert copy.read_bytes() == file.read_bytes()
    capfd.readouterr()
    suspicious = GradComparator.compare_distributed(found["clean"], found["flipped"], tmp_path / "out")
    assert [(one.verdict.suspicious, one.name) for one in suspicious][:1] == [(3, "3.weight")]
    by_package = {one.name: one.verdict.suspicious for one in suspicious}
    assert verdicts(found["flipped"], found["clean"]) == {**dict.fromkeys(NAMES), **by_package}
    picture = tmp_path / "compared.svg"
    words = [TELLTALE, "render", found["clean"], "--view", "compare", "--with", found["flipped"], "-o", picture]
    subprocess.run(words, check=True, timeout=60, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    assert "first: step 3, rank 0, 3.weight (gradient sign; similarity)" in picture.read_text("utf-8")
    assert GradComparator.compare_distributed(found["clean"], tmp_path / "clean", tmp_path / "same") == []
    lines = (tmp_path / "same/rank0/similarities.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(",")[0] for line in lines] == ["step", *NAMES, "summary"]


def test_a_reference_is_compared_with_while_the_training_runs(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train(config(tmp_path / "clean"))
    settings = {"telltale": {"stream": True, "reference": str(tmp_path / "clean")}}
    said = []

    def look(step: int, model: torch.nn.Module) -> None:
        flip_from(3, "3.weight")(step, model)
        said.append(capfd.readouterr().err)

    bare = train(None, flip_from(3, "3.weight"))
    ends = train(config(tmp_path / "flipped", top=settings), look)
    assert all(torch.equal(a, b) for a, b in zip(bare, ends))
    said.append(capfd.readouterr().err)
    reason = "3.weight: the share of equal signs falls from 1 to 0 (a drop over 0.03), against"
    assert sum(f"rank 0, step 3: {reason}" in one for one in said) == 1 and not any(said[:4])
    [path] = runs(server, tmp_path).values()
    with telltale.open(path) as run:
        assert [event["text"] for event in run.events() if reason in event.get("text", "")]
        shares = run.frame("grad_sign", "similarity").to_pandas()
        assert len(shares) == 4 * STEPS
        of = shares[shares["name"] == "3.weight"].sort_values("step")["similarity"].tolist()
        assert of == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    found = verdicts(path)
    assert found["3.weight"] == 3 and found["0.weight"] != 0 and set(found) >= {"0.bias", "3.bias"}


def test_what_was_compared_is_sent_as_a_run(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    train(config(tmp_path / "clean"))
    train(config(tmp_path / "flipped"), flip_from(3, "3.weight"))
    words = [str(tmp_path / "clean"), str(tmp_path / "flipped"), "--send"]
    assert gradcompare.main(words) == 0
    monkeypatch.delenv("TELLTALE_JOIN")
    assert gradcompare.main(words) == 1
    assert "--send needs a dashboard" in capfd.readouterr().err
    found = runs(server, tmp_path)
    assert set(found) == {"signs of flipped"}
    assert verdicts(found["signs of flipped"])["3.weight"] == 3


def verdicts(path: Path, other: Path | None = None) -> dict[str, Any]:
    """By the program's own comparison, with another run or of the shares that the run has itself."""
    words = [TELLTALE, "compare", other or path, path, "--json"]
    compared = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    return {one["name"]: one["suspicious"] for one in json.loads(compared.stdout)["signs"]}


def test_folders_are_brought_to_the_dashboard(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for rank, flips in ((0, None), (1, flip_from(3, "3.weight"))):
        train(config(tmp_path / "dump", "L2", bounds=[-0.01, 0.0, 0.5]), flips)
        (tmp_path / "dump/rank0").rename(tmp_path / f"dump/rank_{1 - rank}")
    (tmp_path / "dump/rank_1/grad_summary_2.csv").write_bytes(b"what")
    (tmp_path / "dump/rank_0/step4/0.bias.npy").write_bytes(b"what")
    text = (tmp_path / "dump/rank_0/grad_summary_5.csv").read_text("utf-8-sig").replace("param_name", "Param_name")
    (tmp_path / "dump/rank_0/grad_summary_5.csv").write_text(text.replace("norm,shape", "Norm,Shape"), "utf-8")
    other = tmp_path / "dump/rank_1/grad_summary_3.csv"
    other.write_bytes(other.read_bytes().replace(b"(-inf, -0.01]", b"(-inf, -0.02]").replace(b",[4]", b",[4],7"))
    assert send([str(tmp_path / "dump")]) == 1
    said = capfd.readouterr().err.splitlines()
    assert "grad_summary_3.csv has other bounds than the first step" in said[2]
    assert said[3].endswith("the line of 3.bias cannot be read: it has not as many cells as the first line")
    assert len(said) == 4 and "grad_summary_2.csv is no summary of grad_probe" in said[1]
    assert "0.bias.npy is no NumPy file" in said[0]
    found = runs(server, tmp_path)
    with telltale.open(found["dump"]) as run:
        assert run.ranks == [0, 1]
        values = run.frame("grad_reduced", ["norm", "min", "max"], ranks=0).to_pandas().set_index(["step", "name"])
        bins = run.frame("grad_reduced", "hist", ranks=0)
    assert len(values) == 4 * STEPS == len(bins)
    assert list(bins.edges[1:-1]) == [float(np.nextafter(np.float32(b), np.float32(1))) for b in (-0.01, 0.0, 0.5)]
    for step in range(STEPS):
        with open(tmp_path / f"dump/rank_0/grad_summary_{step}.csv", encoding="utf-8-sig", newline="") as file:
            for line in csv.DictReader(file):
                row = {key.lower(): value for key, value in line.items()}
                stored = values.loc[(step, row["param_name"])]
                assert [stored[word] for word in ("norm", "min", "max")] == [
                    np.float32(row[word]) for word in ("norm", "min", "max")
                ]
    assert write_signs(str(found["dump"]), str(tmp_path / "read")) == []
    for file in (tmp_path / "read").rglob("*.npy"):
        of = file.relative_to(tmp_path / "read").as_posix().replace("rank", "rank_")
        assert file.read_bytes() == (tmp_path / "dump" / of).read_bytes()
    assert len(list((tmp_path / "read").rglob("*.npy"))) == 2 * 4 * STEPS - 1


def test_a_folder_that_cannot_be_brought_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert send([str(tmp_path)]) == 2
    assert send([str(tmp_path / "nowhere")]) == 2
    train(config(tmp_path / "dump"))
    assert send([str(tmp_path / "dump")]) == 1
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 3 and "has no grad_summary_0.csv" in said[0] and "cannot be read" in said[1]
    assert "TELLTALE_JOIN holds its join string" in said[2]


@pytest.mark.parametrize("what", ["folder", "rank", "file"])
def test_a_reference_that_is_not_there_is_one_sentence(
    tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    said = {"folder": "cannot be read: No such", "rank": "has no folder rank0", "file": "2/0.weight.npy cannot be read"}
    if what == "rank":
        (tmp_path / "clean/rank1").mkdir(parents=True)
    elif what == "file":
        train(config(tmp_path / "clean"))
        (tmp_path / "clean/rank0/step2/0.weight.npy").unlink()
    train(config(tmp_path / "again", top={"telltale": {"reference": str(tmp_path / "clean")}}))
    [line] = capfd.readouterr().err.splitlines()
    assert said[what] in line
    assert len(list((tmp_path / "again").rglob("*.npy"))) == 4 * STEPS


def test_distributions_are_histograms_with_the_bounds_of_the_config(server: Server, tmp_path: Path) -> None:
    bounds = [-0.01, 0, 0.005, 0.01]
    train(config(tmp_path / "files", "L2", top=STREAM, bounds=bounds))
    [path] = runs(server, tmp_path).values()
    with telltale.open(path) as run:
        frame = run.frame("grad_reduced", "hist")
        assert [np.float32(edge) for edge in frame.edges[1:-1]] == [np.nextafter(np.float32(b), np.inf) for b in bounds]
        table = frame.to_pandas()
    assert len(table) == 4 * STEPS
    for step in range(STEPS):
        with open(tmp_path / f"files/rank0/grad_summary_{step}.csv", encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                numel = int(np.prod([int(n) for n in row["shape"].strip("[]").split(",")]))
                shares = [float(v) for k, v in row.items() if k.startswith("(")]
                [counts] = [
                    list(hist) for name, at, hist in zip(table["name"], table["step"], table["hist"])
                    if (name, at) == (row["param_name"], step)
                ]  # fmt: skip
                assert [int(n) for n in counts] == [round(share * numel) for share in shares]


def test_a_budget_leaves_out_whole_gradients_and_says_so(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """20 bytes: the weight of 16 and the bias of 2, then the last bias of 1; 8 of the other weight do not fit."""
    train(config(tmp_path / "files", top={"telltale": {"stream": True, "stream_mib": 20 / (1 << 20)}}))
    said = capfd.readouterr().err
    assert said.count("signs of 3.weight and others are not sent, since a step has at most 20 bytes") == 1
    [path] = runs(server, tmp_path).values()
    assert write_signs(str(path), str(tmp_path / "read")) == []
    names = {file.name for file in (tmp_path / "read/rank0").rglob("*.npy")}
    assert names == {"0.weight.npy", "0.bias.npy", "3.bias.npy"}
    assert len(list((tmp_path / "files").rglob("*.npy"))) == 4 * STEPS


def test_of_a_closure_that_is_called_often_the_last_signs_count(server: Server, tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    signs = iter([1.0, -1.0, 1.0])

    def closure() -> torch.Tensor:
        sign = next(signs)
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, sign)
        return torch.zeros(())

    class Thrice(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:
            for _ in range(3):
                closure()

    optimizer = Thrice(model.parameters(), lr=0.0)
    settings = {"telltale": {"stream": True, "stream_mib": 4 / (1 << 20)}}
    PrecisionDebugger(config(tmp_path / "files", top=settings)).monitor(model)
    optimizer.step(closure)
    PrecisionDebugger.stop()
    [path] = runs(server, tmp_path).values()
    assert write_signs(str(path), str(tmp_path / "read")) == []
    for name in ("weight", "bias"):
        file = f"rank0/step0/{name}.npy"
        assert (tmp_path / "read" / file).read_bytes() == (tmp_path / "files" / file).read_bytes()
        assert np.load(tmp_path / "read" / file).all()


def test_it_goes_beside_a_watch_of_the_same_rank(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELLTALE_RUN_ID", "both")  # as a launcher names it: a process alone makes a name each time
    model = model_of()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    telltale.watch(model, optimizer, {"wg_distribution": True, "format": "stream"})
    PrecisionDebugger(config(tmp_path / "files", top=STREAM)).monitor(model)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    PrecisionDebugger.stop()
    telltale.finish()
    [path] = runs(server, tmp_path).values()
    with telltale.open(path) as run:
        assert len(run.frame("grad_reduced", "norm")) == 4 * STEPS and run.ranks == [0]
    assert write_signs(str(path), str(tmp_path / "read")) == []
    assert len(list((tmp_path / "read").rglob("*.npy"))) == 4 * STEPS


def test_a_run_without_signs_is_one_sentence(server: Server, tmp_path: Path) -> None:
    model = model_of()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    telltale.watch(model, optimizer)
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    telltale.finish()
    [path] = runs(server, tmp_path).values()
    with pytest.raises(ProbeError, match='has no signs of gradients: "telltale": {"stream": true}'):
        GradComparator.compare_distributed(path, path, tmp_path / "out")


def test_signs_that_come_faster_than_they_are_sent_are_told(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    refused: list[Any] = []

    def full(self: ProbeStream, *of: Any) -> None:
        if of[1] == 2 and not refused:
            monkeypatch.setattr(self._agent, "blob", lambda *of: refused.append(of) or False)
        signs(self, *of)

    signs = ProbeStream.signs
    monkeypatch.setattr(ProbeStream, "signs", full)
    train(config(tmp_path / "files", top=STREAM))
    assert refused and refused[0][0] == SIGNS
    assert capfd.readouterr().err.count("signs come faster than they are sent") == 1
    assert len(list((tmp_path / "files").rglob("*.npy"))) == 4 * STEPS
