# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_probe of MindSpore: the same files, a wrong sign found, and the same training."""

from __future__ import annotations

import importlib
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

ms = importlib.import_module("mindspore") if importlib.util.find_spec("mindspore") else None
if not hasattr(ms, "value_and_grad"):
    pytest.skip("MindSpore is not installed here", allow_module_level=True)

import mindspore.experimental.optim as experimental  # noqa: E402
import mindspore.nn as nn  # noqa: E402
import telltale  # noqa: E402
from serving import TELLTALE, Server  # noqa: E402
from telltale.gradprobe.comparator import GradComparator  # noqa: E402
from telltale.mindspore import PrecisionDebugger, TrainerMon  # noqa: E402

MAKERS: dict[str, Callable[[Any], Any]] = {
    "AdamW": lambda parameters: experimental.AdamW(parameters, 1e-3),
    "jit Adam": lambda parameters: nn.Adam(parameters, 1e-3),
    "jit Momentum": lambda parameters: nn.Momentum(parameters, 1e-3, 0.9),
}


@pytest.fixture(autouse=True)
def _blocking() -> Iterator[None]:
    ms.runtime.launch_blocking()  # the default spins in threads
    yield
    PrecisionDebugger.stop()


def train(
    folder: Path | None,
    level: str = "L1",
    flip_from: int = 100,
    make: str = "AdamW",
    more: dict[str, Any] | None = None,
) -> bytes:
    """The weights at the end."""
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 4))
    random = np.random.default_rng(7)
    for parameter in net.trainable_params():
        parameter.set_data(ms.Tensor(random.standard_normal(parameter.shape).astype(np.float32)))
    before = weights(net)
    optimizer = MAKERS[make](net.trainable_params())
    if folder is not None:
        settings = {"task": "grad_probe", "dump_path": str(folder), "grad_probe": {"grad_level": level}}
        debugger = PrecisionDebugger({**settings, "telltale": more or {}})
        debugger.monitor(optimizer)
    gradients_of = ms.value_and_grad(lambda x: net(x).square().mean(), None, net.trainable_params())
    for step in range(6):
        _, gradients = gradients_of(ms.Tensor(random.standard_normal((32, 8)).astype(np.float32)))
        if step >= flip_from:
            gradients = tuple(-one if i == 2 else one for i, one in enumerate(gradients))
        optimizer(gradients)
    PrecisionDebugger.stop()
    assert weights(net) != before
    return weights(net)


def weights(net: Any) -> bytes:
    return b"".join(parameter.asnumpy().tobytes() for parameter in net.trainable_params())


@pytest.mark.parametrize("make", MAKERS)
def test_training_ends_in_the_same_bits(tmp_path: Path, make: str) -> None:
    bare = train(None, make=make)
    for level in ("L0", "L2"):
        assert train(tmp_path / level, level, make=make) == bare
        assert len(list((tmp_path / level / "rank0").glob("grad_summary_*.csv"))) == 6
    assert len(list((tmp_path / "L2").rglob("*.npy"))) == 24


def test_a_flipped_sign_is_found_and_equal_trainings_are_silent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train(tmp_path / "clean")
    train(tmp_path / "again", "L2")
    train(tmp_path / "flipped", flip_from=3)
    assert GradComparator.compare_distributed(tmp_path / "clean", tmp_path / "again", tmp_path / "same") == []
    assert capfd.readouterr().err == ""
    first, *_ = GradComparator.compare_distributed(tmp_path / "clean", tmp_path / "flipped", tmp_path / "other")
    assert (first.rank, first.verdict.suspicious, first.name, first.verdict.then) == (0, 3, "2.weight", 0.0)


