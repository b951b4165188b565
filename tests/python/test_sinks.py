# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sink gets is what it declares, whatever other sinks there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.series import Extra
from telltale.sinks.csv import CsvSink
from telltale.sinks.tensorboard import TensorBoardSink

CONFIG = {
    "recording_l2_features": True,
    "l2_targets": {"linear_hook": ["out"], "attention_hook": ["attention"]},
    "sa_order": "b,s,h,d",
    "cc_distribution": {"enable": True},
    "telltale": {"attention_queries": 0},
}


class Attention(torch.nn.Module):
    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), key.transpose(1, 2), is_causal=True
        )


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.out = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.attention(x, x))


@pytest.fixture
def group(tmp_path: Path) -> Iterator[None]:
    dist.init_process_group("gloo", f"file://{tmp_path}/meet", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def seen_by(kind: type[RecordingSink], *others: RecordingSink) -> dict[Kind, set[str]]:
    sink = kind()
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with TrainerMon(CONFIG, sinks=[*others, sink]) as monitor:
        monitor.set_monitor(model, optimizer=optimizer)
        for _ in range(2):
            model(torch.rand(2, 3, 2, 4)).sum().backward()
            dist.all_reduce(torch.ones(3))
            optimizer.step()
    return {kind: set(sink.names(kind)) for kind in (Kind.ATTENTION, Kind.LINEAR, Kind.COMM)}


class Dashboard(RecordingSink):
    """Declares nothing: what sinks want by default."""


class Files(RecordingSink):
    wants = CsvSink.wants


class Plain(RecordingSink):
    wants = Extra.NONE


def test_a_sink_gets_the_same_beside_others_as_alone(group: None) -> None:
    for kind in (Dashboard, Files, Plain):
        alone = seen_by(kind)
        assert seen_by(kind, Dashboard(), Files(), Plain()) == alone, kind.__name__


def test_each_gets_what_it_declares(group: None) -> None:
    heads = {"attention head_0", "attention head_1"}
    dashboard, files, plain = seen_by(Dashboard), seen_by(Files), seen_by(Plain)
    assert dashboard[Kind.ATTENTION] == plain[Kind.ATTENTION] == heads
    assert files[Kind.ATTENTION] == {*heads, "attention attention"}
    assert files[Kind.LINEAR] == plain[Kind.LINEAR] == {"out"} and dashboard[Kind.LINEAR] == {"out", "out sr"}
    assert files[Kind.COMM] == {"all_reduce post_0"} and plain[Kind.COMM] == set()
    (site,) = dashboard[Kind.COMM]
    assert site.startswith("all_reduce (test_sinks.py[") and site.endswith("post_0")


def test_files_are_the_same_beside_the_dashboard(
    group: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(*others: RecordingSink) -> dict[str, str]:
        folder = tmp_path / f"with-{len(others)}"
        monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(folder))
        sink = CsvSink()
        seen_by(Plain, *others, sink)  # type: ignore[arg-type]
        return {path.name: path.read_text() for path in Path(sink.directory.path).iterdir()}

    alone = files()
    assert {"attention_hook_0-0.csv", "linear_hook_0-0.csv", "other_0-0.csv"} <= alone.keys()
    assert files(Dashboard()) == alone


def test_what_nobody_wants_is_not_measured() -> None:
    sink = Plain()
    monitor = TrainerMon(CONFIG, sinks=[sink])
    monitor.set_monitor(Model(), optimizer=None)
    assert monitor.engine is not None and monitor.engine.dispatcher.wants == Extra.NONE
    assert not [table for table in monitor.engine.tables() if table.only]
    monitor.close()
    assert TensorBoardSink.wants == Extra.CALLS_BY_SITE and CsvSink.wants & Extra.HEAD_0
