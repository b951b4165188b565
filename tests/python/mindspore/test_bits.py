# SPDX-License-Identifier: GPL-3.0-or-later
"""Training is bitwise the same with everything monitored as with nothing, also where a hook fails."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import mindspore.experimental.optim as experimental
import numpy as np
import pytest
from mindspore import nn, ops
from recording import RecordingSink
from telltale import native
from telltale.agent.workbench import Workbench
from telltale.bins import BINS, OCTAVE_EDGES
from telltale.kinds import Kind
from telltale.mindspore import TrainerMon, executor
from telltale.mindspore.measure import Reader
from telltale.mindspore.optimizerparts import UpdatePart
from tinynet import adamw, bits, made, train

EVERYTHING = {
    "targets": {}, "wg_distribution": True, "param_distribution": True, "mv_distribution": True,
    "ur_distribution": True, "mg_direction": True, "xy_distribution": True, "all_xy": True, "stack_info": True,
    "monitor_mbs_grad": True, "telltale": {"histogram": ["grad_reduced", "actv", "update"]},
}  # fmt: skip
KINDS = {
    Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.GRAD_REDUCED, Kind.GRAD_UNREDUCED, Kind.EXP_AVG, Kind.EXP_AVG_SQ,
    Kind.UPDATE, Kind.UPDATE_RATIO, Kind.MG_DIRECTION, Kind.ACTV, Kind.ACTV_GRAD,
}  # fmt: skip
OPTIMIZERS = {
    "nn.Adam": lambda p: nn.Adam(p, 1e-2),
    "nn.AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 1e-2),
    "nn.SGD": lambda p: nn.SGD(p, 1e-2),
    "nn.Momentum": lambda p: nn.Momentum(p, 1e-2, 0.9),
    "nn.AdaFactor": lambda p: nn.AdaFactor(p, 1e-2, beta1=0.9, scale_parameter=False, relative_step=False),
    "experimental.Adam": lambda p: experimental.Adam(p, 1e-2),
    "experimental.AdamW": lambda p: experimental.AdamW(p, 1e-2),
    "experimental.SGD": lambda p: experimental.SGD(p, 1e-2),
}
ADAM = ("nn.Adam", "nn.AdamWeightDecay", "experimental.Adam", "experimental.AdamW")
MOMENTS = (*ADAM, "nn.AdaFactor")


def trained(
    steps: int, config: Any = None, make: Any = None, recompute: bool = False, micro: int = 1
) -> tuple[str, str, RecordingSink]:
    """The weights' bits, what the generator draws next, and what was recorded."""
    sink = RecordingSink()
    net = made(recompute=recompute)
    before = bits(net)
    optimizer = adamw(net) if make is None else make(net.trainable_params())
    monitor = None
    if config is not None:
        monitor = TrainerMon(config, sinks=[sink])
        monitor.set_monitor(net, optimizer, grad_acc_steps=micro)
    train(net, optimizer, steps, micro)
    if monitor is not None:
        monitor.close()
    assert bits(net) != before, "the optimizer changes no weight"
    return bits(net), ops.rand(4).asnumpy().tobytes().hex(), sink


def kinds_in(sink: RecordingSink) -> set[Kind]:
    return {shot.kind for frame in sink.frames for shot in frame.tables}


@pytest.mark.parametrize(("steps", "recompute", "micro"), [(20, False, 1), (5, True, 2)])
def test_everything_changes_no_bit(steps: int, recompute: bool, micro: int) -> None:
    plain = trained(steps, recompute=recompute, micro=micro)
    watched = trained(steps, EVERYTHING, recompute=recompute, micro=micro)
    assert plain[:2] == watched[:2]
    assert kinds_in(watched[2]) >= KINDS
    assert not [text for text in watched[2].sentences() if "error" in text]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_that_runs_here(name: str) -> None:
    make = OPTIMIZERS[name]
    plain, watched = trained(3, make=make), trained(3, EVERYTHING, make=make)
    assert plain[:2] == watched[:2]
    sink = watched[2]
    assert sink.steps(Kind.GRAD_REDUCED) == [0, 1, 2] and not [text for text in sink.sentences() if "error" in text]
    assert (Kind.EXP_AVG in kinds_in(sink)) == (name in MOMENTS)
    if name in MOMENTS:
        assert sink.record(Kind.EXP_AVG, "head.weight", step=0)["sumsq"] == 0
        assert sink.record(Kind.EXP_AVG, "head.weight", step=2)["sumsq"] > 0
        assert sink.steps(Kind.UPDATE) == ([1, 2] if name in ADAM else [])
    rates = sink.scalar("lr")
    assert rates[0] == pytest.approx(1e-2) and len(rates) == 3


