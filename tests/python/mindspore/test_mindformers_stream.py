# SPDX-License-Identifier: GPL-3.0-or-later
"""What the callback for MindSpore Transformers sends to a dashboard."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from eventreader import read_events
from mftraining import BATCH, RECORDED, STEPS, train
from serving import Server
from telltale.integrations.mindformers import TelltaleCallback
from test_mindformers import CONFIG, FLAGS

JOB = {
    "seed": 0,
    "output_dir": "./output",
    "load_checkpoint": "",
    "load_ckpt_format": "ckpt",  # without load_checkpoint it says nothing
    "profile": False,
    "profile_level": 1,
    "runner_config": {"epochs": 1, "batch_size": BATCH},
    "monitor_config": CONFIG,
    "tensorboard": dict.fromkeys(FLAGS, True),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.kill()


def test_a_training_is_in_the_dashboard_with_everything_the_monitors_see(server: Server, tmp_path: Path) -> None:
    recorded, _ = read_events(RECORDED / "mf_static" / "tb")
    options = {"learning_rate": 1e-3, "model_flops_per_step": 1e9, "peak_flops": 1e12}
    train([TelltaleCallback(config=JOB, join=server.join, name="static", **options)], tmp_path / "dump")
    assert server.stop() == 0
    found = server.inspect()
    assert found["name"] == "static"
    assert [(one["state"], one["rank"]) for one in found["sources"]] == [("finished", 0)]
    names = [
        "learning-rate", "batch-size", "loss", "loss-scale", "grad-norm", "iteration-time", "throughput",
        "B-samples-per-day", "model-flops-throughput-per-npu", "model-flops-utilization", "throughput_linearity",
        "device_local_norm", "local_loss", "device_accum_local_loss", "weight_norm",
        "expert_load/decoder.layers.0.mlp.router/ep_3", "max_attention_logit/mean", "telltale.samples_seen",
    ]  # fmt: skip
    for name in names:
        [series] = server.show(name)
        assert [one["step"] for one in series["values"]] == list(range(1, STEPS + 1)), name
    shown = server.show("net.head.weight")
    norms = {one["kind"]: [value["value"] for value in one["values"]] for one in shown}
    assert norms.keys() == {"grad_unreduced", "exp_avg", "exp_avg_sq", "linear"}
    assert norms["linear"][-1] <= recorded["rank_0", "weight_stable_rank/net.head.weight"][STEPS] * (1 + 1e-5)
    logits = {one["slot"]: one["values"][-1]["value"] for one in server.show("decoder.layers.0.self_attention")}
    assert logits == {"head_0": 1.5, "head_1": 2.5}
    metrics = [one for one in server.show("/./") if one["kind"] == "scalar" and one["name"].count("/")]
    assert {one["name"].split("/")[0] for one in metrics} <= {"expert_load", "max_attention_logit", "system"}
    for kind, tag in (("grad_unreduced", "local_norm"), ("exp_avg", "adam_m_norm"), ("exp_avg_sq", "adam_v_norm")):
        assert norms[kind] == pytest.approx(list(recorded["rank_0", f"{tag}/net.head.weight"].values()), rel=2e-6)
    assert [one["value"] for one in server.show("telltale.samples_seen")[0]["values"]] == [4, 8, 12, 16, 20, 24]
    assert server.show("loss")[0]["values"][-1]["value"] == pytest.approx(3.19193, rel=1e-5)
    assert server.show("throughput")[0]["definition"] == "samples per second and device"
    assert not [one for one in server.log("log") if one["severity"] == "error"]


def test_the_jobs_config_is_kept_as_settings_and_as_texts(server: Server) -> None:
    train([TelltaleCallback(config=JOB, join=server.join)])
    assert server.stop() == 0
    assert server.inspect()["hyperparameters"]["runner_config"] == JOB["runner_config"]
    [capsule] = server.folder.rglob("*.telltale")
    with contextlib.closing(sqlite3.connect(capsule)) as database:
        texts = {name for (name,) in database.execute("SELECT name FROM blob WHERE kind = 'text'")}
    # As the documents say, those that go with another setting only where that is on.
    assert texts == JOB.keys() - {"load_ckpt_format", "profile_level"}


def test_a_training_that_fails_says_so(server: Server) -> None:
    class Ends(TelltaleCallback):
        def on_train_step_end(self, run_context: object) -> None:
            super().on_train_step_end(run_context)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train([Ends(config=JOB, join=server.join)])
    assert server.stop() == 0
    assert [one["state"] for one in server.inspect()["sources"]] == ["failed"]


def test_of_many_experts_the_dashboard_gets_the_ends_and_the_files_get_all(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from telltale.integrations.mindformers import statemetrics

    monkeypatch.setattr(statemetrics, "_MOST_EXPERTS", 7)
    board = {**dict.fromkeys(FLAGS, True), "tensorboard_dir": str(tmp_path / "tb")}
    train([TelltaleCallback(tensorboard=board, join=server.join)])
    assert server.stop() == 0
    router = "expert_load/decoder.layers.1.mlp.router"
    assert len(server.show(f"{router}/max")) == 1 and len(server.show(f"{router}/min")) == 1
    assert not [name for name, _ in read_events(tmp_path / "tb")[0] if name.endswith("max")]
    assert len([tag for _, tag in read_events(tmp_path / "tb")[0] if tag == router]) == 4
    assert len([one for one in server.log("log") if "more than 7 experts" in one["text"]]) == 1


def test_tensors_and_metrics_come_into_one_run(server: Server) -> None:
    watched = {"wg_distribution": True, "mv_distribution": True}
    train([TelltaleCallback(CONFIG, join=server.join, name="both", watch=watched)])
    assert server.stop() == 0
    found = server.inspect()
    assert found["name"] == "both" and [one["state"] for one in found["sources"]] == ["finished"]
    for name in ("loss", "weight_norm", "device_local_norm"):
        [series] = server.show(name)
        assert [one["step"] for one in series["values"]] == list(range(1, STEPS + 1)), name
    shown = {one["kind"]: one["values"] for one in server.show("net.head.weight")}
    assert {"grad_unreduced", "grad_reduced", "exp_avg"} <= shown.keys()
    assert [one["step"] for one in shown["grad_unreduced"]] == list(range(1, STEPS + 1))
    recorded, _ = read_events(RECORDED / "mf_static" / "tb")
    norms = {one["step"]: pytest.approx(one["value"], rel=2e-6) for one in shown["grad_unreduced"]}
    assert recorded["rank_0", "local_norm/net.head.weight"] == norms
    names = {one["name"] for one in server.show("/./")}
    assert not [name for name in names if name.startswith(("adam_m_norm", "local_norm"))], "nothing is sent twice"
