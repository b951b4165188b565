# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that runs to be recorded or transformed, not to train: traces, fake tensors, torch.func."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.series import SeriesTable
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

EVERYTHING = {"wg_distribution": True, "xy_distribution": True, "all_xy": True, "format": "api"}


class Training:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.sink = RecordingSink()
        self.monitor = TrainerMon(EVERYTHING, sinks=[self.sink])
        self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def step(self) -> None:
        self.model(torch.ones(4, 8)).sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


@pytest.fixture
def training() -> Iterator[Training]:
    made = Training()
    yield made
    made.monitor.close()


def trace(model: torch.nn.Module) -> None:
    torch.jit.trace(model, torch.zeros(1, 8))


def run_fake(model: torch.nn.Module) -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        model(torch.zeros(1, 8))


def take_gradients(model: torch.nn.Module) -> None:
    def loss(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(model, parameters, (torch.ones(4, 8),)).sum()

    torch.func.grad(loss)(dict(model.named_parameters()))


def draw_graph(model: torch.nn.Module) -> None:
    make_fx(model)(torch.zeros(1, 8))


@pytest.mark.parametrize("record", [trace, run_fake, take_gradients, draw_graph])
@pytest.mark.filterwarnings("ignore:.*torch.jit.trace:DeprecationWarning")
def test_recorded_code_is_no_part_of_the_training(
    record: Callable[[torch.nn.Module], None], training: Training, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        training.step()
        record(training.model)
    training.step()
    training.monitor.close()
    for kind in (Kind.ACTV, Kind.ACTV_GRAD, Kind.GRAD_REDUCED):
        assert training.sink.steps(kind) == [0, 1, 2, 3]
    assert {shot.series[0].micro_step for frame in training.sink.frames for shot in frame.tables} == {-1}
    assert not [sentence for sentence in training.sink.sentences() if "error" in sentence or "observed" in sentence]
    assert "error" not in capfd.readouterr().err


def test_gradients_of_several_backward_passes_are_told(training: Training) -> None:
    hidden = training.model[0](torch.ones(4, 8))
    hidden.sum().backward(retain_graph=True)
    hidden.mul(2).sum().backward()
    training.optimizer.step()
    training.monitor.close()
    assert any("several backward passes" in sentence for sentence in training.sink.sentences())


def test_a_table_takes_memory_for_what_is_in_it() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    SeriesTable(Kind.GRAD_REDUCED)
    gc.collect()
    before = resident()
    tables = [SeriesTable(Kind.GRAD_REDUCED) for _ in range(40)]
    for table in tables:
        table.results["norm"][:3] = 1
    assert resident() - before < 10 << 20
    assert tables[0].results["norm"][:4].tolist() == [1, 1, 1, 0]