def test_the_step_hooks_fail_and_training_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = trained(4)
    monkeypatch.setattr(Reader, "read", lambda *_given: 1 / 0)
    watched = trained(4, EVERYTHING)
    assert plain[:2] == watched[:2]
    assert any("ZeroDivisionError" in text for text in watched[2].sentences())


def test_gradient_hooks_fail_and_gradients_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = trained(4)
    monkeypatch.setattr(Workbench, "measure", lambda *_given: 1 / 0)
    watched = trained(4, EVERYTHING)
    assert plain[:2] == watched[:2]


def test_interrupting_inside_backward_ends_the_training_after_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """What leaves a gradient hook would poison every later gradient of the process."""
    genuine = Workbench.measure

    def interrupted(self: Workbench, kind: Kind, tensor: Any, row: int) -> None:
        if kind is Kind.GRAD_UNREDUCED and self.step == 1:
            raise KeyboardInterrupt
        genuine(self, kind, tensor, row)

    monkeypatch.setattr(Workbench, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trained(4, {"wg_distribution": True})
    monkeypatch.undo()
    assert trained(2)[0] == trained(2, {"wg_distribution": True})[0]


def test_graph_mode_gets_no_hook_and_one_sentence() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        sink, net = RecordingSink(), made()
        optimizer = adamw(net)
        monitor = TrainerMon(EVERYTHING, sinks=[sink])
        monitor.set_monitor(net, optimizer)
        assert not any(cell._forward_hook or cell._forward_pre_hook for _, cell in net.cells_and_names())
        assert not optimizer._forward_hook and not optimizer._forward_pre_hook
        assert len([text for text in sink.sentences() if "GRAPH mode" in text]) == 1
        monitor.close()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_switch_to_graph_mode_takes_the_hooks_away_and_back() -> None:
    """A parameter's or an optimizer's hook that is compiled ends the training."""

    def trained_in_both(config: Any) -> tuple[str, RecordingSink]:
        sink, net = RecordingSink(), made(layers=1)
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        if config is not None:
            monitor = TrainerMon(config, sinks=[sink])
            monitor.set_monitor(net, optimizer)
        try:
            for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE, ms.PYNATIVE_MODE):
                ms.set_context(mode=mode)
                train(net, optimizer, 2)
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        if config is not None:
            monitor.close()
            ms.set_context(mode=ms.GRAPH_MODE)  # nobody is told any more
            ms.set_context(mode=ms.PYNATIVE_MODE)
        return bits(net), sink

    plain, _ = trained_in_both(None)
    watched, sink = trained_in_both(EVERYTHING)
    assert plain == watched
    for step in range(4):  # of the six, two are compiled; an update wants a step before it
        found = {shot.kind for frame in sink.frames if frame.step == step for shot in frame.tables}
        assert found >= (KINDS if step % 2 else KINDS - {Kind.UPDATE, Kind.UPDATE_RATIO}), step
    assert max(frame.step for frame in sink.frames) == 3
    told = [text for text in sink.sentences() if "GRAPH mode" in text]
    assert len(told) == 1 and "switched to GRAPH mode before step 2" in told[0]
    assert not [text for text in sink.sentences() if "error" in text]


