# SPDX-License-Identifier: GPL-3.0-or-later
"""The gradient of a module's input is the share that flows through the module, unless it says that it is the total."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink, norm
from telltale.agent import share
from telltale.kinds import Form, Kind
from telltale.pytorch import TrainerMon
from torch.utils.checkpoint import checkpoint

CONFIG = {"xy_distribution": True, "all_xy": True, "backward_only": True}


def watched(model: nn.Module, x: torch.Tensor, steps: int = 1, **own: Any) -> RecordingSink:
    """Trains on the sum of what the model makes of x."""
    sink = RecordingSink()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    monitor = TrainerMon({**CONFIG, "telltale": own}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()
    monitor.close()
    return sink


def through(model: nn.Module, name: str, x: torch.Tensor) -> list[torch.Tensor]:
    """The gradient that flows to each input of one call of a module through this module alone: the same tensors enter
    it as leaves of their own."""
    leaves: list[torch.Tensor] = []

    def cut(_module: Any, args: Any) -> Any:
        leaves.extend(tensor.detach().requires_grad_() for tensor in args)
        return tuple(leaves)

    handle = model.get_submodule(name).register_forward_pre_hook(cut)
    model(x).square().sum().backward()
    handle.remove()
    return [leaf.grad for leaf in leaves if leaf.grad is not None]


class Residual(nn.Module):
    """What enters `inner` is used beside it, too; `outer` uses its input in three places."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.outer = nn.Linear(6, 6), Outer()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.first(x))
        return h + self.outer(h) * h.sin()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.other = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x + self.inner(x) * torch.sigmoid(self.other(x))


class Two(nn.Module):
    """Two inputs, of which one is made of the other; what is made inside does not count as either."""

    def __init__(self) -> None:
        super().__init__()
        self.pair, self.first = Pair(), nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.first(x)
        b = a.exp()
        return self.pair(a, b) * a


class Pair(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).tanh() + b.flatten().view_as(b)


class Checkpointed(Residual):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.first(x))
        return h + checkpoint(self.outer, h, use_reentrant=self.reentrant) * h.sin()


MODELS = {
    "residual": (Residual, "outer", ["input"]),
    "residual, child": (Residual, "outer.inner", ["input"]),
    "two inputs": (Two, "pair", ["input_0", "input_1"]),
    "plain checkpointing": (lambda: Checkpointed(False), "outer.other", ["input"]),
    "reentrant checkpointing": (lambda: Checkpointed(True), "outer.other", ["input"]),
    "reentrant checkpointing, whole": (lambda: Checkpointed(True), "outer", ["input"]),
}


