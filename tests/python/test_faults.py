# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fault of the demo training really strikes what it says, at the step that it says and not before."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks
from serving import TELLTALE
from telltale import configfile
from telltale.__main__ import main
from telltale.demo import fault
from telltale.demo.faultkinds import KINDS
from telltale.demo.options import parse
from telltale.demo.tasks import make_task
from watchedfault import SMALL, Watched, changed, clean, compared, elements, not_finite, ratio

sys.path.append(str(Path(__file__).resolve().parents[1] / "judge"))

import record  # noqa: E402

SHORT = ("--steps", "5")
MOE = ("--model", "moe", *SHORT)
CNN = ("--model", "cnn", *SHORT)
AMP = ("--amp", *SHORT)
OF_ATTENTION = ("query-growth", "entropy-collapse", "logit-growth")
AT = 3


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_every_kind_of_fault_is_tried_here() -> None:
    text = Path(__file__).read_text("utf-8")
    assert not [name for name in KINDS if not re.search(rf'"{name}["@]', text)]


def strength_of(name: str) -> float:
    """How much of it there is, as far as that is a number."""
    kind = KINDS[name]
    known = {"entropy-collapse": fault._SCORE_GROWTH, "logit-growth": fault._LOGIT_GROWTH}
    known |= {"lr": fault._RATE_FACTOR, "lull": fault._LULL}
    if name in ("spike", "grad-spike"):
        return float(kind.act(torch.ones(2))[0])
    if name == "query-growth":
        grown = torch.nn.Module()
        grown.qkv = torch.nn.Linear(1, 3)
        with torch.no_grad():
            before = float(grown.qkv.weight[0])
            kind.act(grown)
            return round(float(grown.qkv.weight[0]) / before, 6)
    return known.get(name, 0)


def test_the_other_demo_has_the_same_faults_as_far_as_it_has_what_they_take() -> None:
    table = (Path(record.ROOT) / "capture/agent/demo/faulttable.h").read_text("utf-8")
    rows = re.findall(r'^TELLTALE_FAULT\(\w+, "([\w-]+)", (\w+), \w+, "([\w.]*)", (\w+), ([\d.e-]+)\)', table, re.M)
    assert len(rows) == table.count("\nTELLTALE_FAULT(")
    theirs = {
        name: (where.lower(), usual, lasts == "true", float(strength)) for name, where, usual, lasts, strength in rows
    }
    ours = {
        name: (kind.where, kind.usual or ("attn" if name in OF_ATTENTION else ""),
               kind.is_lasting, strength_of(name))
        for name, kind in KINDS.items()
    }  # fmt: skip
    assert theirs == {name: ours[name] for name in theirs}
    # It trains one transformer alone, in float32; where replicas are what shows a fault, it still happens.
    lacks = {
        name
        for name, kind in KINDS.items()
        if kind.needs in ("ranks", "tp", "amp") or kind.advice == "; say --model moe"
    }
    assert set(KINDS) - set(theirs) == lacks | {"drop-reduce"}


def test_every_fault_of_the_other_demo_is_judged() -> None:
    table = (record.ROOT / "capture/agent/demo/faulttable.h").read_text("utf-8")
    known = set(re.findall(r'^TELLTALE_FAULT\(\w+, "([\w-]+)"', table, re.M))
    entries = [mine for entry in record.TABLE["scenarios"].values() if (mine := record.of_cpp(entry))]
    assert {re.search(r'"--fault", "([\w-]+)@', json.dumps(entry))[1] for entry in entries} == known - {"nan"}  # type: ignore[index]
    assert not any("blocks." in json.dumps(entry) for entry in entries)


@pytest.mark.parametrize(
    ("name", "module", "arguments"),
    [
        ("nan", "blocks.1.mlp.fc1", SHORT),
        ("inf", "blocks.0.attn.qkv", SHORT),
        ("nan", "stages.1.conv", CNN),
        ("inf", "blocks.0.mlp.experts.2.fc1", MOE),
    ],
)
def test_one_element_of_an_output_is_broken(name: str, module: str, arguments: tuple[str, ...]) -> None:
    before, after, broken = compared(f"{name}@{AT}:{module}", *arguments)
    assert not changed(before.weights, after.weights)
    [_], [value] = elements(before.outputs[module], after.outputs[module])
    assert math.isnan(value) if name == "nan" else value == math.inf
    order = list(after.outputs)  # as they ran
    assert min(changed(before.outputs, after.outputs), key=order.index) == module
    assert not not_finite(broken.steps[AT - 1].reduced) and not_finite(after.reduced)


