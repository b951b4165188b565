# SPDX-License-Identifier: GPL-3.0-or-later
"""What is collected, when, and with which values."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn as nn
from recording import RecordingSink, norm
from smallrun import Run, model_of
from telltale.kinds import Form, Kind
from telltale.pytorch import TrainerMon


def test_gradients_parameters_and_moments_have_the_values_of_their_tensors() -> None:
    run = Run({"wg_distribution": True, "mv_distribution": True, "param_distribution": True})
    weight = run.model[0].weight
    for step in range(3):
        origin = weight.detach().double().numpy().copy()
        moments = {k: v.clone() for k, v in run.optimizer.state[weight].items()} if step else {}
        run.step()
        for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED):
            assert norm(run.sink.record(kind, "0.weight")) == pytest.approx(np.linalg.norm(run.gradients[-1][0]))
        assert norm(run.sink.record(Kind.PARAM_ORIGIN, "0.weight")) == pytest.approx(np.linalg.norm(origin))
        assert norm(run.sink.record(Kind.PARAM_UPDATED, "0.weight")) == pytest.approx(
            float(weight.detach().double().norm())
        )
        if step == 0:
            assert run.sink.record(Kind.EXP_AVG, "0.weight", step=0) is None
        else:
            for kind, name in ((Kind.EXP_AVG, "exp_avg"), (Kind.EXP_AVG_SQ, "exp_avg_sq")):
                expected = float(moments[name].double().norm())
                assert norm(run.sink.record(kind, "0.weight", step=step)) == pytest.approx(expected, rel=1e-6)


def test_a_nan_written_between_backward_and_step_shows_in_the_reduced_gradient_only() -> None:
    run = Run({"wg_distribution": True})

    def spoil() -> None:
        run.model[2].weight.grad.data[0, 3] = math.nan

    run.step(spoil)
    assert run.sink.record(Kind.GRAD_UNREDUCED, "2.weight")["nans"] == 0
    assert run.sink.record(Kind.GRAD_REDUCED, "2.weight")["nans"] == 1
    assert math.isnan(run.sink.scalar("grad-norm")[0])


def test_without_micro_steps_asked_for_the_accumulated_gradient_is_one_series() -> None:
    run = Run({"wg_distribution": True}, micros=3)
    run.step()
    record = run.sink.record(Kind.GRAD_UNREDUCED, "0.weight")
    assert norm(record) == pytest.approx(np.linalg.norm(run.gradients[0][2]), rel=1e-6)


def test_every_micro_step_is_a_series_when_asked_for() -> None:
    run = Run({"wg_distribution": True, "monitor_mbs_grad": True, "xy_distribution": True}, micros=3)
    run.step()
    for micro in range(3):
        record = run.sink.record(Kind.GRAD_UNREDUCED, "0.weight", micro=micro)
        assert norm(record) == pytest.approx(np.linalg.norm(run.gradients[0][micro]), rel=1e-6)
        assert run.sink.record(Kind.ACTV, "0", "output", micro=micro) is not None
        assert run.sink.record(Kind.ACTV_GRAD, "0", "output", micro=micro) is not None


def test_activations_and_their_gradients_have_the_values_of_their_tensors() -> None:
    run = Run({"xy_distribution": True})
    seen: dict[str, torch.Tensor] = {}
    run.model[0].register_forward_hook(lambda m, a, out: (seen.update(out=out), out.retain_grad(), None)[2])
    run.step()
    assert norm(run.sink.record(Kind.ACTV, "0", "output")) == pytest.approx(float(seen["out"].detach().double().norm()))
    assert norm(run.sink.record(Kind.ACTV_GRAD, "0", "output")) == pytest.approx(
        float(seen["out"].grad.double().norm())
    )
    assert norm(run.sink.record(Kind.ACTV, "2", "input")) == pytest.approx(
        float(torch.tanh(seen["out"].detach()).double().norm())
    )


def test_forward_only_and_backward_only() -> None:
    run = Run({"xy_distribution": True, "forward_only": True})
    run.step()
    assert run.sink.steps(Kind.ACTV) == [0] and run.sink.steps(Kind.ACTV_GRAD) == []
    run = Run({"xy_distribution": True, "backward_only": True})
    run.step()
    assert run.sink.steps(Kind.ACTV) == [] and run.sink.steps(Kind.ACTV_GRAD) == [0]


def test_evaluation_is_not_training() -> None:
    run = Run({"xy_distribution": True})
    run.step()
    run.model.eval()
    with torch.no_grad():
        run.model(torch.full((5, 4), 1e6))
    run.model.train()
    run.step()
    assert run.sink.record(Kind.ACTV, "0", "input", step=1)["max"] < 100
    assert run.sink.names(Kind.ACTV) == ["(root) input"] or all("@2" not in n for n in run.sink.names(Kind.ACTV))


def test_start_interval_and_collect_times_gate_the_steps() -> None:
    run = Run({"wg_distribution": True, "start_step": 2, "step_interval": 3, "collect_times": 2})
    for _ in range(12):
        run.step()
    assert run.sink.steps(Kind.GRAD_REDUCED) == [2, 5]
    assert sorted(run.sink.scalar("lr")) == list(range(12))


class Doubling(nn.Module):
    """Changes its input without a word in its attributes, and returns something else."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        return x[:, :3] + 1


