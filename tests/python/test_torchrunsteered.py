# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of four ranks under torchrun that a real server steers, by `telltale config` and by its config.json."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from steeredrun import SteeredRun

sys.path.append(str(Path(__file__).resolve().parents[1] / "chaos"))
from network import Relay  # noqa: E402

RANKS = range(4)
TEXT = '{\n  // what we watch\n  "dynamic_on": true,\n  "wg_distribution": true, // gradients\n}\n'


@pytest.fixture
def run(tmp_path: Path) -> Iterator[SteeredRun]:
    made = SteeredRun(tmp_path)
    (tmp_path / "config.json").write_text(TEXT)
    yield made
    made.close()


def begin(run: SteeredRun, of_rank: dict[int, dict[str, str]] | None = None, **environment: str) -> None:
    run.torchrun(len(RANKS), of_rank, CONFIG=str(run.folder / "config.json"), **environment)
    run.wait_for_steps(10, ranks=RANKS)


def in_place(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def step_of(answer: tuple[int, Any]) -> int:
    """From which on all ranks run it: the same one."""
    code, said = answer
    assert code == 0 and [rank["status"] for rank in said["ranks"]] == ["applied"] * len(RANKS), said
    [step] = {rank["step"] for rank in said["ranks"]}
    assert step >= said["apply_at_step"]
    return step


def test_ranks_of_a_job_change_together_and_a_restart_goes_on_with_what_was_chosen(run: SteeredRun) -> None:
    begin(run)
    on = step_of(run.config("set", "param_distribution=true"))
    run.wait_for_steps(10, "param_origin", RANKS)
    edited = step_of(run.config("set", "mv_distribution=true", "param_distribution=false"))
    run.wait_for_steps(10, "exp_avg", RANKS)
    off = step_of(run.config("set", "dynamic_on=false"))
    some = step_of(run.config("set", "dynamic_on=true", "collect_times=5"))
    run.wait("reason", **{f"rank{rank}": f"from step {some + 5} on: collect_times is reached" for rank in RANKS})
    run.stop()
    for rank in RANKS:
        assert run.steps("param_origin", rank) == list(range(on, edited))
        assert run.steps("exp_avg", rank) == [*range(edited, off), *range(some, some + 5)]
        assert run.steps("grad_reduced", rank) == [*range(off), *range(some, some + 5)]
    text = (run.folder / "config.json").read_text()
    assert "// what we watch" in text and '"dynamic_on": false' in text and '"collect_times": 5' in text
    # The file alone says it to a job of another name.
    (run.folder / "config.json").write_text(text.replace('"dynamic_on": false', '"dynamic_on": true'))
    run.server.stop()
    run.server.folder = run.folder / "other"
    run.server.start()
    run.torchrun(len(RANKS), CONFIG=str(run.folder / "config.json"), TELLTALE_RUN_ID="again")
    run.wait_for_steps(4, "exp_avg", RANKS)
    code, shown = run.config("show", "--rank", "3")
    assert code == 0 and shown["rev"] == 0
    assert shown["config"]["mv_distribution"] and shown["config"]["collect_times"] == 5
    run.stop()
    assert [len(run.steps("grad_reduced", rank)) for rank in RANKS] == [5] * len(RANKS)


def test_one_rank_forbids_it_and_one_is_away(run: SteeredRun) -> None:
    with contextlib.ExitStack() as stack:
        relay = Relay(stack, run.server.join)
        begin(run, {2: {"TELLTALE_REMOTE_CONFIG": "off"}, 3: {"TELLTALE_JOIN": relay.join}})
        relay.reset()
        code, said = run.config("set", "param_distribution=true", "--wait", "10")
        assert code == 1 and [rank["status"] for rank in said["ranks"]] == ["applied", "applied", "refused", "lost"], (
            said
        )
        assert "TELLTALE_REMOTE_CONFIG" in said["ranks"][2]["reason"]
        relay.heal()
        run.wait("runs_rev", rank0=1, rank1=1, rank2=0, rank3=1)
        run.wait_for_steps(5, "param_origin", [0, 1, 3])
        run.stop()
    began = [run.steps("param_origin", rank)[:1] for rank in RANKS]
    assert began[0] == began[1] and not began[2] and began[3] > began[0]


@pytest.mark.parametrize("dynamic", ["", "True"])
def test_an_edit_of_the_jobs_file_becomes_a_revision_for_all_ranks(run: SteeredRun, dynamic: str) -> None:
    begin(run, DYNAMIC_MONITOR=dynamic)
    # What some ranks were asked alone is written to the file that all read: no edit.
    code, said = run.config("set", "ndigits=3", "--ranks", "0,1")
    assert code == 0, said
    path = run.folder / "config.json"
    run.wait_until(lambda: '"ndigits": 3' in path.read_text())
    more = 'true, // gradients\n  "param_distribution": true,'
    in_place(path, path.read_text().replace("true, // gradients", more))
    run.wait_for_steps(5, "param_origin", RANKS)
    run.wait("status", **{f"rank{rank}": "applied" for rank in RANKS})
    # What no dashboard may change, each takes from the file.
    in_place(path, path.read_text().replace(more, more + '\n  "telltale": {"stop_after_struct": true},'))
    for rank in RANKS:
        run.wait_until(lambda: run.config("show", "--rank", str(rank))[1]["config"].get("telltale"))  # noqa: B023
    run.wait("status", **{f"rank{rank}": "applied" for rank in RANKS})
    run.stop()
    code, history = run.config("history")
    assert [revision["rev"] for revision in history] == [1, 2, 3]
    assert history[1]["author"].startswith("config.json on ")
    assert [change["pointer"] for change in history[1]["changes"]] == ["/param_distribution"]
    assert "// gradients" in path.read_text() and history[1]["config"]["ndigits"] == 3