def test_an_output_is_a_thousand_times_too_large_for_a_step_and_zero_for_good() -> None:
    before, after, broken = compared(f"spike@{AT}:blocks.1.mlp.fc1", *SHORT)
    ratio(before.outputs["blocks.1.mlp.fc1"], after.outputs["blocks.1.mlp.fc1"], 1000)
    assert broken.steps[AT + 1].outputs["blocks.1.mlp.fc1"].abs().max() < 10
    before, after, broken = compared(f"zero@{AT}:blocks.1.mlp", *SHORT)
    for step in (AT, AT + 1):
        assert not broken.steps[step].outputs["blocks.1.mlp"].any()
        assert not broken.steps[step].local["blocks.1.mlp.fc1.weight"].any()
    assert before.outputs["blocks.1.mlp"].any()


@pytest.mark.parametrize("arguments", [SHORT, AMP])
def test_the_exponents_top_bit_of_an_output_flips_and_the_training_survives(arguments: tuple[str, ...]) -> None:
    before, after, broken = compared(f"flip-output@{AT}:blocks.1.mlp.fc1", *arguments)
    was, is_now = before.outputs["blocks.1.mlp.fc1"], after.outputs["blocks.1.mlp.fc1"]
    differ = was != is_now
    assert differ.sum() == 1 and (was[differ] < 0).all()
    size = float(is_now[differ].double() / was[differ].double())
    assert size == pytest.approx(2.0**128 if was.dtype == torch.float32 else 2.0**16, rel=1e-3)
    assert not not_finite(broken.weights) and not not_finite(broken.steps[AT + 1].outputs)


def test_a_nan_in_the_backward_pass_alone() -> None:
    before, after, _ = compared(f"nan-backward@{AT}:blocks.1.mlp.fc2", *SHORT)
    assert not changed(before.outputs, after.outputs)
    assert not not_finite({"": after.output_grads["blocks.1.mlp.fc2"]}), "what comes in is as it was"
    bad = not_finite(after.output_grads)
    assert {"blocks.1.mlp.fc1", "blocks.0"} <= bad and "blocks.1" not in bad and "ln_f" not in bad
    assert "blocks.1.mlp.fc2.weight" in not_finite(after.local)


def test_a_nan_in_one_weight() -> None:
    before, after, _ = compared(f"nan-weight@{AT}:blocks.1.mlp.fc2", *SHORT)
    assert changed(before.weights, after.weights) == {"blocks.1.mlp.fc2.weight"}
    [_], [value] = elements(before.weights["blocks.1.mlp.fc2.weight"], after.weights["blocks.1.mlp.fc2.weight"])
    assert math.isnan(value)
    assert not not_finite({"": after.outputs["blocks.1.mlp.fc1"]}) and not_finite(after.outputs) >= {"blocks.1", "head"}


def test_a_frozen_module_no_longer_changes() -> None:
    _, after, broken = compared(f"freeze@{AT}:blocks.0.mlp", *SHORT)
    later = broken.steps[AT + 1]
    frozen = {name for name in later.weights if name.startswith("blocks.0.mlp.")}
    assert frozen and changed(after.weights, later.weights) == later.weights.keys() - frozen
    assert not frozen & after.reduced.keys() and frozen <= broken.steps[AT - 1].reduced.keys()


def test_queries_grow_by_two_percent_a_step() -> None:
    before, after, broken = compared(f"query-growth@{AT}:blocks.1.attn", *SHORT)
    name = "blocks.1.attn.qkv.weight"
    assert changed(before.weights, after.weights) == {name}
    ratio(before.weights[name][:16], after.weights[name][:16], 1.02)
    assert torch.equal(before.weights[name][16:], after.weights[name][16:])
    grown = broken.steps[AT + 1].weights[name][:16].norm() / clean(*SHORT).steps[AT + 1].weights[name][:16].norm()
    assert float(grown) == pytest.approx(1.02**2, rel=2e-3)


def test_scores_of_an_attention_grow() -> None:
    before, after, broken = compared(f"entropy-collapse@{AT}:blocks.0.attn", *SHORT)
    assert not changed(before.weights, after.weights)
    order = list(after.outputs)
    assert min(changed(before.outputs, after.outputs), key=order.index) == "blocks.0.attn.core"
    assert broken.fault.module == "blocks.0.attn.core"


