# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.watch(), log(), run(): the way most people begin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import telltale
import torch
from serving import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    telltale.finish()
    if running.process.poll() is None:
        running.kill()


def train(steps: int) -> None:
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    telltale.watch(model, optimizer)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 4)).square().sum()
        loss.backward()
        optimizer.step()
        telltale.log({"loss": loss, "tokens": 100 * step}, step=step)


def test_three_lines_put_a_training_into_the_dashboard(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    with telltale.run(name="three lines"):
        train(5)
        assert telltale.current() is not None and telltale.current().flush(10)
    assert telltale.current() is None
    assert server.stop() == 0
    found = server.inspect()
    assert found["name"] == "three lines"
    assert [source["state"] for source in found["sources"]] == ["finished"]
    for metric in ("loss", "lr", "grad-norm", "tokens"):
        [series] = server.show(metric)
        assert [value["step"] for value in series["values"]] == [0, 1, 2, 3, 4], metric
    assert [value["value"] for value in server.show("tokens")[0]["values"]] == [0, 100, 200, 300, 400]


def test_a_training_that_fails_says_so_in_its_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    with pytest.raises(ZeroDivisionError), telltale.run(name="fails"):
        train(2)
        raise ZeroDivisionError
    assert server.stop() == 0
    assert [source["state"] for source in server.inspect()["sources"]] == ["failed"]


def test_log_before_watch_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    telltale.finish()
    telltale.short._warned = False
    telltale.log({"loss": 1.0})
    telltale.log({"loss": 1.0})
    assert capsys.readouterr().err.count("before watch()") == 1


def test_a_metric_is_one_series_through_skipped_steps_and_beyond_the_last(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    with telltale.run(name="skips"):
        telltale.watch(model, optimizer)
        for step in range(12):
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            if step not in (4, 9):  # a loss scaler found infinities
                optimizer.step()
            telltale.log({"a": step}, step=step)
            telltale.log({"b": step * 2}, step=step)
        telltale.log({"final": 5.0}, step=20)
    assert server.stop() == 0
    [series] = server.show("a")
    assert [(value["step"], value["value"]) for value in series["values"]] == [(s, s) for s in range(12)]
    [series] = server.show("b")
    assert [(value["step"], value["value"]) for value in series["values"]] == [(s, 2 * s) for s in range(12)]
    [series] = server.show("final")
    assert [(value["step"], value["value"]) for value in series["values"]] == [(20, 5)]


def test_log_goes_to_a_trainermon_too(tmp_path: Path) -> None:
    from recording import RecordingSink
    from telltale.pytorch import TrainerMon

    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    sink = RecordingSink()
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    telltale.log({"loss": 2.5})
    monitor.close()
    assert sink.scalar("loss") == {0: 2.5}


def test_watching_another_model_says_how_to_watch_both(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
    optimizers = [torch.optim.Adam(first.parameters()), torch.optim.Adam(second.parameters())]
    telltale.watch(first, optimizers[0])
    telltale.watch(second, optimizers[1])
    assert 'watch({"first": first, "second": second}, [optimizer_1, optimizer_2])' in capsys.readouterr().err
    telltale.watch({"first": first, "second": second}, optimizers)
    engine = telltale.current().engine
    names = ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert [source.name for source in engine.found.sources] == names
    telltale.finish()
