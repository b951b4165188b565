# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale_order: what is proven to be news for its tensor, and when in its step a tensor came to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alertfiles import alert, analysed, written
from telltale.compat.msprobe.alertplace import Places, parse
from telltale.compat.msprobe.alertproof import BREAKOUT, AlertProof
from telltale.compat.msprobe.anomaly_processor import OUR_KEY
from telltale.compat.msprobe.anomalyentries import Entry
from telltale.detectors import WARM_UP


def in_order(folder: Path, *alerts: dict[str, Any]) -> list[str]:
    """The tags of one step in telltale_order; the step before it makes the histories known."""
    return [entry["tag_name"] for entry in analysed(written(folder, *alerts), "-k", "99")[OUR_KEY]]


def test_a_step_begins_with_what_the_update_before_left_and_ends_with_its_own(tmp_path: Path) -> None:
    kinds = ["param_updated", "mg_direction", "post_grad", "actv_grad", "actv", "param_origin", "exp_avg", "new_kind"]
    found = in_order(tmp_path, *[alert(f"0:m.output/rank0/{kind}", 5, call) for call, kind in enumerate(kinds)])
    assert [tag.rpartition("/")[2] for tag in found] == [*reversed(kinds[:-1]), kinds[-1]]


def test_what_enters_a_module_goes_before_what_is_inside(tmp_path: Path) -> None:
    forward = ["a.b.input", "a.b.output", "a.input", "a.output", "c.input", "c.output"]
    names = [(f"0:{name}:0/rank0/actv", call) for call, name in enumerate(forward)]
    names += [(f"0:{name}:0/rank0/actv_grad", 6 + call) for call, name in enumerate(forward[4:] + forward[:4])]
    found = in_order(tmp_path, *[alert(tag, 5, call) for tag, call in names])
    assert [(parse(tag).kind, ".".join([*parse(tag).module, parse(tag).port])) for tag in found] == [
        *[("actv", name) for name in ["a.input", "a.b.input", "a.b.output", "a.output", "c.input", "c.output"]],
        *[("actv_grad", name) for name in ["c.output", "c.input", "a.output", "a.b.output", "a.b.input", "a.input"]],
    ]


@pytest.mark.parametrize("kind", ["acc_grad", "pre_grad", "post_grad"])
def test_gradients_that_are_counted_along_the_model_are_turned_round(kind: str, tmp_path: Path) -> None:
    names = [f"0:layers.{i}.weight/rank0/{kind}" for i in (2, 9, 10, 11)]
    assert in_order(tmp_path / "listed", *[alert(name, 5, i) for i, name in enumerate(names)]) == names[::-1]
    if kind != "post_grad":
        counted = [alert(name, 5, i) for i, name in enumerate(names[::-1])]
        assert in_order(tmp_path / "counted", *counted) == names[::-1]


def test_backward_goes_from_the_last_pipeline_stage_to_the_first(tmp_path: Path) -> None:
    for rank in range(2):
        entries = [
            alert(f"{vpp}:m.output/rank{rank}/{kind}", 5, rank=rank, pp_stage=rank, vpp_stage=vpp)
            for vpp in range(2)
            for kind in ("actv", "actv_grad")
        ]
        written(tmp_path, *entries, rank=rank)
    found = [(entry["vpp_stage"], entry["pp_stage"]) for entry in analysed(tmp_path, "-k", "99")[OUR_KEY]]
    assert found == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1), (1, 0), (0, 1), (0, 0)]


def test_of_ranks_that_tie_the_lower_goes_first(tmp_path: Path) -> None:
    for rank in (10, 9):
        written(tmp_path, alert(f"0:m.output/rank{rank}/actv", 5, rank=rank), rank=rank)
    document = analysed(tmp_path)
    assert [entry["rank"] for entry in document[OUR_KEY]] == [9, 10]
    assert list(document)[:2] == [f"0:m.output/rank{rank}/actv_step_5_call_0" for rank in (9, 10)]


def test_what_has_no_call_id_goes_with_its_module(tmp_path: Path) -> None:
    calls = {
        "a.b.input:0/rank0/actv": 0,
        "a.b.output:0/rank0/actv": 1,
        "a.c.input:0/rank0/actv": 2,
        "a.b.linear/rank0/sr": -1,
    }
    found = in_order(tmp_path, *[alert("0:" + name, 5, call) for name, call in calls.items()])
    assert [tag[2:] for tag in found] == [list(calls)[i] for i in (0, 3, 1, 2)]