def test_queries_and_keys_of_an_attention_grow() -> None:
    before, after, broken = compared(f"logit-growth@{AT}:blocks.0.attn", *SHORT)
    assert not changed(before.weights, after.weights)
    order = list(after.outputs)
    assert min(changed(before.outputs, after.outputs), key=order.index) == "blocks.0.attn.core"
    assert broken.fault._target.input_factor == pytest.approx(1.02**2)


def test_one_expert_gets_every_token() -> None:
    before, after, broken = compared(f"dead-experts@{AT}:blocks.0.mlp.router", *MOE)
    assert changed(before.weights, after.weights) == {"blocks.0.mlp.router.bias"}

    def tokens(step: int) -> list[int]:
        return [len(broken.steps[step].outputs[f"blocks.0.mlp.experts.{i}"]) for i in range(4)]

    assert tokens(AT) == tokens(AT + 1) == [512, 0, 0, 0]
    assert max(tokens(AT - 1)) < 512 and sum(tokens(AT - 1)) == 512


def test_a_learning_rate_is_ten_times_too_high() -> None:
    before, after, broken = compared(f"lr@{AT}", *SHORT)
    assert not changed(before.weights, after.weights) and not changed(before.clipped, after.clipped)
    name = "blocks.0.mlp.fc1.weight"
    clean_update = clean(*SHORT).steps[AT + 1].weights[name] - before.weights[name]
    update = broken.steps[AT + 1].weights[name] - after.weights[name]
    assert float(update.norm() / clean_update.norm()) == pytest.approx(10, rel=1e-3)


def test_gradients_are_tiny_until_a_normal_batch_comes() -> None:
    whole, broken = clean(*SHORT), Watched("--fault", f"lull@{AT}", *SHORT)
    name = "blocks.0.mlp.fc1.weight"
    ratio(whole.steps[0].local[name], broken.steps[0].local[name], 1e-3)
    sizes = [float(step.local[name].norm()) for step in broken.steps]
    assert max(sizes[:AT]) < 0.01 * min(sizes[AT:])
    assert not changed(whole.steps[0].outputs, broken.steps[0].outputs), "its loss and outputs are not tiny"


def test_a_batch_is_one_token() -> None:
    before, after, broken = compared(f"repeated-token@{AT}", *SHORT)
    assert not changed(before.weights, after.weights)
    assert torch.cat(after.batch).unique().numel() == 1
    assert all(torch.cat(broken.steps[step].batch).unique().numel() > 10 for step in (AT - 1, AT + 1))


def test_the_optimizer_forgets() -> None:
    before, after, broken = compared(f"reset-moments@{AT}", *SHORT)
    assert (before.moments, after.moments) == (len(before.weights), 0)
    assert broken.steps[AT + 1].moments == len(before.weights)
    assert not changed(before.weights, after.weights) and not changed(before.clipped, after.clipped)
    assert changed(clean(*SHORT).steps[AT + 1].weights, broken.steps[AT + 1].weights)


def test_a_loss_scale_too_high_makes_the_scaler_give_steps_up() -> None:
    arguments = ("--amp", "--steps", "30")
    before, after, broken = compared(f"loss-scale@{AT}", *arguments)
    assert (before.scale, after.scale) == (2.0**16, 2.0**36)
    assert not_finite(after.reduced) and not changed(after.weights, broken.steps[AT + 1].weights)
    scales = [step.scale for step in broken.steps]
    assert scales[AT + 1] == 2.0**35 and scales[-1] == scales[-2] < 2.0**30, "it comes down, and stays"
    assert changed(broken.steps[-1].weights, broken.weights) and not not_finite(broken.weights)
    assert not any(not_finite(step.reduced) for step in clean(*arguments).steps)


def test_a_training_goes_on_from_a_checkpoint_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    path = str(tmp_path / "checkpoint")
    for arguments in (("--steps", "6"), ("--steps", "6", "--model", "cnn"), ("--steps", "6", "--amp")):
        whole = Watched(*arguments, "--checkpoint", f"{path}@{AT}")
        later = Watched(*arguments, "--resume", path)
        assert len(later.steps) == 6 - AT
        assert not changed(whole.steps[AT].weights, later.steps[0].weights)
        assert later.steps[0].moments == whole.steps[AT].moments > 0
        assert not changed(whole.weights, later.weights)
    # A fault may strike at the step with which it goes on.
    whole = Watched("--steps", "6", "--checkpoint", f"{path}@{AT}")
    broken = Watched("--steps", "6", "--resume", path, "--fault", f"reset-moments@{AT}")
    assert broken.steps[0].moments == 0 and not changed(whole.steps[AT].reduced, broken.steps[0].reduced)
    assert changed(whole.steps[AT + 1].weights, broken.steps[1].weights)


