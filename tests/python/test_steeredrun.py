# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings of two ranks that a real server steers, by `telltale config`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from steeredrun import SteeredRun

WEIGHTS = {"dynamic_on": True, "wg_distribution": True, "param_distribution": True}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[SteeredRun]:
    made = SteeredRun(tmp_path)
    yield made
    made.close()


def applied(said: Any) -> list[str]:
    return [rank["status"] for rank in said["ranks"]]


def test_what_is_pushed_is_collected_from_the_announced_step_on(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(20)
    code, said = run.push(WEIGHTS)
    assert code == 0 and applied(said) == ["applied", "applied"], said
    began = {rank["rank"]: rank["step"] for rank in said["ranks"]}
    time_on = {rank: len(run.steps("grad_reduced", rank)) for rank in (0, 1)}
    run.wait_for_steps(max(time_on.values()) + 20)
    code, off = run.config("set", "dynamic_on=false")
    assert code == 0 and applied(off) == ["applied", "applied"], off
    ended = {rank["rank"]: rank["step"] for rank in off["ranks"]}
    run.stop()
    assert run.server.stop() == 0
    # Those who were past the step took a later one, and said so; the others took the one that was announced.
    assert min(began.values()) >= said["apply_at_step"] or 0 < min(began.values())
    for rank in (0, 1):
        assert run.steps("param_origin", rank) == list(range(began[rank], ended[rank]))
        assert run.steps("grad_reduced", rank) == list(range(0, ended[rank]))
    code, history = run.config("history")
    assert code == 0 and [revision["rev"] for revision in history] == [1, 2]
    assert [change["pointer"] for change in history[0]["changes"]] == ["/param_distribution"]
    assert [change["pointer"] for change in history[1]["changes"]] == ["/dynamic_on"]


def test_a_rank_that_forbids_it_keeps_what_it_runs_and_the_others_apply(run: SteeredRun) -> None:
    run.start(0)
    run.start(1, TELLTALE_REMOTE_CONFIG="off")
    run.wait_for_steps(10)
    code, said = run.push(WEIGHTS)
    assert code == 1 and applied(said) == ["applied", "refused"], said
    assert "TELLTALE_REMOTE_CONFIG" in said["ranks"][1]["reason"]
    run.wait_for_steps(1, "param_origin", ranks=[0])
    run.stop()
    assert run.steps("param_origin", 0) and not run.steps("param_origin", 1)


def test_fields_are_changed_on_top_of_what_runs_not_of_what_was_refused(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(5)
    _, began = run.config("show")
    code, said = run.config("set", 'format=["csv"]')
    assert code == 1 and applied(said) == ["refused", "refused"], said
    code, shown = run.config("show")
    assert code == 0 and shown["rev"] == 1 and shown["config"] == began["config"], shown
    assert "the ranks go on with what they ran:\n" in run.tell("config show")[1]
    code, said = run.config("set", "step_interval=2")
    assert code == 0 and applied(said) == ["applied", "applied"], said
    code, shown = run.config("show")
    assert shown["config"] == began["config"] | {"step_interval": 2}, shown
    run.stop()
    code, history = run.config("history")
    assert [change["pointer"] for change in history[0]["changes"]] == ["/format"], history
    assert [change["pointer"] for change in history[1]["changes"]] == ["/step_interval"], history


def test_a_rank_that_was_away_comes_back_into_the_newest_revision(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(10)
    run.kill(1)
    run.wait_for_steps(40)
    code, said = run.push(WEIGHTS)
    assert said["rev"] == 1 and said["ranks"][0]["status"] == "applied", said
    run.start(1)
    run.wait("runs_rev", rank0=1, rank1=1)
    run.stop()


def test_a_server_that_is_killed_leaves_every_rank_on_one_revision(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(10)
    _, said = run.push(WEIGHTS, "--wait", "0")  # offered at most
    run.server.kill()
    assert said["rev"] == 1
    run.server.start()
    run.wait("runs_rev", rank0=1, rank1=1)
    run.wait_for_steps(1, "param_origin")
    run.stop()
    assert run.server.stop() == 0
    for rank in (0, 1):
        steps = run.steps("param_origin", rank)
        assert steps == list(range(steps[0], steps[-1] + 1)) and steps[-1] == run.steps("grad_reduced", rank)[-1]


def test_notes_are_written_beside_the_server_that_has_the_run(run: SteeredRun) -> None:
    run.start(0)
    run.wait_for_steps(6)
    assert run.tell("note", "node 7 came back", "--step", "2:4") == (0, "training: noted at steps 2 to 4\n")
    [note] = [entry for entry in run.log() if entry["kind"] == "note"]
    assert (note["step"], note["text"]) == (2, "node 7 came back (to step 4)")
    assert run.tell("note", "node 8 did", "--edit", str(note["id"]))[0] == 0
    assert run.tell("note", " ", "--step", "2")[0] == 2
    assert run.tell("note", "later", "--edit", "123456")[0] == 2
    run.stop()
    assert run.tell("note", "over", "--step", "5")[0] == 0  # of a run that nobody records any more
    assert run.server.stop() == 0
    assert [entry["text"] for entry in run.log() if entry["kind"] == "note"] == ["node 8 did (to step 4)", "over"]
