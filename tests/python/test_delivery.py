# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever happens to the server, the training ends in the same bits and every sample is accounted for."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Server, result, start_training, wait_for_step
from smallrun import Run
from telltale.sinks import stream

STEPS = 40


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        os.kill(running.process.pid, signal.SIGCONT)
        running.kill()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Weights of the training without an agent."""
    return result(start_training(tmp_path_factory.mktemp("bare"), STEPS, WATCH="0"))["weights"]


def balanced(counters: dict[str, int]) -> bool:
    return counters["produced"] == counters["acked"] + counters["dropped"] + counters["in_flight"]


def assert_stored_once(server: Server) -> None:
    """Every series has every step once."""
    assert server.stop() == 0
    assert server.inspect()["damage"] == []
    for name in ("0.weight", "4.bias"):
        series = server.show(name)
        kinds = {entry["kind"] for entry in series}
        assert {"grad_unreduced", "grad_reduced", "param_origin", "param_updated", "exp_avg", "exp_avg_sq"} <= kinds
        for entry in series:
            first = 1 if entry["kind"].startswith("exp_avg") else 0
            assert [value["step"] for value in entry["values"]] == list(range(first, STEPS)), entry["kind"]


def test_with_the_server_up_everything_is_stored(server: Server, tmp_path: Path, bare: str) -> None:
    done = result(start_training(tmp_path, STEPS, TELLTALE_JOIN=server.join))
    assert done["weights"] == bare
    assert done["counters"]["produced"] == done["counters"]["acked"] > 0
    assert done["counters"]["dropped"] == 0
    assert_stored_once(server)


def test_with_the_server_down_the_data_waits_in_the_spool(tmp_path: Path, bare: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    join = f"telltale://127.0.0.1:{port}#token=" + "a" * 43
    done = result(start_training(tmp_path, STEPS, TELLTALE_JOIN=join, FLUSH="0.5"))
    assert done["weights"] == bare
    assert balanced(done["counters"]) and done["counters"]["acked"] == 0
    assert done["counters"]["in_flight"] == done["counters"]["produced"] > 0
    assert sum(f.stat().st_size for f in (tmp_path / "spool").rglob("*") if f.is_file()) > 1000


def test_a_server_that_hangs_for_a_while_loses_nothing(server: Server, tmp_path: Path, bare: str) -> None:
    training = start_training(tmp_path, STEPS, TELLTALE_JOIN=server.join, PAUSE="0.02")
    wait_for_step(training, 5)
    os.kill(server.process.pid, signal.SIGSTOP)
    wait_for_step(training, 25)
    os.kill(server.process.pid, signal.SIGCONT)
    done = result(training)
    assert done["weights"] == bare
    assert done["counters"]["produced"] == done["counters"]["acked"]
    assert_stored_once(server)


def test_a_server_that_is_killed_and_comes_back_has_everything_once(server: Server, tmp_path: Path, bare: str) -> None:
    training = start_training(tmp_path, STEPS, TELLTALE_JOIN=server.join, PAUSE="0.03")
    for step in (5, 15, 25):
        wait_for_step(training, step)
        server.kill()
        server.start()
    done = result(training)
    assert done["weights"] == bare
    assert done["counters"]["produced"] == done["counters"]["acked"]
    assert done["counters"]["dropped"] == 0
    assert_stored_once(server)


def test_a_full_disk_is_counted_and_training_goes_on(tmp_path: Path, bare: str) -> None:
    done = result(start_training(tmp_path, STEPS, TELLTALE_MODE="offline", SMALLEST_FILE="8192", FLUSH="0.5"))
    assert done["weights"] == bare
    assert balanced(done["counters"])
    assert "samples did not reach the dashboard" in done["stderr"]


@pytest.mark.parametrize("has_spool", [True, False])
def test_samples_are_said_to_be_kept_only_where_they_are(tmp_path: Path, has_spool: bool) -> None:
    spool = tmp_path / "spool"
    if not has_spool:
        spool.write_text("a file where the folder should be")
    # Port 9 of loopback: nobody listens there.
    training = start_training(tmp_path, 5, TELLTALE_JOIN="telltale://127.0.0.1:9#token=" + "0" * 64, FLUSH="1")
    _, said = training.communicate(timeout=120)
    assert training.returncode == 0 and "did not reach the dashboard" in said, said
    assert ("they are kept in the spool" in said) == has_spool, said
    assert bool(list(spool.rglob("*.seg"))) == has_spool


def _closed(agent: dict[str, Any]) -> None:
    """A training of a few steps, in this process."""
    run = Run({"wg_distribution": True, "format": "stream"}, agent=agent)
    for _ in range(5):
        run.step()
    run.monitor.close()


def test_the_advice_at_exit_names_the_folder_that_the_spool_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stream, "_CLOSE_SECONDS", 0.2)
    monkeypatch.delenv("TELLTALE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "my state"))
    join = "telltale://127.0.0.1:9#token=" + "0" * 64
    own = tmp_path / "own"
    for options, folder in (({}, tmp_path / "my state/telltale/spool"), ({"spool_dir": str(own)}, own)):
        _closed({"join": join, **options})
        assert f"`telltale import {shlex.quote(str(folder))}`" in capfd.readouterr().err
        assert list(folder.rglob("*.seg"))


def test_a_refused_token_is_told_once_and_when_it_happens(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    join = server.join.split("#")[0] + "#token=" + "0" * 64
    run = Run({"wg_distribution": True, "format": "stream"}, agent={"join": join})
    said = ""
    deadline = time.monotonic() + 30
    while "refuses the token" not in said and time.monotonic() < deadline:
        run.step()
        said += capfd.readouterr().err
        time.sleep(0.01)
    assert "refuses the token" in said
    run.monitor.close()
    at_end = capfd.readouterr().err
    assert (said + at_end).count("telltale: the server at") == 1, said + at_end


def test_a_dashboard_that_refuses_the_token_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stream, "_CLOSE_SECONDS", 60.0)
    began = time.monotonic()
    _closed({"join": server.join.split("#")[0] + "#token=" + "0" * 64})
    assert time.monotonic() - began < 30
    said = capfd.readouterr().err
    assert "refuses the token" in said and "they are kept in the spool" in said
