# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_probe: its config, its files, and that training does not notice."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from probed import STEPS, Named, config, give, model_of, train
from ranks import assert_bitwise
from telltale import native
from telltale.gradprobe.probe import GradProbe
from telltale.gradprobe.probeconfig import read_config
from telltale.gradprobe.signfile import PartFile
from telltale.kinds import DType
from telltale.pytorch import PrecisionDebugger
from telltale.pytorch.probedevice import take_on_device

EXAMPLE = torch.tensor([[2.0, -2.0], [0.25, 0.15]])  # norm 2.84...


@pytest.fixture(autouse=True)
def _no_debugger_is_left() -> Iterator[None]:
    yield
    PrecisionDebugger.stop()


def summary(folder: Path, step: int = 0) -> str:
    return (folder / "rank0" / f"grad_summary_{step}.csv").read_bytes().decode("utf-8-sig")


def rows(folder: Path, step: int = 0) -> dict[str, dict[str, str]]:
    return {row["param_name"]: row for row in csv.DictReader(io.StringIO(summary(folder, step), newline=""))}


def probe(folder: Path, level: str, gradients: dict[str, torch.Tensor | None], **more: Any) -> None:
    model = Named(**{name: torch.empty_like(g) for name, g in gradients.items() if g is not None})
    PrecisionDebugger(config(folder, level, **more)).monitor(model)
    give(model, gradients)
    PrecisionDebugger.stop()


def test_files_of_each_level_are_byte_for_byte_as_msprobe_has_them(tmp_path: Path) -> None:
    """The oracle is what 8.3's code does: csv.writer behind a mark of byte order, numpy.save of `grad > 0`, CRC-32 of
    the elements as float32 under the name MD5, Python's shortest text of float32 numbers."""
    for level in ("L0", "L1", "L2"):
        probe(tmp_path / level, level, {"w": EXAMPLE})
    norm = repr(float(EXAMPLE.norm()))
    crc = f"{zlib.crc32(EXAMPLE.numpy().tobytes()):08x}"
    assert (tmp_path / "L0/rank0/grad_summary_0.csv").read_bytes() == (
        b"\xef\xbb\xbfparam_name,MD5,max,min,norm,shape\r\n"
        + f'w,{crc},2.0,-2.0,{norm},"[2, 2]"\r\n'.encode()
    )
    assert not (tmp_path / "L0/rank0/step0").exists()
    assert (tmp_path / "L1/rank0/grad_summary_0.csv").read_bytes() == (
        b"\xef\xbb\xbfparam_name,max,min,norm,shape\r\n" + f'w,2.0,-2.0,{norm},"[2, 2]"\r\n'.encode()
    )
    assert (tmp_path / "L2/rank0/grad_summary_0.csv").read_bytes() == (
        b'\xef\xbb\xbfparam_name,"(-inf, -1]","(-1, 0]","(0, 1]","(1, inf)",=0,max,min,norm,shape\r\n'
        + f'w,0.25,0.0,0.5,0.25,0.0,2.0,-2.0,{norm},"[2, 2]"\r\n'.encode()
    )
    saved = io.BytesIO()
    np.save(saved, (EXAMPLE > 0).numpy())
    for level in ("L1", "L2"):
        assert (tmp_path / level / "rank0/step0/w.npy").read_bytes() == saved.getvalue()
        found = sorted(p.name for p in (tmp_path / level / "rank0").rglob("*"))
        assert found == ["grad_summary_0.csv", "step0", "w.npy"]


def test_the_documents_form_has_their_header_and_a_real_md5(tmp_path: Path) -> None:
    for level in ("L0", "L2"):
        probe(tmp_path / level, level, {"w": EXAMPLE}, top={"telltale": {"form": "documents"}})
    head, row, _ = summary(tmp_path / "L0").split("\r\n")
    assert head == "Param_name,MD5,Max,Min,Norm,Shape"
    assert row.split(",")[1] == hashlib.md5(EXAMPLE.numpy().tobytes()).hexdigest()
    assert summary(tmp_path / "L2").split("\r\n")[0].endswith(",=0,Max,Min,Norm,Shape")