def made(case: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(1)
    return MODELS[case][0](), torch.randn(3, 6)


@pytest.mark.parametrize("case", MODELS)
def test_the_share_is_what_a_leaf_of_its_own_would_get(case: str) -> None:
    model, x = made(case)
    _, name, slots = MODELS[case]
    sink = watched(model, x, steps=3)
    if isinstance(model, Checkpointed):
        state = model.state_dict()
        model = Residual()  # the same numbers, without a recomputation that would enter the module twice
        model.load_state_dict(state)
    for slot, wanted in zip(slots, through(model, name, x)):
        for step in range(3):
            got = sink.record(Kind.ACTV_GRAD, name, slot, step)
            assert got is not None, slot
            assert norm(got) == pytest.approx(float(wanted.double().norm()), rel=1e-6)
            assert got["sum"] == pytest.approx(float(wanted.double().sum()), rel=1e-5, abs=1e-6)
    assert sink.sentences() == []


def described(sink: RecordingSink, name: str, slot: str) -> list[tuple[Form, str]]:
    """Form and definition of every series of an input's gradient that has values."""
    found = {}
    for frame in sink.frames:
        for shot in frame.tables:
            for desc in shot.series:
                if shot.kind is Kind.ACTV_GRAD and (desc.name, desc.slot.text) == (name, slot):
                    found[desc.form & ~Form.INPUT_SIDE, desc.definition] = True
    return list(found)


def test_the_total_is_there_for_who_asks_for_it() -> None:
    model, x = made("residual")
    whole = {}
    for what in ("share", "total"):
        sink = watched(model, x, actv_grad_input=what)
        whole[what] = norm(sink.record(Kind.ACTV_GRAD, "outer", "input"))
        # What leaves a module has one gradient only: that of all who consume it.
        assert described(sink, "outer", "output")[0][0] == Form.TOTAL
        form = Form.TOTAL if what == "total" else Form.NONE
        assert described(sink, "outer", "input")[0][0] == form
    assert abs(whole["share"] - whole["total"]) > 0.01 * whole["total"]


class Passing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Opaque(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return iter([x * 2])


class Around(nn.Module):
    def __init__(self, inner: nn.Module, call: Any = lambda module, h: module(h)) -> None:
        super().__init__()
        self.first, self.inner, self.call = nn.Linear(6, 6), inner, call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x) * 2
        return self.call(self.inner, h)


def long() -> nn.Module:
    class Long(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x
            for _ in range(share.MAX_NODES + 1):
                y = y * 1.001
            return y

    return Long()


STAND_INS = {
    "identity": (Around(Passing()), "it returns the tensor itself"),
    "in place": (Around(nn.ReLU(inplace=True)), "it changes the tensor in place"),
    "no tensor": (Around(Opaque(), lambda module, h: next(module(h))), "what it returns holds no tensor"),
    "twice": (Around(Pair(), lambda module, h: module(h, h)), "it is given the same tensor more than once"),
    "too large": (Around(long()), "more than 512 operations"),
}


@pytest.mark.parametrize("case", STAND_INS)
def test_where_the_share_cannot_be_had_the_total_stands_in_and_says_so(case: str) -> None:
    model, why = STAND_INS[case]
    sink = watched(model, torch.randn(3, 6), steps=2)
    [sentence] = sink.sentences()
    assert "the gradient of the input of inner is the total over all consumers" in sentence and why in sentence
    slot = "input_0" if case == "twice" else "input"
    assert described(sink, "inner", slot) == [(Form.TOTAL, share.TOTAL)]
    assert sink.record(Kind.ACTV_GRAD, "inner", slot, 0) is not None


def test_a_graph_that_changes_from_step_to_step_is_seen_anew() -> None:
    class Changing(nn.Module):
        """As many nodes at each step; only who consumes what differs."""

        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.step += 1
            h = x * 2
            return h.sin() + (x if self.step % 2 else h).cos()

    model = Around(Changing(), lambda module, h: module(h) + h)
    torch.manual_seed(3)
    x = torch.randn(3, 6)
    sink = watched(model, x, steps=4)
    for step in range(4):
        model.inner.step = step
        [wanted] = through(model, "inner", x)
        got = norm(sink.record(Kind.ACTV_GRAD, "inner", "input", step))
        assert got == pytest.approx(float(wanted.norm()), rel=1e-6)


def test_a_share_that_comes_and_goes_keeps_series_of_its_own() -> None:
    class Sometimes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.step += 1
            return x * 2 if self.step % 2 else x

    sink = watched(Around(Sometimes(), lambda module, h: module(h) + h), torch.randn(3, 6), steps=4)
    assert described(sink, "inner", "input") == [(Form.NONE, share.SHARE), (Form.TOTAL, share.TOTAL)]


def test_only_what_flows_back_counts_in_each_backward() -> None:
    """Two losses over one graph: the second backward does not add to what the first one left."""
    torch.manual_seed(2)
    model, x = Around(Outer(), lambda module, h: (module(h), h)), torch.randn(3, 6)
    sink = RecordingSink()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    monitor = TrainerMon(CONFIG, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    y, h = model(x)
    (y.sum() + h.sum()).backward(retain_graph=True)
    (2 * y.sum() + h.sum()).backward()
    optimizer.step()
    monitor.close()
    leaf = h.detach().requires_grad_()
    (2 * model.inner(leaf).sum()).backward()
    assert leaf.grad is not None
    assert norm(sink.record(Kind.ACTV_GRAD, "inner", "input")) == pytest.approx(float(leaf.grad.norm()), rel=1e-6)