@pytest.mark.skipif(not TELLTALE.exists(), reason=f"{TELLTALE} is not built")
def test_runs_are_compared_by_their_signs_and_with_a_reference_while_they_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Server(tmp_path / "data")
    try:
        monkeypatch.setenv("TELLTALE_JOIN", server.join)
        reference = str(tmp_path / "clean")
        trainings: dict[str, tuple[int, dict[str, Any]]] = {
            "clean": (100, {}), "again": (100, {"reference": reference}), "flipped": (3, {"reference": reference}),
        }  # fmt: skip
        reason = "rank 0, step 3: 2.weight: the share of equal signs falls from 1 to 0 (a drop over 0.03)"
        for name, (flip, more) in trainings.items():
            monkeypatch.setenv("TELLTALE_RUN_ID", name)
            capfd.readouterr()
            train(tmp_path / name, flip_from=flip, more={"stream": True, **more})
            said = capfd.readouterr().err
            is_apart = name == "flipped"
            assert (reason + ", against" in said) == is_apart and ("equal signs" in said) == is_apart, said
        assert server.stop() == 0
        found = {}
        for path in (tmp_path / "data").rglob("*.telltale"):
            with telltale.open(path) as run:
                found[run.name] = path
                logged = [event["step"] for event in run.events() if "2.weight: the share" in event.get("text", "")]
                assert logged == ([3] if run.name == "flipped" else [])
        assert set(found) == set(trainings)
        assert GradComparator.compare_distributed(found["clean"], found["again"], tmp_path / "same") == []
        first, *_ = GradComparator.compare_distributed(found["clean"], found["flipped"], tmp_path / "other")
        assert (first.rank, first.verdict.suspicious, first.name) == (0, 3, "2.weight")
        for other, code in (("again", 0), ("flipped", 1)):
            words = [TELLTALE, "compare", found["clean"], found[other], "--fail"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            assert done.returncode == code and (reason in done.stdout) == bool(code), done.stdout + done.stderr
    finally:
        server.kill()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_every_type_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    values = np.array([[2.0, -2.0, 0.25], [0.15, 0.0, -0.0]], np.float32)
    gradient = ms.Tensor(values).astype(getattr(ms, name)).transpose(1, 0)
    optimizer = nn.SGD([ms.Parameter(ms.Tensor(np.zeros((3, 2), np.float32)), name="w")], 0.0)
    PrecisionDebugger({"task": "grad_probe", "dump_path": str(tmp_path), "grad_probe": {"grad_level": "L0"}})
    PrecisionDebugger.monitor(optimizer)
    [hook] = optimizer._forward_pre_hook.values()
    hook(optimizer, ((gradient,),))  # the optimizer itself takes float32 alone
    PrecisionDebugger.stop()
    line = (tmp_path / "rank0/grad_summary_0.csv").read_bytes().decode("utf-8-sig").splitlines()[1]
    narrowed = np.ascontiguousarray(gradient.astype(ms.float32).asnumpy())
    assert line.split(",")[1] == f"{zlib.crc32(narrowed.tobytes()):08x}"
    assert line.endswith('"[3, 2]"')


def test_a_rank_has_its_own_folder_and_is_left_out_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK_ID", "1")
    monkeypatch.setenv("RANK_SIZE", "2")
    train(tmp_path / "all")
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["rank1"]
    settings = {"task": "grad_probe", "dump_path": str(tmp_path / "none"), "rank": [0]}
    PrecisionDebugger(settings).monitor(nn.SGD(nn.Dense(2, 2).trainable_params(), 0.1))
    PrecisionDebugger.stop()
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_watched_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    PrecisionDebugger({"task": "grad_probe", "dump_path": str(tmp_path)}).monitor(nn.Dense(2, 2))
    assert "MindSpore's monitor() takes the optimizer, not Dense" in capfd.readouterr().err
    PrecisionDebugger.stop()
    PrecisionDebugger({"task": "grad_probe", "dump_path": str(tmp_path)})
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        PrecisionDebugger.monitor(nn.SGD(nn.Dense(2, 2).trainable_params(), 0.1))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert "in GRAPH mode no gradient can be read" in capfd.readouterr().err


def test_the_documents_script_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config_json_path").write_text('{"task": "grad_probe", "dump_path": "./dump_path"}')
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)  # msprobe is not installed
    stand_in = importlib.import_module("telltale.msprobe")
    stand_in.install()
    optimizer = nn.SGD([ms.Parameter(ms.Tensor(np.zeros((3, 2), np.float32)), name="w")], 0.1)
    script = """
from msprobe.mindspore import PrecisionDebugger
debugger = PrecisionDebugger("config_json_path")
debugger.monitor(optimizer)
"""
    try:
        exec(script, {"optimizer": optimizer})
        optimizer((ms.Tensor(np.ones((3, 2), np.float32)),))
        exec("debugger.stop()", {"debugger": PrecisionDebugger()})
        from msprobe import GradComparator as named
        from msprobe.mindspore.monitor.module_hook import TrainerMon as its_own

        assert named is GradComparator and its_own is TrainerMon
    finally:
        stand_in.uninstall()
    assert np.load("dump_path/rank0/step0/w.npy").all()