@pytest.mark.parametrize("actv_grad_input", ["share", "total"])
def test_the_input_of_a_module_that_works_in_place_is_read_before_it_runs(
    actv_grad_input: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"xy_distribution": True, "all_xy": True, "telltale": {"actv_grad_input": actv_grad_input}}
    inner = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(8, 8))
    run = Run(config, model=nn.Sequential(nn.Linear(4, 8), inner, nn.Linear(8, 8), Doubling()))
    for step in range(4):
        if step == 2:
            with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
                patched.setattr(inner[1], "forward", lambda x: 1 // 0)
                run.model(torch.ones(5, 4))
        run.step()
        if step == 2:
            continue  # its values are a second micro step's
        before, after = (run.sink.record(Kind.ACTV, name, "output", step) for name in ("0", "1.0"))
        assert before["min"] < 0 and after["min"] == 0
        for name in ("1", "1.0"):
            assert run.sink.record(Kind.ACTV, name, "input", step) == before
        made, given = (run.sink.record(Kind.ACTV, *what, step) for what in (("2", "output"), ("3", "input")))
        assert (given is None) if step == 0 else (given == made and norm(given) > 0)
    [said] = [sentence for sentence in run.sink.sentences() if "changed in place before" in sentence]
    assert "the input of 3 was" in said


def test_forward_hooks_are_gone_while_nothing_is_collected() -> None:
    run = Run({"xy_distribution": True, "start_step": 1, "collect_times": 1})
    counts = []
    for _ in range(3):
        counts.append(len(run.model[0]._forward_hooks))
        run.step()
    assert counts == [0, 1, 0]


def test_a_rank_that_is_not_selected_collects_nothing() -> None:
    run = Run({"wg_distribution": True, "module_ranks": [3]})
    run.step()
    assert run.sink.steps(Kind.GRAD_REDUCED) == []
    assert not run.model[0].weight._post_accumulate_grad_hooks


def test_targets_select_objects_and_what_lies_below_and_say_what_matches_nothing() -> None:
    model = nn.Module()
    model.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(11))
    model.forward = lambda x: sum(layer(x) for layer in model.layers)
    run = Run({"targets": {"layers.1": {}, "layrs.2": {}}, "wg_distribution": True}, model=model)
    run.step()
    assert run.sink.names(Kind.GRAD_REDUCED) == ["layers.1.weight", "layers.1.bias"]
    assert any("layrs.2" in s and "layers.2" in s for s in run.sink.sentences())


