# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale train-demo`: a real training, its faults, and what it says at the end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ranks import Recorder
from telltale import short
from telltale.__main__ import main
from telltale.kinds import Kind

_watch = short.watch
SMALL = ["--layers", "2", "--heads", "2", "--width", "16"]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_MODE", "offline")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main(["train-demo", *SMALL, *arguments])
    captured = capsys.readouterr()
    lines = captured.out.strip().splitlines()
    return code, json.loads(lines[-1]) if lines else {}, captured.err


def _recorded(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(short, "watch", lambda *a, **k: _watch(*a, **{**k, "sinks": [recorder]}))
    return recorder


def test_it_ends_with_a_summary_and_the_same_weights_with_and_without_the_agent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, summary, said = _run(
        capsys, "--steps", "6", "--weights-out", str(tmp_path / "a"), "--step-times", str(tmp_path / "t")
    )
    assert code == 0 and "step 5  loss" in said
    assert summary["steps"] == 6 and summary["produced"] > 6 * 500 and summary["interrupted"] is False
    assert summary["produced"] == summary["acked"] + summary["dropped"] + summary["in_flight"]
    assert summary["step_ms_p50"] > 0 and 0 < summary["final_loss"] < 10
    assert len([int(line) for line in (tmp_path / "t").read_text().split()]) == 6
    code, bare, _ = _run(capsys, "--steps", "6", "--no-agent", "--weights-out", str(tmp_path / "b"))
    assert code == 0 and bare["produced"] == 0 and bare["final_loss"] == summary["final_loss"]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    _run(capsys, "--steps", "6", "--no-agent", "--seed", "9", "--weights-out", str(tmp_path / "c"))
    assert (tmp_path / "c").read_bytes() != (tmp_path / "a").read_bytes()


def test_everything_is_measured_and_the_run_metrics_are_at_their_step(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = _recorded(monkeypatch)
    assert _run(capsys, "--steps", "3")[0] == 0
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.PARAM_UPDATED):
        assert "blocks.0.attn.qkv.weight" in recorder.names(kind, 2), kind
    assert {"blocks.0.attn.core", "blocks.1.mlp.fc1", "head"} <= recorder.names(Kind.ACTV_GRAD, 2)
    heads = {(desc.name, desc.slot.text) for desc, _ in recorder.found(Kind.ATTENTION, 2)}
    assert {("blocks.0.attn.core", "head_0"), ("blocks.1.attn.core", "head_1")} <= heads
    for step in range(3):
        assert {"loss", "lr", "grad-norm"} <= set(recorder.scalars(step))
    assert recorder.scalars(0)["loss"] != recorder.scalars(1)["loss"]


@pytest.mark.parametrize("kind", ["nan", "inf"])
def test_a_broken_output_shows_where_and_when_it_breaks(
    kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = _recorded(monkeypatch)
    code, summary, _ = _run(capsys, "--steps", "4", "--fault", f"{kind}@2:blocks.1.mlp.fc1")
    assert code == 0 and summary["final_loss"] is None
    field = "nans" if kind == "nan" else "pos_infs"
    for step, expected in ((1, 0), (2, 1)):
        assert int(recorder.one(Kind.ACTV, "blocks.1.mlp.fc1", step, slot="output")[1][field]) == expected
    assert int(recorder.one(Kind.ACTV, "blocks.0.mlp.fc1", 2, slot="output")[1][field]) == 0


def test_a_spike_a_freeze_and_a_learning_rate_do_what_they_say(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = _recorded(monkeypatch)
    _run(capsys, "--steps", "3", "--fault", "spike@1")
    norms = [float(recorder.one(Kind.ACTV, "blocks.1.mlp.fc1", step, slot="output")[1]["norm"]) for step in range(3)]
    assert norms[1] > 500 * norms[0] and norms[2] < 2 * norms[0]
    recorder = _recorded(monkeypatch)
    _run(capsys, "--steps", "3", "--fault", "freeze@1:blocks.0.mlp")
    assert "blocks.0.mlp.fc1.weight" in recorder.names(Kind.GRAD_REDUCED, 0)
    assert "blocks.0.mlp.fc1.weight" not in recorder.names(Kind.GRAD_REDUCED, 1)
    assert "blocks.0.mlp.fc1.weight" not in recorder.names(Kind.GRAD_UNREDUCED, 2)
    assert "blocks.1.mlp.fc1.weight" in recorder.names(Kind.GRAD_UNREDUCED, 2)
    recorder = _recorded(monkeypatch)
    _run(capsys, "--steps", "2", "--fault", "lr@1")
    assert recorder.scalars(1)["lr"] == pytest.approx(20 * recorder.scalars(0)["lr"])


def test_attention_that_collapses_loses_its_entropy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = _recorded(monkeypatch)
    _run(capsys, "--width", "64", "--steps", "40", "--fault", "entropy-collapse@2:blocks.0.attn")

    def entropy(step: int, name: str) -> float:
        desc, values = next(entry for entry in recorder.found(Kind.ATTENTION, step) if entry[0].name == name)
        return float(values[0])  # the first of the two columns

    assert entropy(39, "blocks.0.attn.core") < 0.7 * entropy(0, "blocks.0.attn.core")
    assert math.isclose(entropy(39, "blocks.1.attn.core"), entropy(0, "blocks.1.attn.core"), rel_tol=0.05)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("--stepps 3", "--stepps"),
        ("--steps", "expected one argument"),
        ("--steps many", "many"),
        ("--width 33 --heads 4", "multiple"),
        ("--fault boom@3", "boom"),
        ("--fault nan", "step is missing"),
        ("--fault nan@x", "not a step"),
        ("--fault nan@3:", "module after the colon"),
        ("--fault lr@3:head", "belongs to no module"),
        ("--fault nan@1:nowhere --steps 1 --no-agent", "nowhere"),
        ("--fault entropy-collapse@1:head --steps 1 --no-agent", "blocks.0.attn.core"),
        ("--text /nowhere --steps 1 --no-agent", "/nowhere"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_two(
    arguments: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["train-demo", *arguments.split()])
    captured = capsys.readouterr()
    assert code == 2 and captured.out == ""
    assert part in captured.err and len(captured.err.strip().splitlines()) == 1


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_signal_ends_it_cleanly(ranks: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "telltale", "train-demo", *SMALL, "--steps", "1000000", "--ranks", str(ranks)]
    with subprocess.Popen(
        [*command, "--weights-out", str(tmp_path / "w")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        for line in process.stderr:
            if line.startswith("step "):
                break
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=120)
    summaries = [json.loads(line) for line in out.strip().splitlines()]
    assert process.returncode == 0 and len(summaries) == ranks and "Traceback" not in said, said
    assert all(summary["interrupted"] is True and summary["steps"] > 0 for summary in summaries)
    assert said.count("stopped by a signal after step") == ranks
    assert (tmp_path / "w").stat().st_size > 0


def test_under_torchrun_the_ranks_train_one_model(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "telltale"]
    arguments = ["train-demo", *SMALL, "--steps", "3", "--weights-out", str(tmp_path / "w")]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr
    summaries = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(summaries) == 2 and all(summary["steps"] == 3 and summary["produced"] > 0 for summary in summaries)