def test_names_of_older_versions_and_without_a_module_have_a_place() -> None:
    assert parse("0:1.attn.core_0/rank0/input_grad") == (("1", "attn", "core_0"), "input_grad", -1, "input_grad")
    assert parse("0:.input:3/rank0/actv") == ((), "input", 3, "actv")
    assert parse("all_reduce/rank0/post_0") == ((), "all_reduce", -1, "post_0")
    entries = [Entry(tag_name=tag, call_id=-1) for tag in ("", "/", "::", "0:a.b", "0:x.linear/rank0/sr")]
    assert len(Places().of_step(entries)) == 5


def test_msprobes_entries_with_a_micro_step_in_the_tag_alone_follow_it(tmp_path: Path) -> None:
    names = [
        f"0:m.{port}:{micro}/rank0/{kind}"
        for micro in (0, 1, 10)
        for port, kind in (("input", "actv"), ("input", "actv_grad"))
    ]
    assert in_order(tmp_path, *[alert(name, 5, 6 - i) for i, name in enumerate(names)]) == names


def verdicts(*alerts: dict[str, Any]) -> list[bool]:
    proof = AlertProof()
    return [proof.judge(Entry(**entry)).proven for entry in alerts]


def test_a_value_that_stops_being_finite_is_news_once() -> None:
    assert verdicts(alert("a", 1), alert("a", 2), alert("b", 2, mean="nan"), alert("b", 9)) == [
        True,
        False,
        False,
        False,
    ]
    assert verdicts(alert("a", 1, value="inf"), alert("b", 1, value="-inf", mean="inf")) == [True, False]
    assert verdicts(
        alert("a", 1, value="2", mean="0.0", op="nans"), alert("b", 1, value="2", mean="2.0", op="nans")
    ) == [
        True,
        False,
    ]


def test_a_threshold_is_passed_once_and_not_by_the_first_sample() -> None:
    assert verdicts(alert("a", 0, value="2e10", mean="2e10"), alert("a", 1, value="3e10", mean="2e10")) == [
        False,
        False,
    ]
    assert verdicts(alert("a", 4, value="-2e10", mean="1e3"), alert("a", 5, value="3e10", mean="2e8")) == [True, False]


@pytest.mark.parametrize("spacing", [1, 100])
def test_turbulence_is_news_after_a_long_quiet_history_alone(spacing: int) -> None:
    def noise(step: int, tag: str = "noise", value: str = "2.0") -> dict[str, Any]:
        return alert(tag, step * spacing, value=value, rule="AnomalyTurbulence", op="mean")

    quiet = [noise(0), noise(1)]
    loud = str(2.0 * BREAKOUT * 1.01)
    assert verdicts(*quiet, noise(WARM_UP - 1, "a", loud)) == [False, False, False]
    assert verdicts(*quiet, noise(WARM_UP, "a", loud), noise(WARM_UP, "b", "-" + loud))[2:] == [True, True]
    assert verdicts(*quiet, noise(WARM_UP, "a", str(2.0 * BREAKOUT * 0.99)))[2:] == [False]
    assert verdicts(*quiet, noise(WARM_UP, "noise", loud), noise(WARM_UP + 1, "noise", loud))[2:] == [True, False]
    assert verdicts(*quiet, noise(2, "a", "1e9"), noise(WARM_UP, "a", loud))[2:] == [False, False]
    assert verdicts(*quiet, noise(WARM_UP, "a", "0.0"))[2:] == [True], "the mended rule reports a fall"
    assert verdicts(noise(0), noise(WARM_UP * 50, "noise"))[1:] == [False]
    from_zero = alert("a", 1 * spacing, value="1.0", mean="0.0", rule="AnomalyTurbulence", op="mean")
    assert verdicts(*quiet, from_zero, noise(WARM_UP, "a", loud))[2:] == [False, True]


def test_a_message_with_several_sentences_is_proven_by_any() -> None:
    both = alert("a", 3, value="2.0", rule="AnomalyTurbulence")
    both["message"] += " " + alert("a", 3)["message"]
    assert verdicts(both) == [True]


def test_messages_without_numbers_are_proven_by_silence_alone() -> None:
    def old(tag: str, step: int, rule: str) -> dict[str, Any]:
        return {
            **alert(tag, step),
            "message": f"Rule {rule} reports anomaly signal in ('{tag}', 'min') at step {step}.",
        }

    entries = [
        old("a", 1, "AnomalyNan"),
        old("b", 2, "AnomalyNan"),
        old("b", 3, "AnomalyNan"),
        old("c", 3, "AnomalyTurbulence"),
    ]
    assert verdicts(*entries, {**alert("d", 4), "message": "what?"}) == [False, True, False, False, False]
