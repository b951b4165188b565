# SPDX-License-Identifier: GPL-3.0-or-later
"""Which step, attempt and micro step a measurement or metric belongs to."""

from __future__ import annotations

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink, norm
from smallrun import Run, model_of
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon


def test_the_closure_of_a_step_is_read_after_it_ran() -> None:
    model = model_of()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    sink = RecordingSink()
    monitor = TrainerMon({"wg_distribution": True, "param_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    before = float(model[0].weight.detach().double().norm())

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.ones(5, 4)).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert sink.record(Kind.GRAD_REDUCED, "0.weight") is not None
    assert norm(sink.record(Kind.PARAM_ORIGIN, "0.weight")) == pytest.approx(before)


def test_metrics_belong_to_the_step_they_were_logged_for() -> None:
    run = Run({"wg_distribution": True})
    for step in range(3):
        run.step()
        run.monitor.log({"after": step})  # no forward pass since the step: it belongs to the one that ended
        run.monitor.log({"given": step}, step=step)
    assert run.sink.scalar("after") == {0: 0.0, 1: 1.0, 2: 2.0}
    assert run.sink.scalar("given") == {0: 0.0, 1: 1.0, 2: 2.0}


def test_a_metric_logged_before_the_step_belongs_to_it() -> None:
    run = Run({})
    for step in range(3):
        run.step(lambda step=step: run.monitor.log({"loss": torch.tensor(float(step))}))
    assert run.sink.scalar("loss") == {0: 0.0, 1: 1.0, 2: 2.0}


@pytest.mark.parametrize("clears", [True, False])
def test_a_step_that_ends_inside_backward_keeps_its_metrics_and_gradients(clears: bool) -> None:
    model, sink = model_of(), RecordingSink()
    optimizers = {parameter: torch.optim.SGD([parameter], lr=0.1) for parameter in model.parameters()}

    def steps(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        if clears:
            optimizers[parameter].zero_grad()

    for parameter in optimizers:
        parameter.register_post_accumulate_grad_hook(steps)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=list(optimizers.values()))
    first = model[0].weight
    for step in range(3):
        model(torch.ones(5, 4)).square().sum().backward()
        assert monitor.step == step + 1
        reduced = sink.record(Kind.GRAD_REDUCED, "0.weight", step=step)
        assert reduced is not None
        seen = sink.record(Kind.GRAD_UNREDUCED, "0.weight", step=step)
        assert seen is None, "its hook runs after the step has ended: what it sees is not of the next one"
        if not clears:
            assert norm(reduced) == pytest.approx(float(first.grad.double().norm()))
            assert sink.record(Kind.GRAD_UNREDUCED, "2.weight", step=step) is not None
            for optimizer in optimizers.values():
                optimizer.zero_grad()
        monitor.log({"loss": float(step)})
    assert sink.scalar("loss") == {0: 0.0, 1: 1.0, 2: 2.0}


def test_a_metric_whose_step_goes_back_is_told_once() -> None:
    run = Run({})
    for step in (0, 5, 2, 7, 3):
        run.monitor.log({"loss": 1.0, "lr": 0.1 * step}, step=step)
    told = [sentence for sentence in run.sink.sentences() if "went back" in sentence]
    assert len(told) == 2 and all("from step 5 to 2" in sentence for sentence in told)
    run.step()
    run.monitor.log({"accuracy": 0.5})
    run.step()
    assert len([sentence for sentence in run.sink.sentences() if "went back" in sentence]) == 2


def test_a_step_that_a_loss_scaler_gives_up_is_told_with_the_gradients_that_broke() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sink = RecordingSink()
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for step in range(4):
        x = torch.ones(3, 4)
        if step == 2:
            x[0, 0] = float("inf")
        scaler.scale(model(x).square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    monitor.close()
    told = [(step, text) for kind, step, text in sink.events if "given up" in text]
    assert [step for step, _ in told] == [2]
    assert "4 of 4 had NaN or Inf, in backward the first was 1." in told[0][1]


def test_micro_steps_that_nobody_announced_are_numbered_from_the_first() -> None:
    run = Run({"xy_distribution": True})
    for _ in range(2):
        run.optimizer.zero_grad()
        for _ in range(3):
            run.model(torch.ones(5, 4)).square().sum().backward()
        run.optimizer.step()
    for kind in (Kind.ACTV, Kind.ACTV_GRAD):
        for frame in run.sink.frames:
            [shot] = [shot for shot in frame.tables if shot.kind is kind]
            assert sorted({desc.micro_step for desc in shot.series}) == [0, 1, 2], (kind, frame.step)


def test_a_closure_that_runs_again_is_no_step_given_up() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4)
    sink = RecordingSink()
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    target = torch.randn(8, 1)
    target[0] = float("nan")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(torch.ones(8, 4)) - target).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    monitor.close()
    assert not [text for text in sink.sentences() if "given up" in text]


def test_gradients_that_nobody_wanted_are_no_step_given_up() -> None:
    run = Run({"wg_distribution": True})
    for _ in range(3):
        run.model(torch.ones(5, 4)).sum().backward()
        run.optimizer.zero_grad()
        run.step()
    assert not [text for text in run.sink.sentences() if "given up" in text]
