# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.throughput(), local_loss(), local_norm(), loss_scale(), expert_load()."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import telltale
import torch
from recording import RecordingSink
from serving import Server


@pytest.fixture
def sink() -> Iterator[RecordingSink]:
    yield RecordingSink()
    telltale.finish()


def training(sink: RecordingSink, config: Any = None) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    telltale.watch(model, optimizer, config or {"wg_distribution": True}, grad_acc_steps=2, sinks=[sink])
    return model, optimizer


def marks(sink: RecordingSink, name: str) -> dict[int, float]:
    return {frame.step: frame.marks[name] for frame in sink.frames if name in frame.marks}


def step(model: torch.nn.Module, optimizer: Any, scaler: Any = None) -> list[float]:
    """Two micro batches; their losses."""
    losses = []
    optimizer.zero_grad()
    for micro in range(2):
        loss = model(torch.full((3, 4), 1.0 + micro)).square().mean()
        telltale.local_loss(loss)
        (scaler.scale(loss / 2) if scaler else loss / 2).backward()
        losses.append(float(loss.detach()))
    if scaler:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()
    return losses


def test_a_step_says_how_fast_it_was(sink: RecordingSink) -> None:
    model, optimizer = training(sink)
    telltale.throughput(64, tokens_per_sample=10, flops_per_sample=2e9, peak_flops=1e12, baseline=100, devices=4)
    began = time.monotonic()
    for _ in range(3):
        step(model, optimizer)
    most = (time.monotonic() - began) * 1000
    assert sink.scalar("batch-size") == {0: 64, 1: 64, 2: 64}
    assert marks(sink, "telltale.samples_seen") == {0: 64, 1: 128, 2: 192}
    assert marks(sink, "telltale.tokens_seen") == {0: 640, 1: 1280, 2: 1920}
    times = sink.scalar("iteration-time")
    assert list(times) == [1, 2], "the first step has nothing before it"
    for at, milliseconds in times.items():
        assert 0 < milliseconds <= most
        throughput = sink.scalar("throughput")[at]
        assert throughput == pytest.approx(64 / 4 / milliseconds * 1000)
        assert sink.scalar("B-samples-per-day")[at] == pytest.approx(throughput * 4 * 86400 / 1e9)
        assert sink.scalar("throughput_linearity")[at] == pytest.approx(throughput / 100)
        flops = sink.scalar("model-flops-throughput-per-npu")[at]
        assert flops == pytest.approx(throughput * 2e9 / 1e12)
        assert sink.scalar("model-flops-utilization")[at] == pytest.approx(flops)


def test_a_resumed_training_goes_on_counting_samples(sink: RecordingSink) -> None:
    model, optimizer = training(sink)
    telltale.throughput(8, samples_seen=1000)
    step(model, optimizer)
    telltale.throughput(16)
    step(model, optimizer)
    assert marks(sink, "telltale.samples_seen") == {0: 1008, 1: 1024}
    assert "model-flops-throughput-per-npu" not in sink.frames[-1].scalars


def test_losses_of_micro_batches_have_a_mean_and_a_sum(sink: RecordingSink) -> None:
    model, optimizer = training(sink)
    losses = [step(model, optimizer) for _ in range(2)]
    means, sums = sink.scalar("local_loss"), sink.scalar("device_accum_local_loss")
    for at, each in enumerate(losses):
        assert means[at] == pytest.approx(sum(each) / 2) and sums[at] == pytest.approx(sum(each))
    telltale.local_loss(torch.tensor(float("nan")))
    step(model, optimizer)
    assert math.isnan(sink.scalar("local_loss")[2])


def test_the_local_norm_is_that_of_the_accumulated_gradient(sink: RecordingSink) -> None:
    for config in ({"wg_distribution": True}, {"wg_distribution": True, "monitor_mbs_grad": True}):
        model, optimizer = training(sink, config)
        telltale.local_norm()
        step(model, optimizer)
        norm = math.sqrt(sum(float(p.grad.double().square().sum()) for p in model.parameters()))
        assert sink.scalar("device_local_norm") == {0: pytest.approx(norm, rel=1e-6)}, config
        telltale.finish()
        sink.frames.clear()


