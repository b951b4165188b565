# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain PyTorch in the ways that are easy to get wrong: loss scaling, several optimizers, closures, compiled code,
checkpoints, lazy and sparse parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from ranks import EVERYTHING, Recorder, assert_bitwise, assert_stats, state_of, watched
from telltale.kinds import Form, Kind
from torch import nn
from torch.utils.checkpoint import checkpoint


def _mlp(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))


def _x(seed: int) -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(seed))


def _loss(model: Any, seed: int) -> torch.Tensor:
    return model(_x(seed)).float().square().mean()


def _forms(recorder: Recorder, kind: Kind, step: int = 0) -> set[Form]:
    return {desc.form for desc, _ in recorder.found(kind, step)}


@pytest.mark.parametrize("fused", [False, True])
def test_under_a_grad_scaler_each_gradient_says_whether_it_is_scaled(fused: bool) -> None:
    model = _mlp()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    recorder, _ = watched(model, optimizer)
    scaler.scale(_loss(model, 1)).backward()
    scaled = model[0].weight.grad.clone()
    scaler.step(optimizer)
    scaler.update()
    assert _forms(recorder, Kind.GRAD_UNREDUCED) == {Form.SCALED}
    assert_stats(recorder.one(Kind.GRAD_UNREDUCED, "0.weight", 0)[1], scaled)
    # A fused optimizer unscales inside its own kernel, after it was asked.
    assert _forms(recorder, Kind.GRAD_REDUCED) == ({Form.SCALED} if fused else {Form.NONE})
    assert_stats(recorder.one(Kind.GRAD_REDUCED, "0.weight", 0)[1], scaled if fused else scaled / 1024.0)
    assert ("grad-norm" in recorder.scalars(0)) == (not fused)


def test_without_a_scaler_nothing_is_called_scaled() -> None:
    model = _mlp()
    optimizer = torch.optim.Adam(model.parameters())
    recorder, _ = watched(model, optimizer)
    _loss(model, 1).backward()
    optimizer.step()
    assert _forms(recorder, Kind.GRAD_UNREDUCED) == {Form.NONE}


@pytest.mark.parametrize("per_micro", [False, True])
def test_a_step_that_the_scaler_skips_leaves_nothing_behind(per_micro: bool) -> None:
    """Its values do not appear under the step that is taken instead."""
    model = _mlp()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    config = {**EVERYTHING, "monitor_mbs_grad": per_micro}
    recorder, monitor = watched(model, optimizer, config, grad_acc_steps=2)
    kept = []
    for attempt in range(2):
        optimizer.zero_grad()
        for micro in range(2):
            loss = _loss(model, 10 * attempt + micro)
            scaler.scale(loss * float("inf") if attempt == 0 else loss).backward()
            kept.append(model[0].weight.grad.clone())
        scaler.step(optimizer)
        scaler.update()
    assert monitor.step == 1
    record = recorder.one(Kind.GRAD_UNREDUCED, "0.weight", 0, 0 if per_micro else -1)
    assert record is not None
    assert_stats(record[1], kept[2] if per_micro else kept[3])
    activations = recorder.found(Kind.ACTV, 0)
    assert {desc.micro_step for desc, _ in activations} == {0, 1}
    assert {desc.slot.text for desc, _ in activations} == {"input", "output"}


