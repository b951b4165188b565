# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback for MindSpore Transformers against event files that its own callbacks wrote of the same training."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import mftraining
import numpy as np
import pytest
from eventreader import Curves, read_events
from mftraining import RECORDED, STEPS, train
from telltale.integrations.mindformers import TelltaleCallback

CONFIG = {**json.loads((RECORDED / "mf_static" / "config.json").read_text()), "monitor_on": True}
CONFIG["stable_rank_config"] = {**CONFIG["stable_rank_config"], "target": [".*"]}  # the original measured all
FLAGS = ("log_loss_scale_to_tensorboard", "log_timers_to_tensorboard", "log_expert_load_to_tensorboard")
TIMED = ("iteration-time", "throughput", "B-samples-per-day", "throughput_linearity")
NUMBERS = ("local_norm_format", "device_local_norm_format", "local_loss_format", "device_local_loss_format")


def board(folder: Path) -> dict[str, Any]:
    return {"tensorboard_dir": str(folder), **dict.fromkeys(FLAGS, True)}


def run(folder: Path, config: Any = CONFIG, transport: Path | None = None, **options: Any) -> tuple[Curves, dict]:
    options = {"tensorboard": board(folder), "learning_rate": 1e-3, "origin_epochs": 1, **options}
    train([TelltaleCallback(config, **options)], transport)
    return read_events(folder)


def is_timed(tag: str) -> bool:
    return tag.removesuffix("_vs_samples").removesuffix("-vs-samples") in TIMED


@pytest.mark.parametrize("source", ["files of the graph", "hooks"])
def test_every_recorded_tag_is_written_with_the_same_values(tmp_path: Path, source: str) -> None:
    recorded, _ = read_events(RECORDED / "mf_static" / "tb")
    transport = tmp_path / "dump" if source != "hooks" else None
    found, _ = run(tmp_path / "tb", transport=transport, tags="2.1")
    assert set(found) == set(recorded)
    for key, values in recorded.items():
        assert sorted(found[key]) == sorted(values), key
        if is_timed(key[1]):
            continue
        for step, value in values.items():
            got = found[key][step]
            if key[1].startswith("weight_eigenvalue"):  # five turns from a random start come near it from below
                assert value <= got * (1 + 1e-5) and got < 2 * value, key
            elif key[1].startswith("weight_stable_rank"):
                assert got * (1 - 1e-5) <= value < 2 * got, key
            else:
                assert got == pytest.approx(value, rel=2e-6, abs=1e-12), (key, step)
    if transport is not None:
        assert not list((transport / "rank_0").iterdir()), "what was read is taken away"


def test_rates_follow_from_the_time_of_a_step(tmp_path: Path) -> None:
    found, _ = run(tmp_path / "tb", tags="2.1", model_flops_per_step=6e9)
    curve = {tag: values for (place, tag), values in found.items() if place == "rank_0"}
    for step in range(1, STEPS + 1):
        throughput = curve["throughput"][step]
        milliseconds = mftraining.BATCH / throughput * 1000
        assert curve["iteration-time"][step] == math.floor(milliseconds + 1e-3)
        assert curve["throughput_vs_samples"][step * mftraining.BATCH] == throughput
        assert curve["B-samples-per-day"][step] == pytest.approx(throughput * 86400 / 1e9)
        assert curve["throughput_linearity"][step] == pytest.approx(throughput / 10)
        assert curve["model-flops-throughput-per-npu"][step] == pytest.approx(6e9 / milliseconds / 1e9, rel=1e-5)


DOCUMENTED = [
    "learning-rate", "batch-size", "loss", "loss-scale", "grad-norm", "iteration-time", "throughput",
    "model-flops-throughput-per-npu", "B-samples-per-day", "local_norm/net.head.weight", "device_local_norm",
    "local_loss", "device_accum_local_loss", "adam_m_norm/net.head.weight", "adam_v_norm/net.head.weight",
    "weight_norm", "throughput_linearity", "expert_load/decoder.layers.0.mlp.router",
]  # fmt: skip


