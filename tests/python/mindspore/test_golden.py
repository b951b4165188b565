# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of msprobe 26.2's TrainerMon for MindSpore, recorded on the same net (tests/data/mindspore), against ours:
names, files, columns, steps, rows, and values within the rounding.
Where the original is wrong, ours deviates: DEVIATIONS, which the pages in capture/agent/python/documents explain.
"""

from __future__ import annotations

import csv
import importlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import RecordingSink
from telltale.mindspore import TrainerMon
from tinynet import adamw, made, train

RECORDED = Path(__file__).resolve().parents[2] / "data" / "mindspore"
PAGES = Path(__file__).resolve().parents[3] / "capture" / "agent" / "python" / "documents"
# By the rows of the pages, what proves that ours deviates, and how.
DEVIATIONS = {
    "Parameter.main_grad": "test_what_the_original_recorded",
    "exp_avg_{step}.csv, exp_avg_sq_{step}.csv": "test_moments_in_rows_that_are_whole",
    "DYNAMIC_MONITOR": "test_an_edit_is_in_force_from_the_next_step",
    "print_struct": "test_the_structure_is_the_same_and_training_goes_on",
    "stack_info": "test_stacks_have_the_lines_of_the_program",
    "targets": "test_what_the_original_recorded",
    "actv_grad": "test_gradients_of_activations_stand_in_the_order_in_which_they_arrive",
    "mindspore.nn.Adam, Momentum and other optimizers under @jit": "test_bits.test_every_optimizer_that_runs_here",
    "mint.norm": "test_quantities.test_statistics_by_every_way_that_reads",
    "attention_hook, moe_router_weight_hook": "test_an_attention_hook_on_a_cell_of_one_input_is_said",
}
Rows = dict[tuple[str, str], dict[str, str]]


def rows_in(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["name"], row.get("micro_step", "")): row for row in rows}
    assert len(found) == len(rows)
    return found


def files_in(folder: Path) -> dict[str, Rows]:
    paths = [path for path in folder.rglob("*.csv") if not path.name.startswith(("scalar", "stack_info"))]
    return {path.name: rows_in(path) for path in paths}


def ours(tmp_path: Path, case: str, steps: int = 4, micro: int = 1, recompute: bool = False) -> Path:
    """What a training under the recorded case's config writes."""
    config = tmp_path / "config.json"
    config.write_text((RECORDED / case / "config.json").read_text("utf-8"))
    net = made(recompute=recompute)
    optimizer = adamw(net)
    monitor = TrainerMon(str(config))
    monitor.set_monitor(net, optimizer, grad_acc_steps=micro)

    def before(step: int) -> None:
        if case == "dynamic" and step == 3:
            config.write_text(json.dumps({**json.loads(config.read_text("utf-8")), "dynamic_on": True}))
            assert monitor.config_watch is not None and monitor.config_watch.look_now()

    train(net, optimizer, steps, micro, before)
    monitor.close()
    return tmp_path / "monitor_output"


def hold(theirs: Rows, mine: Rows, digits: int, where: str) -> None:
    """Every recorded row is there with the same columns and values."""
    assert set(theirs) <= set(mine), where
    for key, row in theirs.items():
        assert list(row) == list(mine[key]), where
        for column, text in row.items():
            other = mine[key][column]
            if text == other:
                continue
            a, b = float(text), float(other)
            # Sums of float32 in another order (in a mean much may have canceled out), and what the original cut off.
            far = 1e-5 if column == "mean" else 2e-6
            near = math.isclose(a, b, rel_tol=far, abs_tol=max(0.51 * 10.0**-digits, 1e-8))
            assert near, f"{where} {key} {column}: {text} recorded, {other} now"


