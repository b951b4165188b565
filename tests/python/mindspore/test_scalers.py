# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings that scale their loss by mindspore.amp, as its documentation writes them."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import pytest
from mindspore import Tensor, amp, nn, ops
from recording import RecordingSink, norm
from telltale.kinds import Form, Kind
from telltale.mindspore import TrainerMon
from tinynet import adamw, batches, bits, loss_of, made

EVERYTHING = {"wg_distribution": True, "xy_distribution": True, "all_xy": True, "param_distribution": True}
NAME = "head.weight"


class OwnScaler(amp.LossScaler):
    def __init__(self, value: float) -> None:
        self.scale_value = ms.Parameter(Tensor(value, ms.float32), name="own_scale")

    def scale(self, inputs: Any) -> Any:
        return inputs * self.scale_value

    def unscale(self, inputs: Any) -> Any:
        if isinstance(inputs, tuple):
            return tuple(one / self.scale_value for one in inputs)
        return inputs / self.scale_value

    def adjust(self, grads_finite: Any) -> Any:
        return False


SCALERS = {
    "dynamic": lambda: amp.DynamicLossScaler(1024.0, 2, 50),
    "static": lambda: amp.StaticLossScaler(1024.0),
    "own": lambda: OwnScaler(1024.0),
}


def trained(
    make: Any,
    config: Any,
    steps: int = 4,
    broken: tuple[int, ...] = (),
    is_early: bool = False,
    micro: int = 1,
    jit: bool = False,
) -> tuple[str, float, RecordingSink]:
    """The weights' bits, the scale at the end, and what was recorded. broken: the tries whose loss is infinite.
    is_early: adjust() before the optimizer steps; jit: the forward pass and the loss are compiled."""
    sink, net = RecordingSink(), made(layers=1)
    optimizer, scaler, loss = adamw(net), make(), loss_of(net)
    if config is not None:
        monitor = TrainerMon(config, sinks=[sink])
        monitor.set_monitor(net, optimizer, grad_acc_steps=micro)

    def forward(ids: Tensor, label: Tensor, factor: Tensor) -> Tensor:
        return scaler.scale(loss(ids, label) * factor)

    if jit:
        forward = ms.jit(forward)
    gradients_of, data = ms.value_and_grad(forward, None, optimizer.parameters), batches()
    attempt = step = 0
    while step < steps:
        total = None
        for _ in range(micro):
            factor = Tensor(float("inf") if attempt in broken else 1.0, ms.float32)
            value, gradients = gradients_of(*next(data), factor)
            total = gradients if total is None else tuple(a + b for a, b in zip(total, gradients))
        scaler.unscale(value)
        attempt += 1
        gradients = scaler.unscale(total)
        is_finite = amp.all_finite(gradients)
        if is_early:
            scaler.adjust(is_finite)
        if is_finite:
            optimizer(gradients)
            step += 1
        if not is_early:
            scaler.adjust(is_finite)
    if config is not None:
        monitor.close()
    return bits(net), float(scaler.scale_value.asnumpy()), sink


def both(make: Any, config: Any, **more: Any) -> tuple[float, RecordingSink]:
    """Trains without the agent and with it to the same bits; the scale at the end, and what was recorded. On two busy
    cores MindSpore 2.10 ends one such training in sixty in other bits without an agent: where the two differ, each is
    trained twice more, and held to what most of its three trainings end in."""
    plain, watched = [trained(make, None, **more)[:2]], [trained(make, config, **more)]
    if plain[0] != watched[0][:2]:
        plain += [trained(make, None, **more)[:2] for _ in range(2)]
        watched += [trained(make, config, **more) for _ in range(2)]
    usual = max(plain, key=plain.count)
    same = [one for one in watched if one[:2] == usual]
    assert len(same) > len(watched) / 2, (plain, [one[:2] for one in watched])
    return same[0][1:]


def forms(sink: RecordingSink, kind: Kind) -> set[Form]:
    return {desc.form for frame in sink.frames for shot in frame.tables if shot.kind is kind for desc in shot.series}