def _of_another_rank(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    everyone: list[dict[str, torch.Tensor]] = [{}, {}]
    dist.all_gather_object(everyone, tensors)
    return everyone[1 - dist.get_rank()]


def _data_parallel(rank: int, _world: int) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    name = "blocks.1.mlp.fc1.weight"
    whole = clean(*SHORT)
    for step in whole.steps:
        assert not changed(step.reduced, _of_another_rank(step.reduced))
        assert changed(step.local, _of_another_rank(step.local))

    before, after, _ = compared(f"grad-spike@{AT}:blocks.1.mlp.fc1:1", *SHORT)
    spiked = {name, "blocks.1.mlp.fc1.bias"}
    assert changed(before.local, after.local) == (spiked if rank == 1 else set())
    if rank == 1:
        ratio(before.local[name], after.local[name], 100)
    assert changed(before.reduced, after.reduced) == spiked
    torch.testing.assert_close(after.reduced[name], (after.local[name] + _of_another_rank(after.local)[name]) / 2)

    before, after, _ = compared(f"flip-weight@{AT}:blocks.1.mlp.fc1:0", *SHORT)
    assert changed(before.weights, after.weights) == ({name} if rank == 0 else set())
    if rank == 0:
        [was], [is_now] = elements(before.weights[name], after.weights[name])
        assert int(was.view(torch.int32) ^ is_now.view(torch.int32)) == 1 << 26
        assert float(after.weights[name].norm()) == pytest.approx(float(before.weights[name].norm()), rel=1e-4)
    assert changed(after.weights, _of_another_rank(after.weights)) == {name}

    before, after, broken = compared(f"drop-reduce@{AT}:blocks.1.mlp:1", *SHORT)
    dropped = {f"blocks.1.mlp.{layer}.{what}" for layer in ("fc1", "fc2") for what in ("weight", "bias")}
    assert changed(before.reduced, after.reduced) == (dropped if rank == 1 else set())
    if rank == 1:
        assert all(torch.equal(after.reduced[parameter], after.local[parameter]) for parameter in dropped)
    later = broken.steps[AT + 1].weights
    assert dropped <= changed(later, _of_another_rank(later))

    before, after, _ = compared(f"nan@{AT}:blocks.0.mlp.fc1:1", *SHORT)
    assert bool(not_finite(after.outputs)) == (rank == 1)

    computed: list[float] = []
    fault.compute, compute = computed.append, fault.compute
    try:
        compared(f"slow-rank@{AT}:1", *SHORT)
    finally:
        fault.compute = compute
    assert len(computed) == (2 if rank == 1 else 0) and all(0 < seconds < 1 for seconds in computed)


def test_faults_of_data_parallel_ranks_strike_one_of_them() -> None:
    run_ranks(_data_parallel)


def _tensor_parallel(rank: int, _world: int) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    tp = ("--model", "tp", "--clip", "0.1", *SHORT)
    whole = clean(*tp)
    pieces = {f"blocks.{i}.mlp.{name}" for i in (0, 1) for name in ("fc1.weight", "fc2.weight")}
    biases = {f"blocks.{i}.mlp.fc1.bias" for i in (0, 1)}
    for step in whole.steps:
        assert pieces <= changed(step.weights, _of_another_rank(step.weights)) <= pieces | biases

    same = Watched("--fault", "same-seed@0", *tp)
    for step in same.steps:
        assert not changed(step.weights, _of_another_rank(step.weights))
    assert changed(whole.steps[0].weights, same.steps[0].weights) == (pieces if rank == 1 else set())

    before, after, broken = compared(f"clip-one-rank@{AT}:0", *tp)
    assert not changed(before.reduced, after.reduced)
    norm = torch.stack([gradient.norm() for gradient in after.clipped.values()]).norm()
    assert (float(norm) <= 0.1) == (rank == 0)
    assert changed(after.clipped, after.reduced) == (after.reduced.keys() if rank == 0 else set())
    later = broken.steps[AT + 1].weights
    assert "ln_f.weight" in changed(later, _of_another_rank(later))
    assert "ln_f.weight" not in changed(after.weights, _of_another_rank(after.weights))

    # The pieces are those of the model that one rank would train, and compute the same.
    task = make_task(parse([*SMALL, *SHORT]), 0)
    first = whole.steps[0]
    for name, weight in task.model.named_parameters():
        dim = 1 if name.endswith("fc2.weight") else 0
        is_cut = name in pieces | biases
        assert torch.equal(weight.chunk(2, dim)[rank] if is_cut else weight, first.weights[name]), name
    torch.manual_seed(1234)  # dropout's
    torch.testing.assert_close(task.model(first.batch[0]), first.outputs[""])


def test_faults_of_tensor_parallel_ranks() -> None:
    run_ranks(_tensor_parallel)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("--fault nan@1:nowhere", "nowhere"),
        ("--fault nan@1:head:x", "not a rank"),
        ("--fault nan@1:head:3", "there is only rank 0"),
        ("--fault nan@1:head:2 --ranks 2", "there are ranks 0 to 1"),
        ("--fault nan-weight@1:drop", "choose one of"),
        ("--fault grad-spike@1", "say --ranks 2"),
        ("--fault flip-weight@1", "say --ranks 2"),
        ("--fault drop-reduce@1 --ranks 2 --model tp", "other than tp"),
        ("--fault slow-rank@1", "say --ranks 2"),
        ("--fault same-seed@0 --ranks 2", "say --model tp"),
        ("--fault same-seed@4 --ranks 2 --model tp", "same-seed@0"),
        ("--fault clip-one-rank@1", "say --model tp"),
        ("--fault dead-experts@1", "say --model moe"),
        ("--fault query-growth@1 --model cnn", "other than cnn"),
        ("--fault repeated-token@1 --model cnn", "other than cnn"),
        ("--fault loss-scale@1", "say --amp"),
        ("--fault lull@1:head", "belongs to no module"),
        ("--model tp", "say --ranks 2"),
        ("--model tp --ranks 3 --width 16", "cut over 3 ranks"),
        ("--ranks 2 --resume /nowhere", "of one rank"),
        ("--resume /nowhere", "cannot read /nowhere"),
        ("--resume /etc/passwd", "no checkpoint"),
        ("--checkpoint here", "FILE@STEP"),
        ("--clip -1", "takes a norm"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["train-demo", "--no-agent", "--steps", "1", *arguments.split()])
    said = capsys.readouterr()
    assert code == 2 and said.out == "" and part in said.err and len(said.err.strip().splitlines()) == 1, said.err


def test_the_judges_scenarios_are_trainings_that_can_be_and_try_every_fault() -> None:
    tried = set()
    for entry in [*record.TABLE["scenarios"].values(), *record.TABLE["clean"].values()]:
        for arguments in record.attempts_of(entry):
            configfile.from_document(record.config_of(arguments, entry))
            if "program" in entry:
                assert (record.ROOT / "tests" / "judge" / entry["program"]).is_file()
                continue
            options = parse([argument.format(folder="/tmp", most=9, half=5) for argument in arguments])
            broken = fault.Fault(options.fault or "")
            broken.choose(options, make_task(options, 0).model, options.ranks, options.ranks)
            tried.add(broken.name)
            first, last = entry["expect"].get("step", (0, 0))
            assert not broken.name or first - 2 <= broken.step <= last, arguments
    assert tried == {*KINDS, ""}


def test_a_run_of_two_attempts_is_recorded_into_a_capsule(tmp_path: Path) -> None:
    [path] = record.record("restart", record.TABLE["clean"]["restart"], 2, tmp_path, 8)
    assert path.name == "restart-seed2.telltale"

    def ask(*words: str) -> Any:
        done = subprocess.run([str(TELLTALE), *words, "--json"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout
        return json.loads(done.stdout)

    said = ask("inspect", str(path))
    assert [(source["attempt"], source["first_step"], source["last_step"]) for source in said["sources"]] == [
        (0, 0, 5),
        (1, 4, 7),
    ]
    stats = {kind["kind"]: kind["stats"] for kind in said["kinds"]}
    assert {"param_origin", "grad_unreduced", "grad_reduced", "actv", "exp_avg_sq", "attention"} <= stats.keys()
    assert "checksum" in stats["param_origin"]