def test_a_module_called_twice_has_a_series_for_each_call() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.shared(self.shared(x))

    run = Run({"xy_distribution": True}, model=Twice())
    run.step()
    assert {"shared output", "shared output@2"} <= set(run.sink.names(Kind.ACTV))
    assert {"shared output", "shared output@2"} <= set(run.sink.names(Kind.ACTV_GRAD))


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_activations_count_once(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return checkpoint(self.second, torch.tanh(self.first(x)), use_reentrant=reentrant)

    run = Run({"xy_distribution": True}, model=Checkpointed())
    run.step()
    names = run.sink.names(Kind.ACTV)
    assert names.count("second output") == 1 and "second output@2" not in names
    assert run.sink.record(Kind.ACTV_GRAD, "second", "output") is not None


def test_mg_direction_is_the_share_of_signs_that_agree() -> None:
    run = Run({"mg_direction": True})
    run.step()
    assert run.sink.steps(Kind.MG_DIRECTION) == []
    moment = run.optimizer.state[run.model[0].weight]["exp_avg"].clone()
    run.step()
    gradient = torch.tensor(run.gradients[-1][0])
    expected = float((torch.sign(gradient) * torch.sign(moment)).double().mean() + 1) / 2
    assert run.sink.record(Kind.MG_DIRECTION, "0.weight")[0] == pytest.approx(expected, abs=1e-9)


def test_the_update_of_adam_is_measured_from_its_moments() -> None:
    run = Run({"ur_distribution": True})
    run.step()
    state = {k: v.clone() for k, v in run.optimizer.state[run.model[0].weight].items()}
    run.step()
    m, v = state["exp_avg"].double() / (1 - 0.9), state["exp_avg_sq"].double() / (1 - 0.999)
    assert norm(run.sink.record(Kind.UPDATE, "0.weight")) == pytest.approx(
        float((m / (v.sqrt() + 1e-8)).norm()), rel=1e-4
    )
    assert norm(run.sink.record(Kind.UPDATE_RATIO, "0.weight")) == pytest.approx(float((m / v.sqrt()).norm()), rel=1e-4)


def test_the_update_of_adam_has_a_histogram_in_which_every_element_is_counted_once() -> None:
    run = Run({"ur_distribution": True})
    for _ in range(3):
        run.step()
    weight = run.model[0].weight
    run.optimizer.state[weight]["exp_avg"][0] = 0  # never touched: 0 / 0 as a ratio
    run.optimizer.state[weight]["exp_avg_sq"][0] = 0
    run.optimizer.state[weight]["exp_avg_sq"][1] *= 1e-4  # far outside
    state = {k: v.clone() for k, v in run.optimizer.state[weight].items()}
    run.step()
    m, v = state["exp_avg"].double() / (1 - 0.9**3), state["exp_avg_sq"].double() / (1 - 0.999**3)
    for kind, values in ((Kind.UPDATE, m / (v.sqrt() + 1e-8)), (Kind.UPDATE_RATIO, m / v.sqrt())):
        found = run.sink.histogram(kind, "0.weight")
        x = np.nan_to_num(values.numpy().ravel())
        assert found[0] == (x < -1).sum() and found[-1] == (x > 1).sum()
        assert np.abs(np.cumsum(found[1:-1]) - np.cumsum(np.histogram(x, 30, (-1, 1))[0])).max() <= 1
        assert sum(found) == weight.numel()


def test_the_ratio_of_an_element_that_never_had_a_gradient_is_no_nan_and_a_real_nan_stays() -> None:
    run = Run({"ur_distribution": True})
    run.step()
    state = run.optimizer.state[run.model[0].weight]
    state["exp_avg"][0], state["exp_avg_sq"][0] = 0, 0
    state["exp_avg_sq"][1, 0] = 0  # a square that was too small for its type
    run.step()
    found = run.sink.record(Kind.UPDATE_RATIO, "0.weight")
    assert found["nans"] == 0 and found["zero_count"] >= 4 and found["pos_infs"] + found["neg_infs"] == 1
    state["exp_avg"][0, 0] = math.nan
    run.step()
    assert run.sink.record(Kind.UPDATE_RATIO, "0.weight")["nans"] == 1


def test_the_forms_say_how_a_gradient_was_measured() -> None:
    run = Run({"wg_distribution": True}, micros=2)
    run.step()
    shots = {shot.kind: shot for shot in run.sink.frames[0].tables}
    assert all(desc.form & Form.ACCUMULATED for desc in shots[Kind.GRAD_UNREDUCED].series)


def test_metrics_can_be_asked_for_in_the_loop() -> None:
    run = Run({"wg_distribution": True, "xy_distribution": True, "ops": ["norm", "min"]})
    run.monitor.generate_wgrad_metrics()
    run.step()
    reduced, unreduced = run.monitor.generate_wgrad_metrics()
    assert reduced["0:0.weight/rank0/post_grad"]["norm"] == pytest.approx(np.linalg.norm(run.gradients[0][0]), rel=1e-6)
    assert unreduced["0:0.weight/rank0/pre_grad"].keys() == {"norm", "min"}
    actv, actv_grad = run.monitor.generate_xy_metrics()
    assert "0:2.output:0/rank0/actv" in actv and "0:2.output:0/rank0/actv_grad" in actv_grad


def test_reload_xy_warns_and_switches_activations_on() -> None:
    run = Run({"wg_distribution": True})
    run.step()
    with pytest.deprecated_call():
        run.monitor.reload_xy(xy_distribution=True)
    run.step()
    assert run.sink.steps(Kind.ACTV) == [1] and run.sink.steps(Kind.GRAD_REDUCED) == [0, 1]


def test_without_the_native_kernel_torch_gives_the_same_statistics() -> None:
    from telltale.measure import Measurer
    from telltale.series import SeriesDesc, SeriesTable

    torch.manual_seed(3)
    tensors = [
        torch.randn(17, 5),
        torch.randn(300).bfloat16(),
        torch.tensor([1.0, math.nan, math.inf, -math.inf, 0.0]),
        torch.tensor([math.nan, math.nan]),
        torch.arange(7),
        torch.randn(6, 8).t()[::2],
    ]
    ours, theirs = SeriesTable(Kind.ACTV, capacity=8), SeriesTable(Kind.ACTV, capacity=8)
    for i, tensor in enumerate(tensors):
        ours.add(SeriesDesc(str(i)))
        theirs.add(SeriesDesc(str(i)))
        assert Measurer(1e-8, 1, use_native=True).one(tensor, ours, i) == ""
        assert Measurer(1e-8, 1, use_native=False).one(tensor, theirs, i) == ""
    for name in ("numel", "finite", "zero_count", "nans", "pos_infs", "neg_infs", "flags"):
        assert ours.results[name][:6].tolist() == theirs.results[name][:6].tolist(), name
    for name in ("sum", "sumsq", "norm", "mean", "min", "max", "zeros"):
        np.testing.assert_allclose(ours.results[name][:6], theirs.results[name][:6], rtol=2e-6, atol=1e-6, err_msg=name)


def test_an_empty_list_of_linear_modules_means_all_of_them() -> None:
    run = Run({"recording_l2_features": True, "l2_targets": {"linear_hook": []}, "format": "stream"})
    run.step()
    assert {name.split()[0] for name in run.sink.names(Kind.LINEAR)} == {"0", "2"}


def test_a_changed_format_begins_and_ends_sinks_while_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path / "out"))
    path = tmp_path / "config.json"

    def write(**fields: Any) -> None:
        path.write_text(json.dumps({"wg_distribution": True, "collect_times": 2, **fields}))

    write(dynamic_on=False, format="csv")
    model = model_of()
    optimizer = torch.optim.Adam(model.parameters())
    monitor = TrainerMon(str(path))
    monitor.set_monitor(model, optimizer=optimizer)
    for step in range(10):
        if step == 2:
            write(dynamic_on=True, format=["csv", "tensorboard"])
        if step == 6:
            write(dynamic_on=True, format=["tensorboard"])
        if step in (2, 6):
            assert monitor.config_watch.look_now()
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    monitor.close()
    names = sorted(file.name for file in (tmp_path / "out").rglob("*.csv"))
    assert [name for name in names if name.startswith("grad_reduced")] == [
        "grad_reduced_3-3.csv",
        "grad_reduced_4-4.csv",
    ]
    assert not [name for name in names if name in ("scalar_0-0.csv", "scalar_9-9.csv")]
    assert [file for file in (tmp_path / "out").rglob("events.out.tfevents.*")]


