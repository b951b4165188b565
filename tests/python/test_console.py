# SPDX-License-Identifier: GPL-3.0-or-later
"""What Telltale has to say goes through the logger "telltale", which users route as any other."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
import torch
from recording import RecordingSink
from telltale.pytorch import TrainerMon


def train(config: dict) -> RecordingSink:
    model = torch.nn.Linear(4, 2)
    sink = RecordingSink()
    with TrainerMon(config, sinks=[sink]) as monitor:
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        monitor.set_monitor(model, optimizer=optimizer)
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    return sink


@pytest.fixture
def logger():
    logger = logging.getLogger("telltale")
    handlers, level = list(logger.handlers), logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


MISSPELT = {"wg_distribution": True, "targets": {"wieght": {}}}


def test_until_the_user_says_otherwise_it_is_printed_as_ever(capsys, logger) -> None:
    train(MISSPELT)
    lines = [line for line in capsys.readouterr().err.splitlines() if "wieght" in line]
    assert len(lines) == 1 and lines[0].startswith("telltale: rank 0: the target")


def test_a_handler_of_the_users_gets_it_instead_and_the_dashboard_as_well(capsys, logger) -> None:
    heard: list[logging.LogRecord] = []
    listener = logging.Handler()
    listener.emit = heard.append  # type: ignore[method-assign]
    logger.handlers[:] = [listener]
    sink = train({**MISSPELT, "ops": ["nrom"]})
    said = [record.getMessage() for record in heard]
    assert any("wieght" in one for one in said) and any("nrom" in one for one in said)
    assert any("wieght" in one for one in sink.sentences())
    assert capsys.readouterr().err == ""


def test_a_level_silences_it(capsys, logger) -> None:
    logger.setLevel(logging.ERROR)
    train({**MISSPELT, "ops": ["nrom"]})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("first", ["logging.getLogger('telltale').addHandler(logging.NullHandler())", ""])
def test_a_logger_that_was_set_up_before_stays_as_it_is(first: str) -> None:
    code = f"import logging, telltale\n{first}\ntelltale.log({{'loss': 1.0}})"
    if first:
        code = f"import logging\n{first}\nimport telltale\ntelltale.log({{'loss': 1.0}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ("" if first else "telltale: log() was called before watch(); the values are not kept\n")


def test_a_standard_error_that_is_gone_ends_no_training(monkeypatch, logger) -> None:
    class Closed:
        def write(self, _text: str) -> int:
            raise ValueError("I/O operation on closed file")

        def flush(self) -> None:
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(sys, "stderr", Closed())
    assert train(MISSPELT).closed == ["finished"]