def test_two_optimizers_make_one_step_and_a_third_step_of_one_makes_another() -> None:
    model = _mlp()
    first = torch.optim.Adam(model[0].parameters(), 1e-2)
    second = torch.optim.SGD(model[2].parameters(), 1e-2)
    recorder, monitor = watched(model, [first, second])
    for step in range(2):
        model.zero_grad()
        _loss(model, step).backward()
        first.step()
        second.step()
    assert monitor.step == 2
    everything = {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert recorder.names(Kind.GRAD_REDUCED, 1) == everything == recorder.names(Kind.PARAM_UPDATED, 1)
    assert recorder.names(Kind.EXP_AVG, 1) == {"0.weight", "0.bias"}  # SGD has none
    for _ in range(2):
        _loss(model, 5).backward()
        first.step()
    second.step()
    assert monitor.step == 4
    assert recorder.names(Kind.GRAD_REDUCED, 2) == {"0.weight", "0.bias"}


def test_lbfgs_gradients_are_those_of_its_last_closure_call() -> None:
    states = []
    for is_watched in (False, True):
        model = _mlp()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
        recorder = watched(model, optimizer)[0] if is_watched else Recorder()
        gradients: list[torch.Tensor] = []

        def closure(model: Any = model, optimizer: Any = optimizer, gradients: Any = gradients) -> torch.Tensor:
            optimizer.zero_grad()
            loss = _loss(model, 3)
            loss.backward()
            gradients.append(model[0].weight.grad.clone())
            return loss

        optimizer.step(closure)
        optimizer.step(closure)
        states.append(state_of(model))
    calls = len(gradients) // 2
    assert calls > 1
    for kind in (Kind.GRAD_REDUCED, Kind.GRAD_UNREDUCED):
        assert_stats(recorder.one(kind, "0.weight", 1)[1], gradients[-1], kind.word)
    assert len(recorder.found(Kind.ACTV, 1)) == 8  # of one forward, not of each call
    assert_bitwise(states[0], states[1], "LBFGS")


def test_an_unfrozen_parameter_is_watched_from_then_on() -> None:
    model = _mlp()
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    recorder, _ = watched(model, optimizer)
    for step in range(2):
        optimizer.zero_grad()
        _loss(model, step).backward()
        optimizer.step()
        model[0].weight.requires_grad_(True)
    assert "0.weight" not in recorder.names(Kind.GRAD_UNREDUCED, 0)
    assert "0.weight" in recorder.names(Kind.GRAD_UNREDUCED, 1)
    assert "0.weight" in recorder.names(Kind.PARAM_ORIGIN, 0)


def test_lazy_layers_are_watched_from_their_first_forward() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.LazyLinear(5), nn.Tanh(), nn.LazyLinear(2))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(model, optimizer)
    for step in range(2):
        optimizer.zero_grad()
        _loss(model, step).backward()
        gradient = model[0].weight.grad.clone()
        optimizer.step()
    assert monitor.step == 2
    for step in range(2):
        assert recorder.names(Kind.GRAD_UNREDUCED, step) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert_stats(recorder.one(Kind.GRAD_REDUCED, "0.weight", 1)[1], gradient)
    assert recorder.names(Kind.ACTV, 1) >= {"0", "2"}


def test_a_sparse_gradient_is_measured_over_its_stored_rows_and_says_so() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(20, 3, sparse=True), nn.Linear(3, 2))
    optimizers = [torch.optim.SparseAdam(model[0].parameters()), torch.optim.Adam(model[1].parameters())]
    recorder, _ = watched(model, optimizers)
    ids = torch.tensor([1, 7, 7, 3])
    model(ids).square().sum().backward()
    rows = model[0].weight.grad.detach().coalesce().values()
    for optimizer in optimizers:
        optimizer.step()
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED):
        desc, values = recorder.one(kind, "0.weight", 0)
        assert "sparse" in desc.definition
        assert_stats(values, rows)
        assert recorder.one(kind, "1.weight", 0)[0].definition == ""
    assert_stats(recorder.one(Kind.PARAM_UPDATED, "0.weight", 0)[1], model[0].weight)


def test_tied_weights_are_one_series_with_the_total_gradient() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9, bias=False))
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    recorder, _ = watched(model, optimizer)
    model(torch.arange(9)).square().sum().backward()
    total = model[0].weight.grad.clone()
    optimizer.step()
    assert recorder.names(Kind.GRAD_UNREDUCED, 0) == {"0.weight"}
    assert_stats(recorder.one(Kind.GRAD_UNREDUCED, "0.weight", 0)[1], total)


def test_an_optimizer_that_steps_inside_backward_is_followed_and_what_is_lost_is_said() -> None:
    model = _mlp()
    optimizers = {p: torch.optim.SGD([p], 1e-2) for p in model.parameters()}

    def step_now(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step_now)
    recorder, monitor = watched(model, list(optimizers.values()))
    for step in range(2):
        _loss(model, step).backward()
    assert monitor.step == 2
    assert recorder.names(Kind.GRAD_REDUCED, 1) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert not recorder.found(Kind.GRAD_UNREDUCED, 0)
    assert any("taken away in an earlier hook" in sentence for sentence in recorder.sentences)