def test_stacks_and_structure_put_no_hook_into_compiled_code() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)))
    model[1].compile(backend="eager")
    run = Run({"stack_info": True, "print_struct": True}, model=model)
    assert model[0]._forward_hooks
    assert not model[1]._forward_hooks and not model[1][0]._forward_hooks
    run.step()
    assert not model[0]._forward_hooks


def test_a_tensor_whose_shape_or_type_changes_is_described_as_it_is_at_each_step() -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sink = RecordingSink()
    monitor = TrainerMon({"xy_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    for rows, dtype in ((5, torch.float32), (6, torch.float32), (7, torch.bfloat16)):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype is torch.bfloat16):
            model(torch.ones(rows, 4)).float().square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    found = [
        (shot.kind, desc.shape, desc.torch_dtype)
        for frame in sink.frames
        for shot in frame.tables
        for desc in shot.series
        if shot.kind in (Kind.ACTV, Kind.ACTV_GRAD) and desc.slot.text == "output"
    ]
    wanted = [((5, 3), "torch.float32"), ((6, 3), "torch.float32"), ((7, 3), "torch.bfloat16")]
    for kind in (Kind.ACTV, Kind.ACTV_GRAD):
        assert [entry[1:] for entry in found if entry[0] is kind] == wanted


@pytest.mark.parametrize("data", [torch.randint(0, 5, (3,)), torch.rand(3)])
def test_data_has_no_series_of_a_gradient_and_a_target_that_asks_for_one_is_told(
    data: torch.Tensor, capsys: pytest.CaptureFixture[str]
) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(5))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.weight[: len(x)] * x

    model = nn.Sequential(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon(
        {"xy_distribution": True, "targets": {"0": {"input_grad": "tensor", "output_grad": "tensor"}}},
        sinks=[RecordingSink()],
    )
    monitor.set_monitor(model, optimizer=optimizer)
    assert monitor.engine is not None
    model(data).sum().backward()
    optimizer.step()
    registered = [str(desc.slot) for desc in monitor.engine.table(Kind.ACTV_GRAD).series]
    monitor.close()
    assert registered == ["output"]
    assert 'the target 0 asks for "input_grad": "tensor", but what passed was' in capsys.readouterr().err


def test_an_input_that_needs_a_gradient_only_later_gets_its_series_then() -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sink = RecordingSink()
    monitor = TrainerMon({"xy_distribution": True, "all_xy": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    for needs in (False, True):
        model(torch.ones(2, 4).requires_grad_(needs)).sum().backward()
        optimizer.step()
        assert ("input" in " ".join(sink.names(Kind.ACTV_GRAD))) is needs
    monitor.close()