@pytest.mark.parametrize(("scaler", "jit"), [*((name, False) for name in SCALERS), ("dynamic", True)])
def test_gradients_are_said_to_be_scaled_before_unscale_and_not_after(scaler: str, jit: bool) -> None:
    _, sink = both(SCALERS[scaler], EVERYTHING, jit=jit)
    assert forms(sink, Kind.GRAD_UNREDUCED) == {Form.SCALED} and forms(sink, Kind.GRAD_REDUCED) == {Form.NONE}
    before, after = (norm(sink.record(kind, NAME, step=1)) for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED))
    assert before == pytest.approx(1024 * after, rel=1e-5)
    assert not [text for text in sink.sentences() if "error" in text], sink.sentences()


@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize("micro", [1, 2])
def test_a_try_that_the_scaler_leaves_out_is_no_part_of_the_step(is_early: bool, micro: int) -> None:
    more: dict[str, Any] = {"broken": (0, 2, 3), "is_early": is_early, "micro": micro}
    scale, sink = both(SCALERS["dynamic"], EVERYTHING, **more)
    assert scale == 128.0
    assert sink.steps(Kind.GRAD_UNREDUCED) == [0, 1, 2, 3]
    for step, scale in enumerate((512, 128, 128, 128)):
        before, after = (sink.record(kind, NAME, step=step) for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED))
        assert before["finite"] == before["numel"]
        assert norm(before) == pytest.approx(scale * norm(after), rel=1e-5), step
    assert len([text for text in sink.sentences() if "was tried and given up" in text]) == 3


def test_a_try_is_given_up_although_no_watched_gradient_says_so() -> None:
    """adjust() tells of it: the activations of both tries are not two micro steps of one."""
    config = {"xy_distribution": True, "targets": {"head": {}}}
    _, sink = both(SCALERS["dynamic"], config, broken=(1,))
    assert {desc.micro_step for shot in sink.frames[1].tables for desc in shot.series} == {-1}
    [told] = [text for text in sink.sentences() if "step 1 was tried and given up" in text]
    assert "a loss scaler left it out" in told


def test_the_classes_are_as_they_were_when_nobody_watches() -> None:
    def methods() -> list[Any]:
        return [vars(one).get(name) for one in (amp.DynamicLossScaler, amp.StaticLossScaler, OwnScaler)
                for name in ("scale", "unscale", "adjust")]  # fmt: skip

    before, net = methods(), made(layers=1)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[RecordingSink()])
    monitor.set_monitor(net, adamw(net))
    assert all(one is not other for one, other in zip(methods(), before))
    assert amp.DynamicLossScaler.scale is before[0]  # who asks gets the genuine one
    monitor.close()
    assert all(one is other for one, other in zip(methods(), before))


def test_an_optimizer_that_unscales_itself_gets_scaled_gradients() -> None:
    net, sink = made(layers=1), RecordingSink()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9, loss_scale=1024.0)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(net, optimizer)
    loss = loss_of(net)
    gradients_of = ms.value_and_grad(lambda ids, label: loss(ids, label) * 1024.0, None, optimizer.parameters)
    optimizer(gradients_of(*next(batches()))[1])
    assert forms(sink, Kind.GRAD_UNREDUCED) == forms(sink, Kind.GRAD_REDUCED) == {Form.SCALED}
    assert not sink.scalar("grad-norm")  # it would be another quantity than everywhere else
    monitor.close()


def test_a_step_compiled_whole_trains_on_and_one_sentence_says_that_it_is_not_seen() -> None:
    def run(config: Any) -> tuple[str, RecordingSink]:
        ms.set_seed(1)
        net, sink = nn.Dense(4, 1), RecordingSink()
        optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
        scaler = amp.StaticLossScaler(1024.0)
        if config is not None:
            monitor = TrainerMon(config, sinks=[sink])
            monitor.set_monitor(net, optimizer)

        def forward(x: Tensor) -> Tensor:
            return scaler.scale(net(x).square().mean())

        gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)

        @ms.jit
        def step(x: Tensor) -> Any:
            loss, gradients = gradients_of(x)
            optimizer(scaler.unscale(gradients))
            return scaler.unscale(loss)

        for _ in range(3):
            step(ops.ones((3, 4)))
        if config is not None:
            monitor.close()
        return bits(net), sink

    plain, watched = run(None), run({"wg_distribution": True})
    assert plain[0] == watched[0]
    assert [text for text in watched[1].sentences() if "no optimizer has stepped" in text]