def test_what_lies_on_a_device_is_measured_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """By MindSpore's operations, as where this process may not read the memory."""
    plain, here = trained(2), trained(2, EVERYTHING)
    monkeypatch.setattr(executor, "is_on_host", lambda: False)
    monkeypatch.setattr(Reader, "read", lambda *_given: 1 / 0)
    there = trained(2, EVERYTHING)
    assert plain[:2] == there[:2] and kinds_in(there[2]) >= KINDS
    for kind, name, slot in (
        (Kind.ACTV, "head", "output"), (Kind.ACTV_GRAD, "blocks.0.n1", "input"), (Kind.GRAD_REDUCED, "head.weight", ""),
        (Kind.PARAM_UPDATED, "norm.gamma", ""),
    ):  # fmt: skip
        one, other = (sink.record(kind, name, slot) for sink in (here[2], there[2]))
        assert one["sumsq"] == pytest.approx(other["sumsq"], rel=1e-5) and one["numel"] == other["numel"]
    told = [text for text in there[2].sentences() if "no histograms" in text]
    assert len(told) == 1 and not [text for text in there[2].sentences() if "error" in text]


@pytest.mark.parametrize("is_native", [True, False])
def test_the_update_is_counted_by_powers_of_two_where_it_is_listed(
    monkeypatch: pytest.MonkeyPatch, is_native: bool
) -> None:
    """Numpy makes it, and the kernel reads it as any other array; the ratio keeps its own bins."""
    moved, made = UpdatePart.moved, []

    def watched(self: UpdatePart, m: Any, v: Any, *given: Any) -> Any:
        m[0] = np.nan, np.inf, -np.inf, *m[0, 3:]
        made.append(moved(self, m, v, *given))
        return made[-1]

    monkeypatch.setattr(native, "available", lambda: is_native)
    monkeypatch.setattr(UpdatePart, "moved", watched)
    _, _, sink = trained(2, {**EVERYTHING, "xy_distribution": False, "targets": {"head.weight": {}}})
    update = made[-1][0].astype(np.float64)
    counts = sink.histogram(Kind.UPDATE, "head.weight").tolist()
    assert counts == np.histogram(update, OCTAVE_EDGES)[0].tolist()
    assert sum(counts) == update.size - 1 and sink.record(Kind.UPDATE, "head.weight")["nans"] == 1
    ratios = sink.histogram(Kind.UPDATE_RATIO, "head.weight")
    assert len(ratios) == BINS and sum(ratios) == update.size - 1


@pytest.mark.long
def test_two_hundred_steps_change_no_bit() -> None:
    assert trained(200)[:2] == trained(200, EVERYTHING)[:2]


@pytest.mark.parametrize("how", ["cell", "function", "not reentrant"])
def test_a_recomputation_counts_once(how: str) -> None:
    """The same rows with the same values as without, in each of the three forms."""

    def rows(how: str) -> tuple[str, dict[tuple[Kind, str, str], float]]:
        net, sink = made(recompute=how == "cell"), RecordingSink()
        if how in ("function", "not reentrant"):
            more = {"use_reentrant": False} if how == "not reentrant" else {}

            def construct(ids: ms.Tensor) -> ms.Tensor:
                x = net.emb(ids)
                for block in net.blocks:
                    x = ms.recompute(block, x, **more)
                return net.head(net.norm(x))

            net.construct = construct
        optimizer = adamw(net)
        monitor = TrainerMon({"xy_distribution": True, "all_xy": True}, sinks=[sink])
        monitor.set_monitor(net, optimizer)
        train(net, optimizer, 2)
        monitor.close()
        found = {}
        for shot in sink.frames[1].tables:
            for desc, record in zip(shot.series, shot.values):
                key = shot.kind, desc.name, desc.slot.text
                assert key not in found
                found[key] = float(record["sumsq"])
        return bits(net), found

    plain, recomputed = rows("none"), rows(how)
    assert plain[0] == recomputed[0]
    kinds = [Kind.ACTV, Kind.ACTV_GRAD]
    for kind in kinds:
        one, other = ({key for key in found if key[0] is kind} for found in (plain[1], recomputed[1]))
        assert one == other, (kind, one ^ other)
    assert recomputed[1] == pytest.approx(plain[1], rel=1e-6)