CASES: dict[str, dict[str, Any]] = {
    "wg_setgrad": {},
    "wg_mbs4": {"micro": 4},
    "actv_all": {},
    "actv_target": {"micro": 2},
    "actv_recompute": {"recompute": True},
    "param": {"steps": 6},
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_original_recorded(case: str, tmp_path: Path) -> None:
    theirs, mine = files_in(RECORDED / case), files_in(ours(tmp_path, case, **CASES[case]))
    assert theirs and set(theirs) == set(mine)
    digits = json.loads((RECORDED / case / "config.json").read_text("utf-8")).get("ndigits", 6)
    for name, rows in theirs.items():
        hold(rows, mine[name], digits, f"{case}/{name}")
        more = {key[0] for key in set(mine[name]) - set(rows)}
        assert all(row.startswith(("blocks.0.", "blocks.1.attn.")) for row in more), more  # below the targets


def test_the_pages_list_every_deviation() -> None:
    sys.path.insert(0, str(PAGES))
    try:
        pages = importlib.import_module("rows").read_pages()
    finally:
        sys.path.remove(str(PAGES))
    listed = [
        [row.name for row in chapter.rows]
        for page in pages
        for chapter in page.chapters
        if chapter.english == "Where msprobe 26.2 for MindSpore is wrong"
    ]
    assert len(listed) == 3 and all(names == list(DEVIATIONS) for names in listed), listed
    for proof in DEVIATIONS.values():
        module, _, name = proof.rpartition(".")
        assert callable(getattr(importlib.import_module(module or __name__), name)), proof


def test_gradients_of_activations_stand_in_the_order_in_which_they_arrive(tmp_path: Path) -> None:
    mine = list(files_in(ours(tmp_path, "actv_all", steps=1))["actv_grad_0-0.csv"])
    theirs = list(rows_in(RECORDED / "actv_all" / "actv_grad_0-0.csv"))
    assert mine != theirs and sorted(mine) == sorted(theirs)


def test_an_attention_hook_on_a_cell_of_one_input_is_said() -> None:
    net = made()
    optimizer, sink = adamw(net), RecordingSink()
    config = {"recording_l2_features": True, "l2_targets": {"attention_hook": ["blocks.0.fc1"]}}
    monitor = TrainerMon(config, sinks=[sink])
    monitor.set_monitor(net, optimizer)
    train(net, optimizer, 1)
    monitor.close()
    assert any("blocks.0.fc1" in text for text in sink.sentences()), sink.sentences()


def test_unreduced_rows_stand_in_the_order_of_backward(tmp_path: Path) -> None:
    mine = files_in(ours(tmp_path, "wg_setgrad", steps=1))["grad_unreduced_0-0.csv"]
    assert list(mine) == list(rows_in(RECORDED / "wg_setgrad" / "grad_unreduced_0-0.csv"))


def test_moments_in_rows_that_are_whole(tmp_path: Path) -> None:
    out = files_in(ours(tmp_path, "mv_expadamw"))
    theirs = {path.name: path.read_text("utf-8").splitlines() for path in (RECORDED / "mv_expadamw").glob("*.csv")}
    assert set(out) == set(theirs)
    for name, lines in theirs.items():
        kind = name.rpartition("_")[0]
        compared = 0
        for line in csv.reader(lines[1:]):
            own, parameter = line[0].split(".", 1)
            if own != kind:
                continue  # max_exp_avg_sq
            mine = out[name][parameter, ""]
            values = [line[1], *line[3:-2]]  # the step stands behind the first value
            columns = ("norm", "mean", "min", "max", "nans", "zeros")
            for column, text in zip(columns, values):
                assert math.isclose(float(text), float(mine[column]), rel_tol=1e-5, abs_tol=1e-9), (name, parameter)
            compared += 1
        assert compared == len(out[name])


def test_an_edit_is_in_force_from_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    out = files_in(ours(tmp_path, "dynamic", steps=8))
    theirs = {path.name for path in (RECORDED / "dynamic").glob("*.csv")}
    activations = {f"{kind}_{step}-{step}.csv" for kind in ("actv", "actv_grad") for step in (4, 5)}
    assert set(out) == theirs | activations
    for name in theirs:
        if name.startswith("grad"):
            hold(rows_in(RECORDED / "dynamic" / name), out[name], 6, name)


def test_the_structure_is_the_same_and_training_goes_on(tmp_path: Path) -> None:
    out = ours(tmp_path, "struct")
    mine = json.loads((out / "module_struct" / "rank0" / "module_struct.json").read_text("utf-8"))
    assert mine == json.loads((RECORDED / "struct" / "module_struct.json").read_text("utf-8"))


def test_stacks_have_the_lines_of_the_program(tmp_path: Path) -> None:
    out = ours(tmp_path, "stack")
    (path,) = out.rglob("stack_info.csv")
    with path.open(encoding="utf-8", newline="") as file:
        stacks = {row["module_name"]: row["stack_info"] for row in csv.DictReader(file)}
    assert "x = self.emb(ids)" in stacks["0:emb"] and "tinynet.py" in stacks["0:blocks.0.attn.q"]
    assert not any("/telltale/" in text or "/mindspore/nn/" in text for text in stacks.values())
    for name in ("actv_1-1.csv", "actv_grad_1-1.csv"):
        hold(rows_in(RECORDED / "stack" / name), files_in(out)[name], 6, name)