def test_the_loss_scale_is_that_of_the_step(sink: RecordingSink) -> None:
    model, optimizer = training(sink)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    telltale.loss_scale(scaler)
    for _ in range(3):
        step(model, optimizer, scaler)
    assert sink.scalar("loss-scale") == {0: 8, 1: 16, 2: 32}


def test_experts_have_their_share_of_the_steps_tokens(sink: RecordingSink) -> None:
    model, optimizer = training(sink)
    telltale.expert_load("layers.1", [3, 1])
    telltale.expert_load("layers.1", torch.tensor([1, 3]))
    telltale.expert_load("layers.2", [0, 0])
    step(model, optimizer)
    step(model, optimizer)
    assert sink.scalar("expert_load/layers.1/ep_0") == {0: 0.5} and sink.scalar("expert_load/layers.1/ep_1") == {0: 0.5}
    assert math.isnan(sink.scalar("expert_load/layers.2/ep_0")[0]), "no tokens at all are no shares"


def test_what_is_wrong_is_said_once_and_nothing_raises(
    sink: RecordingSink, capsys: pytest.CaptureFixture[str]
) -> None:
    model, optimizer = training(sink)
    for _ in range(2):
        telltale.local_loss(torch.ones(3))
        telltale.expert_load("x", [[1, 2]])
        telltale.loss_scale(3)
    telltale.throughput(-1)
    step(model, optimizer)
    said = capsys.readouterr().err
    for words in ("local_loss() takes", "expert_load() takes", "loss_scale() takes", "throughput() takes"):
        assert said.count(words) == 1, words
    telltale.finish()
    telltale.throughput(8)
    telltale.throughput(8)
    assert capsys.readouterr().err.count("throughput() was called before watch()") == 1


def test_a_training_is_the_same_bit_by_bit(sink: RecordingSink) -> None:
    def weights(watched: bool) -> list[bytes]:
        model, optimizer = training(sink)
        if watched:
            telltale.throughput(8, flops_per_sample=1)
            telltale.local_norm()
        for _ in range(5):
            telltale.expert_load("x", torch.tensor([1.0, 2.0]))
            step(model, optimizer)
        telltale.finish()
        return [p.detach().numpy().tobytes() for p in model.parameters()]

    assert weights(True) == weights(False)


def test_what_comes_from_a_device_gets_its_local_norm_with_it(sink: RecordingSink) -> None:
    from telltale.kinds import Kind
    from telltale.pytorch.jobmetrics import local_norm_of

    model, optimizer = training(sink, {"wg_distribution": True, "monitor_mbs_grad": True})
    step(model, optimizer)
    value, finish = local_norm_of(telltale.current().engine.known_table(Kind.GRAD_UNREDUCED), True)
    assert value is None and finish is not None
    finish(sink.frames[-1])
    norm = math.sqrt(sum(float(p.grad.double().square().sum()) for p in model.parameters()))
    assert sink.scalar("device_local_norm") == {0: pytest.approx(norm, rel=1e-6)}


def test_they_are_in_the_dashboard_with_its_axis_of_samples(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    try:
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        telltale.watch(model, optimizer, join=server.join, grad_acc_steps=2)
        telltale.throughput(32, flops_per_sample=1e6)
        for _ in range(4):
            step(model, optimizer)
        telltale.finish()
        assert server.stop() == 0
        [seen] = server.show("telltale.samples_seen")
        assert [one["value"] for one in seen["values"]] == [32, 64, 96, 128]
        for name, steps in (("throughput", [1, 2, 3]), ("batch-size", [0, 1, 2, 3]), ("local_loss", [0, 1, 2, 3])):
            [series] = server.show(name)
            assert [one["step"] for one in series["values"]] == steps, name
    finally:
        telltale.finish()
        if server.process.poll() is None:
            server.kill()