def test_the_documents_example_of_bounds(tmp_path: Path) -> None:
    gradient = torch.tensor([9.3, 5.4, -1.0, -12.3])
    probe(tmp_path, "L2", {"w": gradient}, bounds=[-10, 0, 10])
    row = rows(tmp_path)["w"]
    assert [row[i] for i in ("(-inf, -10]", "(-10, 0]", "(0, 10]", "(10, inf)")] == ["0.25", "0.25", "0.5", "0.0"]


def test_intervals_are_closed_above_and_zero_is_counted_beside_them(tmp_path: Path) -> None:
    gradient = torch.tensor([-1.0, 0.0, -0.0, 1.0, 0.1, float("inf"), float("-inf"), float("nan")])
    probe(tmp_path, "L2", {"w": gradient}, bounds=[-1, 0, 0.1, 1])
    row = rows(tmp_path)["w"]
    shares = [row[i] for i in ("(-inf, -1]", "(-1, 0]", "(0, 0.1]", "(0.1, 1]", "(1, inf)", "=0")]
    assert shares == ["0.25", "0.25", "0.125", "0.125", "0.125", "0.25"]  # NaN lies in none
    assert [row[i] for i in ("max", "min", "norm")] == ["nan", "nan", "nan"]
    without = gradient[:-1]
    probe(tmp_path / "inf", "L1", {"w": without})
    assert [rows(tmp_path / "inf")["w"][i] for i in ("max", "min", "norm")] == ["inf", "-inf", "inf"]


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_every_type_gives_what_torch_says(
    tmp_path: Path, dtype: torch.dtype, is_native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_native:
        monkeypatch.setattr(native, "available", lambda: False)
    gradient = torch.randn(300, 1001, generator=torch.Generator().manual_seed(3)).to(dtype)
    gradient[0, :7] = torch.tensor([0.0, -0.0, 1.0, -1.0, 1e-8, -1e-8, 0.5]).to(dtype)
    for level in ("L0", "L2"):
        probe(tmp_path / level, level, {"w": gradient})
    row = rows(tmp_path / "L2")["w"]
    assert float(row["max"]) == float(gradient.max().float()) and float(row["min"]) == float(gradient.min().float())
    assert float(row["norm"]) == pytest.approx(float(gradient.double().norm()), rel=1e-6)
    where = torch.bucketize(gradient.float() if dtype is torch.bfloat16 else gradient, torch.Tensor([-1, 0, 1]))
    names = ["(-inf, -1]", "(-1, 0]", "(0, 1]", "(1, inf)"]
    assert [float(row[n]) for n in names] == [(where == i).sum().item() / gradient.numel() for i in range(4)]
    assert float(row["=0"]) == (gradient == 0).sum().item() / gradient.numel()
    crc = f"{zlib.crc32(gradient.float().numpy().tobytes()):08x}"
    assert rows(tmp_path / "L0")["w"]["MD5"] == crc
    signs = np.load(tmp_path / "L2/rank0/step0/w.npy")
    assert signs.dtype == np.bool_ and np.array_equal(signs, (gradient > 0).numpy())


def test_shapes_of_every_kind(tmp_path: Path) -> None:
    gradients = {
        "transposed": torch.randn(5, 7).t(),
        "last": torch.randn(2, 3, 5, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(-3.0),
        "empty": torch.zeros(0, 4),
        "sliced": torch.randn(9, 9)[::2, 1:4],
    }
    probe(tmp_path, "L1", gradients)
    for name, gradient in gradients.items():
        assert np.array_equal(np.load(tmp_path / f"rank0/step0/{name}.npy"), (gradient > 0).numpy())
        assert rows(tmp_path)[name]["shape"] == str(list(gradient.shape))
    assert rows(tmp_path)["empty"]["max"] == "" and rows(tmp_path)["scalar"]["norm"] == "3.0"


def test_a_large_gradient_is_written_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("telltale.gradprobe.probe.PART", 1 << 12)
    gradient = torch.randn(3, 5003)
    probe(tmp_path, "L2", {"w": gradient})
    assert np.array_equal(np.load(tmp_path / "rank0/step0/w.npy"), (gradient > 0).numpy())
    assert float(rows(tmp_path)["w"]["norm"]) == pytest.approx(float(gradient.double().norm()), rel=1e-6)


def test_main_grad_counts_where_there_is_one_and_none_is_passed_over(tmp_path: Path) -> None:
    model = Named(a=torch.zeros(2), b=torch.zeros(2), c=torch.zeros(2))
    model.a.main_grad = torch.tensor([5.0, 5.0])
    PrecisionDebugger(config(tmp_path)).monitor(model)
    give(model, {"a": torch.ones(2), "b": torch.ones(2)})
    PrecisionDebugger.stop()
    assert {name: row["max"] for name, row in rows(tmp_path).items()} == {"a": "5.0", "b": "1.0"}


@pytest.mark.parametrize("level", ["L0", "L1", "L2"])
def test_training_ends_in_the_same_bits(tmp_path: Path, level: str) -> None:
    bare = train(None, steps=40)
    assert not torch.equal(bare[0], next(model_of().parameters()))  # it trains
    assert_bitwise(bare, train(config(tmp_path, level), steps=40), level)


def test_steps_and_parameters_are_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # A list of ranks is for several: where there is one, msprobe writes it whatever the list says.
    train(config(tmp_path, top={"step": [0, "3-4"], "rank": [7]}, param_list=["0.bias", "none.such"]))
    assert "param_list: there is no parameter none.such" in capfd.readouterr().err
    found = sorted(str(p.relative_to(tmp_path / "rank0")) for p in tmp_path.rglob("*") if p.is_file())
    assert found == [f"grad_summary_{s}.csv" for s in (0, 3, 4)] + [f"step{s}/0.bias.npy" for s in (0, 3, 4)]


def test_steps_are_calls_of_any_optimizer_and_of_one_where_it_is_given(tmp_path: Path) -> None:
    for name, is_model in (("model", True), ("optimizer", False)):
        model = Named(a=torch.zeros(2), b=torch.zeros(2))
        first, second = (torch.optim.SGD([p], lr=0.0) for p in (model.a, model.b))
        PrecisionDebugger(config(tmp_path / name)).monitor(model if is_model else second)
        for _ in range(2):
            model.a.grad, model.b.grad = torch.ones(2), -torch.ones(2)
            first.step()
            second.step()
        PrecisionDebugger.stop()
        first.step()
    steps = sorted(p.name for p in (tmp_path / "model/rank0").glob("*.csv"))
    assert steps == [f"grad_summary_{i}.csv" for i in range(4)] and list(rows(tmp_path / "model")) == ["a", "b"]
    assert len(list((tmp_path / "optimizer/rank0").glob("*.csv"))) == 2
    assert list(rows(tmp_path / "optimizer")) == ["group0.param0"]


def test_a_closures_gradients_are_those_that_the_optimizer_consumes(tmp_path: Path) -> None:
    model = Named(w=torch.zeros(3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    calls = []

    def closure() -> torch.Tensor:
        calls.append(1)
        model.w.grad = torch.full((3,), float(len(calls)))
        return torch.zeros(())

    PrecisionDebugger(config(tmp_path)).monitor(model)
    optimizer.step(closure)
    optimizer.step(closure)
    PrecisionDebugger.stop()
    assert [rows(tmp_path, step)["w"]["max"] for step in (0, 1)] == ["1.0", "2.0"] and len(calls) == 2


def test_a_closure_that_is_called_often_is_one_step(tmp_path: Path) -> None:
    model = Named(w=torch.zeros(3))
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
    seen: list[float] = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model.w - torch.tensor([1.0, 2.0, 3.0])).pow(4).sum()
        loss.backward()
        seen.append(float(model.w.grad.min()))
        return loss

    PrecisionDebugger(config(tmp_path)).monitor(model)
    for _ in range(2):
        optimizer.step(closure)
        calls = len(seen)
        assert calls > 1
    PrecisionDebugger.stop()
    assert sorted(p.name for p in (tmp_path / "rank0").glob("*.csv")) == ["grad_summary_0.csv", "grad_summary_1.csv"]
    assert float(rows(tmp_path, 1)["w"]["min"]) == seen[-1]


def test_a_step_that_a_scaler_gives_up_is_none(tmp_path: Path) -> None:
    """As msprobe counts: the optimizer is not called then."""
    model = Named(w=torch.zeros(3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    PrecisionDebugger(config(tmp_path)).monitor(model)
    for factor in (1.0, float("inf"), 2.0):
        optimizer.zero_grad()
        scaler.scale((model.w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    PrecisionDebugger.stop()
    assert [rows(tmp_path, step)["w"]["max"] for step in (0, 1)] == ["1.0", "2.0"]
    assert len(list((tmp_path / "rank0").glob("*.csv"))) == 2


def test_there_is_one_debugger_as_msprobe_has_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    PrecisionDebugger.monitor(model_of())
    assert "there is none" in capfd.readouterr().err
    first = PrecisionDebugger(config(tmp_path / "a"))
    assert PrecisionDebugger() is first is PrecisionDebugger(config(tmp_path / "b"))
    assert "its config holds until stop()" in capfd.readouterr().err
    first.stop()
    second = PrecisionDebugger(config(tmp_path / "b"), "grad_probe", str(tmp_path / "c"), "L1", model_of(), [2])
    assert second is not first
    assert second._config.dump_path == str(tmp_path / "c")
    assert 1 not in second._config.step and 2 in second._config.step
    capfd.readouterr()
    PrecisionDebugger.monitor("model")
    assert "not str; nothing is watched" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"grad_probe": {"grad_level": "L3"}}, 'it is "L3", and it is one of L0, L1, L2; "L1" is used'),
        ({"grad_probe": {"bounds": [0, 0, 1]}}, "do not rise from each to the next; [-1, 0, 1] is used"),
        ({"grad_probe": {"bounds": [0, 1 << 63]}}, "farther from 0 than an int64 goes"),
        ({"grad_probe": {"bounds": [0, "1"]}}, '"1" in it is no number'),
        ({"grad_probe": {"bound": [0]}}, "this field is unknown; did you mean bounds?"),
        ({"grad_probe": []}, "it is [], and not an object"),
        ({"step": ["6-4"]}, '"6-4" in it is no number from 0 on and no range as "4-6"'),
        ({"rank": 3}, "it is 3, and not a list"),
        ({"dump_path": ""}, 'it is "", and not the path of a folder; "./grad_probe" is used'),
        ({"dump_path": None}, "it is null, and not the path of a folder"),
        ({"task": "statistics"}, '"grad_probe" is the one that is done here'),
        ({"steps": []}, "this field is unknown; did you mean step?"),
        ({"stream": True}, "/stream: this field is unknown; did you mean /telltale/stream?"),
        ({"telltale": {"form": "both"}}, "it is one of original, documents"),
    ],
)
def test_each_bad_field_is_one_sentence_and_its_default(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    read = read_config({**config(tmp_path), **change})
    assert len(read.problems) == 1
    [problem] = read.problems
    sentence = f"{problem}; {problem.instead}"
    assert said in sentence and "\n" not in sentence
    assert read.grad_level == "L1" and read.bounds == (-1, 0, 1) and 10**9 in read.step and 4 in read.rank


def test_a_config_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    for source in (tmp_path / "none.json", tmp_path / "broken.json", "{", 3, None):
        [problem] = read_config(source).problems  # type: ignore[arg-type]
        assert "the defaults are used" in str(problem)
    (tmp_path / "commented.json").write_text('{// why\n"task": "grad_probe", "dump_path": "x", "level": "L1",}')
    assert read_config(tmp_path / "commented.json").problems == []


def test_a_full_disk_is_told_and_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    append = PartFile.append

    def full(self: PartFile, data: Any) -> None:
        append(self, data)
        if "step2" in self.path:
            raise OSError(28, "No space left on device", self.path)

    monkeypatch.setattr(PartFile, "append", full)
    bare = train(None)
    assert_bitwise(bare, train(config(tmp_path)), "a full disk")
    said = capfd.readouterr().err
    assert "step 2 was not written: no space left on device" in said and "writing again at step 3" in said
    assert len(list(tmp_path.rglob("*.npy"))) == 4 * (STEPS - 1) and not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("when_behind", ["wait", "leave_out"])
def test_a_disk_that_is_slower_than_the_training(
    tmp_path: Path, when_behind: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A queue of two signs' room: what waits is bounded, whatever is to be written."""
    monkeypatch.setattr("telltale.gradprobe.probe.MOST_WAITING", 64)
    most = 0
    post = GradProbe.post

    def watched(self: GradProbe, size: int, job: Any) -> bool:
        nonlocal most
        found = post(self, size, job)
        most = max(most, self._worker._bytes)
        return found

    monkeypatch.setattr(GradProbe, "post", watched)
    settings = read_config(config(tmp_path, top={"telltale": {"when_behind": when_behind}}))
    one = GradProbe(settings, 0)
    count = 300
    assert one.begin_step()
    ones = np.ones(256, np.float32)
    one.read(((f"w{i}", ones) for i in range(count)), lambda name, g: one.take(name, (256,), g, DType.F32) and None)
    one.close()
    assert 0 < most <= 64
    written = len(list((tmp_path / "rank0/step0").glob("*.npy")))
    said = capfd.readouterr().err
    names = [line.split(",")[0] for line in summary(tmp_path).splitlines()[1:]]
    assert names == [f"w{i}" for i in range(count)]
    if when_behind == "wait":
        assert written == count
    elif written < count:
        assert "step 0 was not written: signs are missing, since the disk is slower than the training" in said


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("level", ["L0", "L1", "L2"])
def test_what_is_counted_on_a_device_is_what_is_counted_here(
    tmp_path: Path, level: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device's operations, on this machine's memory: test_cuda.py has cards."""
    monkeypatch.setattr("telltale.pytorch.probedevice._PART", 1 << 10)
    gradients = {
        "large": torch.randn(3, 1001).to(dtype),
        "scalar": torch.tensor(-2.0, dtype=dtype),
        "odd": torch.tensor([0.0, -0.0, 1.0, float("inf"), -1.0, float("nan"), 2e-7]).to(dtype),
        "inf": torch.tensor([float("-inf"), 5.0]).to(dtype),
        "empty": torch.zeros(0, 2, dtype=dtype),
    }
    if level == "L0" and dtype is torch.float16:  # which bits a NaN has when it is widened is each library's own
        gradients["odd"] = torch.nan_to_num(gradients["odd"], posinf=torch.inf)
    probe(tmp_path / "here", level, gradients, bounds=[-1, 0, 0.1])
    one = GradProbe(read_config(config(tmp_path / "there", level, bounds=[-1, 0, 0.1])), 0)
    assert one.begin_step()

    def take(name: str, gradient: torch.Tensor) -> None:
        assert take_on_device(one, name, tuple(gradient.shape), gradient.reshape(-1)) == ""

    one.read(gradients.items(), take)
    one.close()
    here, there = rows(tmp_path / "here"), rows(tmp_path / "there")
    assert list(here) == list(there) == list(gradients)
    for name in gradients:
        norms = here[name].pop("norm"), there[name].pop("norm")
        assert norms[0] == norms[1] or float(norms[0]) == pytest.approx(float(norms[1]), rel=1e-6, nan_ok=True)
        assert here[name] == there[name]
        if level != "L0":
            path = f"rank0/step0/{name}.npy"
            assert (tmp_path / "here" / path).read_bytes() == (tmp_path / "there" / path).read_bytes()


def test_an_error_inside_is_told_and_costs_one_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    take = GradProbe.take

    def broken(self: GradProbe, name: str, *of: Any) -> Any:
        if name == "0.bias":
            raise KeyError("gone")
        return take(self, name, *of)

    monkeypatch.setattr(GradProbe, "take", broken)
    assert_bitwise(train(None), train(config(tmp_path)), "an error inside")
    said = capfd.readouterr().err
    assert said.count("internal error while reading 0.bias, which is left out: KeyError") == 1
    assert list(rows(tmp_path, STEPS - 1)) == ["0.weight", "3.weight", "3.bias"]


def test_a_sparse_gradient_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = torch.nn.Embedding(10, 3, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    PrecisionDebugger(config(tmp_path)).monitor(table)
    table(torch.tensor([1, 1, 4])).sum().backward()
    optimizer.step()
    PrecisionDebugger.stop()
    said = capfd.readouterr().err
    assert "the gradient of weight is not written: it is sparse" in said
    assert "no parameter that is watched has a gradient at step 0" in said
    assert rows(tmp_path) == {}


def test_without_stop_the_end_of_the_process_writes_what_is_left(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import torch\nfrom telltale.pytorch import PrecisionDebugger\n"
        f"PrecisionDebugger({json.dumps(config(tmp_path))!r}).monitor(model := torch.nn.Linear(300, 300))\n"
        "model(torch.ones(1, 300)).sum().backward()\noptimizer = torch.optim.SGD(model.parameters())\n"
        "for _ in range(20):\n    optimizer.step()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert len(list(tmp_path.rglob("*.npy"))) == 40 and len(list(tmp_path.rglob("*.csv"))) == 20