def test_every_documented_scalar_has_its_documented_name(tmp_path: Path) -> None:
    found, _ = run(tmp_path / "tb", model_flops_per_step=1e9)
    tags = {tag for _, tag in found}
    assert not set(DOCUMENTED) - tags
    first = DOCUMENTED[: DOCUMENTED.index("model-flops-throughput-per-npu")]
    assert {f"{tag}-vs-samples" for tag in first} <= tags
    assert not [tag for tag in tags if tag.startswith(DOCUMENTED[7]) and tag != DOCUMENTED[7]], "it has no companion"


def test_weights_are_the_same_bit_by_bit(tmp_path: Path) -> None:
    bare = mftraining.weights(train([]))
    assert mftraining.weights(train([TelltaleCallback(CONFIG, board(tmp_path))])) == bare
    assert mftraining.weights(train([TelltaleCallback(CONFIG, watch=True, mode="offline")])) == bare


def test_target_and_invert_choose_parameters(tmp_path: Path) -> None:
    config = {"monitor_on": True, "target": ["blocks.[01].fc1", "head"], "local_norm_format": "tensorboard"}
    config["optimizer_state_format"] = "tensorboard"
    for invert in (False, True):
        found, _ = run(tmp_path / str(invert), {**config, "invert": invert})
        for what in ("local_norm/", "adam_m_norm/", "adam_v_norm/"):
            names = {tag.removeprefix(what) for _, tag in found if tag.startswith(what)}
            assert bool(names) and all(("fc1" in name or "head" in name) != invert for name in names), what


def test_formats_say_where_each_metric_goes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = {
        "monitor_on": True,
        "local_loss_format": "log",
        "device_local_norm_format": ["log", "tensorboard"],
        "weight_state_format": "tensorboard",
        "device_local_loss_format": None,
    }
    found, _ = run(tmp_path / "tb", config)
    said = capfd.readouterr().err
    tags = {tag for _, tag in found}
    assert "Epoch:[  1/  1], step:[    6/    6] device_local_norm: 1.2696" in said and "device_local_norm" in tags
    assert "step:[    6/    6] local_loss: 3.1919" in said and "local_loss" not in tags
    assert "weight_norm" not in said and "weight_norm" in tags
    assert "device_accum" not in said + str(tags) and not [tag for tag in tags if tag.startswith("adam")]
    run(tmp_path / "none", config, tensorboard=None)
    assert "weight_norm: 13." in capfd.readouterr().err, "without a folder the log takes the files' place"
    assert not (tmp_path / "none").exists()


def test_without_monitor_on_only_the_loss_is_watched(tmp_path: Path) -> None:
    found, _ = run(tmp_path / "tb", {**CONFIG, "monitor_on": False})
    tags = {tag for _, tag in found}
    assert "loss" in tags and "weight_norm" not in tags and not [tag for tag in tags if tag.startswith("local")]


def test_step_interval_thins_the_state_and_not_the_loss(tmp_path: Path) -> None:
    for transport in (None, tmp_path / "dump"):
        folder = tmp_path / f"tb{transport is None}"
        found, _ = run(folder, {**CONFIG, "step_interval": 2}, transport)
        for tag in ("weight_norm", "device_local_norm", "local_norm/net.head.weight", "local_loss"):
            assert sorted(found["rank_0", tag]) in ([2, 4, 6], [1, 3, 5]), tag
        assert sorted(found["rank_0", "loss"]) == list(range(1, STEPS + 1))


def test_print_struct_names_the_parameters_and_ends_the_training(capfd: pytest.CaptureFixture[str]) -> None:
    cell = train([TelltaleCallback({"monitor_on": True, "print_struct": True})])
    said = capfd.readouterr().err
    for parameter in cell.network.trainable_params():
        assert said.count(f"telltale: {parameter.name}\n") == 1
    assert int(cell.optimizer.global_step.asnumpy()[0]) == 1