def test_main_grad_is_read_where_the_gradient_has_been_moved_to_it() -> None:
    model = _mlp()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)

    def move(parameter: Any) -> None:
        before = getattr(parameter, "main_grad", None)
        parameter.main_grad = parameter.grad if before is None else before + parameter.grad
        parameter.grad = None

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(move)
    recorder, _ = watched(model, optimizer, grad_acc_steps=2)
    for micro in range(2):
        _loss(model, micro).backward()
    total = model[0].weight.main_grad.clone()
    optimizer.step()
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED):
        assert_stats(recorder.one(kind, "0.weight", 0)[1], total, kind.word)


class _Checkpointed(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # The one module runs in two segments, whose recomputations come last one first.
        for module in (self.first, self.second, self.first):
            x = torch.tanh(checkpoint(module, x, use_reentrant=self.reentrant))
        return x


@pytest.mark.parametrize("reentrant", [False, True])
def test_activation_gradients_under_checkpointing_belong_to_the_right_call(reentrant: bool) -> None:
    torch.manual_seed(0)
    model = _Checkpointed(reentrant)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    x = _x(4).requires_grad_()
    expected = {}
    y = x
    for name, slot in (("first", "output"), ("second", "output"), ("first", "output@2")):
        z = getattr(model, name)(y)
        z.retain_grad()
        expected[name, slot] = z
        y = torch.tanh(z)
    y.square().sum().backward()
    optimizer.zero_grad()
    recorder, _ = watched(model, optimizer)
    model(x.detach().requires_grad_()).square().sum().backward()
    optimizer.step()
    for (name, slot), tensor in expected.items():
        assert_stats(recorder.one(Kind.ACTV, name, 0, slot=slot)[1], tensor, f"{name} {slot}")
        assert_stats(recorder.one(Kind.ACTV_GRAD, name, 0, slot=slot)[1], tensor.grad, f"gradient of {name} {slot}")
    assert len(recorder.found(Kind.ACTV, 0)) == 2 * 4  # both sides of the model and of three calls


class _Blocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.body(x)))


def _compiled(how: str, is_watched: bool, backend: str = "aot_eager") -> tuple[list[torch.Tensor], Recorder]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = _Blocks()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder = Recorder()
    if is_watched and how in ("before", "fullgraph", "block later"):
        recorder, _ = watched(model, optimizer)
    trained: Any = model
    if how.startswith("block"):
        model.body.compile(backend=backend)
    else:
        trained = torch.compile(model, backend=backend, fullgraph=how == "fullgraph")
    if is_watched and how in ("after", "block"):
        recorder, _ = watched(trained, optimizer)
    for step in range(3):
        optimizer.zero_grad()
        _loss(trained, step).backward()
        optimizer.step()
    return state_of(model), recorder


@pytest.mark.parametrize("how", ["before", "after", "block", "block later", "fullgraph"])
def test_a_compiled_model_trains_the_same_and_what_is_inside_is_named(how: str) -> None:
    bare, _ = _compiled(how, False)
    state, recorder = _compiled(how, True)
    assert_bitwise(bare, state, how)
    names = {"body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias", "head.weight", "head.bias"}
    for step in range(3):
        assert recorder.names(Kind.GRAD_UNREDUCED, step) == names == recorder.names(Kind.PARAM_UPDATED, step)
    seen = recorder.names(Kind.ACTV, 2)
    assert "body.0" not in seen
    assert ("head" in seen) == how.startswith("block")
    said = [text for text in recorder.sentences if text.startswith("not observed") and "compiled" in text]
    assert said, recorder.sentences
    if how.startswith("block"):
        assert "body.0" in said[0]


@pytest.mark.long
@pytest.mark.parametrize("how", ["before", "after", "block", "block later", "fullgraph"])
def test_fused_code_trains_the_same(how: str) -> None:
    bare, _ = _compiled(how, False, "inductor")
    state, recorder = _compiled(how, True, "inductor")
    assert_bitwise(bare, state, how)
    assert len(recorder.names(Kind.GRAD_UNREDUCED, 2)) == 6
