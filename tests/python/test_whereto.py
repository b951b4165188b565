# SPDX-License-Identifier: GPL-3.0-or-later
"""Where measurements go, and that the user is told where it may not be where they look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from telltale import native
from telltale.pytorch import TrainerMon

JOIN = "telltale://127.0.0.1:9#token=" + "0" * 64


def train(config: dict | None = None, **agent: str) -> None:
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with TrainerMon(config or {"wg_distribution": True}, agent=agent) as monitor:
        monitor.set_monitor(model, optimizer=optimizer)
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, and nothing that says where measurements are to go."""
    monkeypatch.delenv("MONITOR_OUTPUT_DIR")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "monitor_output"


@pytest.fixture(params=["another version's", "another library", "none"])
def unusable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A native library that this package cannot work with."""
    if request.param == "another version's":
        monkeypatch.setattr(native, "ABI", native.ABI + 1)
    else:
        other = Path(torch.__file__).parent / "lib" / "libtorch_global_deps.so"
        monkeypatch.setenv(
            "TELLTALE_AGENT_LIBRARY", str(other if request.param == "another library" else tmp_path / "no.so")
        )
    native.library.cache_clear()
    yield
    native.library.cache_clear()


def test_who_names_no_dashboard_and_no_folder_is_told_where_it_goes(nowhere: Path, capfd) -> None:
    train()
    [said] = capfd.readouterr().err.splitlines()
    assert str(nowhere) in said and "TELLTALE_JOIN" in said and "MONITOR_OUTPUT_DIR" in said
    assert list(nowhere.rglob("grad_reduced_*.csv"))


def test_one_rank_says_it(nowhere: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    train()
    assert capfd.readouterr().err == "" and list(nowhere.rglob("*.csv"))


def test_who_says_where_is_not_told(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    train({"wg_distribution": True, "format": "csv"})
    train(mode="disabled")
    train(mode="offline", spool_dir=str(tmp_path / "spool"))
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path / "chosen"))
    train()
    assert capfd.readouterr().err == "" and list((tmp_path / "chosen").rglob("*.csv"))


@pytest.mark.parametrize("formats", [{}, {"format": ["stream", "csv"]}, {"format": "stream"}])
def test_without_a_library_that_fits_files_stand_in_for_the_dashboard(
    unusable: None, formats: dict, nowhere: Path, capfd
) -> None:
    train({"wg_distribution": True, **formats}, join=JOIN)
    said = [line for line in capfd.readouterr().err.splitlines() if "jsonschema" not in line]
    assert len(said) == 1, said
    assert "library" in said[0] and "dashboard" in said[0] and str(nowhere) in said[0]
    assert list(nowhere.rglob("grad_reduced_*.csv"))