EXAMPLE = """
seed: 0
output_dir: './output'

monitor_config:
    monitor_on: True
    dump_path: './dump'
    target: ['layers.0', 'layers.1'] # 只监控第一、二层的参数
    invert: False
    step_interval: 1
    local_loss_format: ['log', 'tensorboard']
    device_local_loss_format: ['log', 'tensorboard']
    local_norm_format: ['log', 'tensorboard']
    device_local_norm_format: ['log', 'tensorboard']
    optimizer_state_format: null
    weight_state_format: null
    throughput_baseline: null
    print_struct: False

tensorboard:
    tensorboard_dir: 'worker/tensorboard'
    tensorboard_queue_size: 10
    log_loss_scale_to_tensorboard: True
    log_timers_to_tensorboard: True

callbacks:
    - type: MFLossMonitor
      per_print_times: 1
"""
EXPERTS = """
model:
    model_config:
        moe_router_enable_expert_bias: True
        moe_router_bias_update_rate: 0.001              # 0.001为Deepseek-V3官方开源配置

tensorboard:
    tensorboard_dir: 'worker/tensorboard'
    log_expert_load_to_tensorboard: True

callbacks:
    - type: TopkBiasBalanceCallback
"""


def test_the_documents_example_runs_as_a_jobs_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(EXAMPLE)
    train([TelltaleCallback(config="job.yaml")])
    found, texts = read_events(Path("worker/tensorboard"))
    tags = {tag for place, tag in found if place == "rank_0"}
    assert {"loss", "loss-scale-vs-samples", "throughput", "local_loss", "device_accum_local_loss"} <= tags
    assert "device_local_norm" in tags and "weight_norm" not in tags
    assert not [tag for tag in tags if tag.startswith("local_norm/")], "no parameter is called layers.0 here"
    blocks = "seed", "output_dir", "monitor_config", "tensorboard", "callbacks"
    assert texts.keys() == {f"{block}/text_summary" for block in blocks}
    said = capfd.readouterr().err
    assert "step:[    6/    6] local_loss: 3.19" in said and "is to be" not in said


def test_the_documents_example_of_experts_runs_as_a_jobs_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(EXPERTS)
    train([TelltaleCallback(config="job.yaml")])
    found, texts = read_events(Path("worker/tensorboard"))
    shares = [values for (_, tag), values in found.items() if tag.startswith("expert_load")]
    assert shares and all(0 <= value <= 1 for values in shares for value in values.values())
    assert texts.keys() == {f"{block}/text_summary" for block in ("model", "tensorboard", "callbacks")}


BAD = [
    ({"target": "layers.0"}, "monitor_config.target is to be a list of names or regular expressions"),
    ({"target": ["("]}, "monitor_config.target is to be a list of regular expressions"),
    ({"invert": 1}, "monitor_config.invert is to be true or false, not 1"),
    ({"step_interval": 0}, "monitor_config.step_interval is to be a whole number above 0, not 0"),
    ({"throughput_baseline": -1}, "monitor_config.throughput_baseline is to be a number above 0 or null, not -1"),
    ({"local_norm_format": "csv"}, 'monitor_config.local_norm_format is to be "tensorboard", "log", a list of them'),
    ({"step_intervall": 2}, "monitor_config has no field 'step_intervall'"),
    ({"check_for_global_norm": True}, "MindSpore Transformers' own callback sees to it"),
    ("on", "monitor_config is to be a block of fields, not str"),
]


@pytest.mark.parametrize("block,sentence", BAD)
def test_bad_settings_are_said_in_one_sentence(block: Any, sentence: str) -> None:
    from telltale.integrations.mindformers.settings import read_monitor

    _, problems = read_monitor({"monitor_on": True, **block} if isinstance(block, dict) else block)
    assert len(problems) == 1 and sentence in problems[0]


def test_nan_is_written_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = mftraining.Step.construct

    def broken(cell: Any, *given: Any) -> Any:
        loss, *rest = whole(cell, *given)
        return (loss * float("nan"), *rest)

    monkeypatch.setattr(mftraining.Step, "construct", broken)
    found, _ = run(tmp_path / "tb", {"monitor_on": True, "local_loss_format": "tensorboard"})
    assert all(math.isnan(value) for tag in ("loss", "local_loss") for value in found["rank_0", tag].values())


def test_a_model_that_fails_the_callback_trains_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mftraining.WithLoss, "get_max_attention_logit", lambda self: 1 / 0)
    cell = train([TelltaleCallback(CONFIG, board(tmp_path))])
    assert int(cell.optimizer.global_step.asnumpy()[0]) == STEPS
    assert capfd.readouterr().err.count("ZeroDivisionError") == 1
    assert "loss" in {tag for _, tag in read_events(tmp_path)[0]}


def test_a_stable_rank_is_that_of_the_weights() -> None:
    from telltale.integrations.mindformers.numbers import stable_rank

    generator = np.random.default_rng(3)
    for shape in ((16, 5), (4, 6, 9), (1030, 1100)):
        matrix = generator.standard_normal(shape).astype(np.float32)
        rank, eigen = stable_rank(matrix)
        exact = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)[..., 0].reshape(-1) ** 2
        assert eigen == pytest.approx(exact, rel=2e-2 if max(shape) > 1024 else 1e-9)
        total = (matrix.astype(np.float64) ** 2).sum((-2, -1)).reshape(-1)
        assert rank == pytest.approx(total / eigen)
    assert stable_rank(np.zeros((3, 3), np.float32))[0] == [0.0]
    assert math.isnan(stable_rank(np.full((3, 3), np.nan, np.float32))[0][0])


def test_the_local_norm_is_that_of_the_sum_over_micro_batches() -> None:
    import mindspore as ms
    from mindspore import Tensor, ops
    from telltale.integrations.mindformers.localnorms import LocalNorms

    net = mftraining.Tiny(layers=1)
    parameters = net.trainable_params()
    norms = LocalNorms(parameters, per_micro=True)

    def forward(ids: Any, label: Any) -> Any:
        return ops.cross_entropy(net(ids).reshape(-1, mftraining.VOCABULARY), label.reshape(-1))

    both = ms.value_and_grad(forward, None, parameters)
    generator = np.random.default_rng(1)
    for _ in range(2):  # steps
        micros = [both(*map(Tensor, mftraining.batches(generator)))[1] for _ in range(3)]
        sums, each = norms.take(), norms.take_micros()
        assert len(each) == 3 and sums.keys() == {one.name for one in parameters}
        for i, parameter in enumerate(parameters):
            whole = sum(micro[i].asnumpy().astype(np.float64) for micro in micros)
            assert sums[parameter.name] == pytest.approx(np.linalg.norm(whole), rel=1e-5, abs=1e-8)
            for micro, found in zip(micros, each):
                assert found[parameter.name] == pytest.approx(np.linalg.norm(micro[i].asnumpy()), rel=1e-5, abs=1e-8)
    norms.close()
    both(*map(Tensor, mftraining.batches(generator)))
    assert norms.take() == {}, "the hooks are gone"


@pytest.mark.parametrize("is_reset", [True, False])
def test_experts_shares_are_those_of_the_step_whoever_resets_the_counters(is_reset: bool) -> None:
    import mindspore as ms
    from mindspore import Parameter, Tensor, nn
    from telltale.integrations.mindformers.experttokens import ExpertTokens

    class Layer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            counts = Tensor(np.float32([5, 5, 5]))  # of steps before
            self.tokens_per_expert = Parameter(counts, name="tokens_per_expert", requires_grad=False)

    class Model(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.CellList([Layer(), nn.Dense(2, 2)])

    model = Model()
    optimizer = nn.SGD(model.layers[1].trainable_params(), 0.1)
    counter = model.layers[0].tokens_per_expert
    experts = ExpertTokens([model], optimizer)
    gradients = tuple(ms.ops.zeros_like(one) for one in optimizer.parameters)
    for tokens in ([1, 2, 1], [0, 0, 4], [0, 0, 0]):
        for _ in range(2):  # micro batches
            counter.set_data(Tensor(counter.asnumpy() + np.float32(tokens)))
        optimizer(gradients)
        if is_reset:  # as LossCallback does, whose turn is before ours
            counter.set_data(ms.ops.zeros_like(counter))
        total = sum(tokens)
        assert experts.take() == ({"layers.0": [count / total for count in tokens]} if total else {})
    experts.close()
