# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured, against numpy on the tensors themselves."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops
from recording import RecordingSink, norm
from telltale.kinds import DType, Form, Kind, Stat
from telltale.mindspore import TrainerMon, executor
from telltale.mindspore.measure import DTYPES, MOST_KEPT, Reader
from telltale.series import SeriesDesc, SeriesTable
from tinynet import adamw, batches, loss_of, made, train

FIELDS = ("sum", "sumsq", "min", "max", "numel", "finite", "zero_count", "nans", "pos_infs", "neg_infs")
ODD = [0.0, -0.0, 1e-9, 3.5, -7.25, float("nan"), float("inf"), float("-inf"), 100.0]


def measured(tensor: Tensor, how: str) -> Any:
    table = SeriesTable(Kind.ACTV, capacity=4)
    table.add(SeriesDesc("x"))
    reader = Reader(1e-8, 1, use_native=how != "numpy")
    if how == "operations":
        reader._by_operations(tensor, table, 0)
        reader.settle(table)
    else:
        assert reader.one(tensor, table, 0) == ""
    return table.results[0]


@pytest.mark.parametrize("how", ["native", "numpy", "operations"])
@pytest.mark.parametrize("kind", [ms.float32, ms.float16, ms.bfloat16, ms.float64, ms.int32, ms.bool_])
def test_statistics_by_every_way_that_reads(how: str, kind: Any) -> None:
    values = np.array(ODD, np.float32) if kind in (ms.float32, ms.float16, ms.bfloat16, ms.float64) else np.arange(9)
    tensor = Tensor(values.reshape(3, 3).astype(np.float32)).astype(kind)
    x = np.asarray(tensor.asnumpy(), np.float64).reshape(-1)
    finite = x[np.isfinite(x)]
    found = measured(tensor, how)
    expected = (
        finite.sum(), (finite**2).sum(), finite.min(), finite.max(), 9, finite.size, (np.abs(finite) < 1e-8).sum(),
        np.isnan(x).sum(), np.isposinf(x).sum(), np.isneginf(x).sum(),
    )  # fmt: skip
    for name, value in zip(FIELDS, expected):
        assert found[name] == pytest.approx(float(value), rel=1e-6), name


def test_every_element_type_has_its_own_code() -> None:
    assert len(set(DTYPES.values())) == len(DTYPES) == len(DType) - 1


def test_views_are_read_as_they_are() -> None:
    whole = Tensor(np.arange(24, dtype=np.float32).reshape(4, 6))
    for view in (whole.transpose(1, 0), whole[1:3], whole[:, 2:4], ops.broadcast_to(whole[:1], (3, 6))):
        assert measured(view, "native")["sum"] == view.asnumpy().sum()


def test_nothing_is_kept_beyond_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "is_blocking", lambda: False)
    table = SeriesTable(Kind.ACTV, capacity=8)
    for i in range(3):
        table.add(SeriesDesc(str(i)))
    reader = Reader(1e-8, 1)
    big = Tensor(np.ones((MOST_KEPT // 4 // 2 + 1,), np.float32))
    for row in range(3):
        assert reader.one(big, table, row) == ""
    kept = [work.held[0].size for work in reader._work.values()]
    assert kept == [big.size, 10, 10] and not table.rows().size and reader._budget.taken == big.nbytes
    reader.settle(table)
    assert list(table.rows()) == [0, 1, 2] and not reader._work and reader._budget.taken == 0
    assert all(record["finite"] == big.size for record in table.results[:1])


def watched(config: dict[str, Any], net: nn.Cell, optimizer: Any, **more: Any) -> tuple[TrainerMon, RecordingSink]:
    sink = RecordingSink()
    monitor = TrainerMon(config, sinks=[sink])
    monitor.set_monitor(net, optimizer, **more)
    return monitor, sink


def test_unreduced_is_the_sum_and_each_micro_step_alone_when_asked() -> None:
    for is_each in (False, True):
        net = made()
        optimizer = adamw(net)
        config = {"wg_distribution": True, "monitor_mbs_grad": is_each}
        monitor, sink = watched(config, net, optimizer, grad_acc_steps=3)
        gradients_of, data = ms.value_and_grad(loss_of(net), None, optimizer.parameters), batches()
        given = [gradients_of(*next(data))[1] for _ in range(3)]
        optimizer(tuple(a + b + c for a, b, c in zip(*given)))
        last = [one[-1].asnumpy().astype(np.float64) for one in given]
        name = optimizer.parameters[-1].name
        if is_each:
            for micro, gradient in enumerate(last):
                record = sink.record(Kind.GRAD_UNREDUCED, name, micro=micro)
                assert norm(record) == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
        else:
            assert norm(sink.record(Kind.GRAD_UNREDUCED, name)) == pytest.approx(np.linalg.norm(sum(last)), rel=1e-5)
        forms = {desc.form for frame in sink.frames for shot in frame.tables if shot.kind is Kind.GRAD_UNREDUCED
                 for desc in shot.series}  # fmt: skip
        assert forms == {Form.MICRO if is_each else Form.ACCUMULATED}
        monitor.close()


def test_micro_steps_that_nobody_announced_are_added_up() -> None:
    net = made()
    optimizer = adamw(net)
    monitor, sink = watched({"wg_distribution": True}, net, optimizer)
    gradients_of, data = ms.value_and_grad(loss_of(net), None, optimizer.parameters), batches()
    given = [gradients_of(*next(data))[1] for _ in range(2)]
    optimizer(tuple(a + b for a, b in zip(*given)))
    total = sum(one[-1].asnumpy().astype(np.float64) for one in given)
    name = optimizer.parameters[-1].name
    assert norm(sink.record(Kind.GRAD_UNREDUCED, name)) == pytest.approx(np.linalg.norm(total), rel=1e-5)
    monitor.close()


def test_a_step_that_is_given_up_is_no_part_of_the_next() -> None:
    net = made()
    optimizer = adamw(net)
    monitor, sink = watched({"wg_distribution": True}, net, optimizer)
    loss = loss_of(net)
    is_broken = [True]

    def scaled(ids: Tensor, label: Tensor) -> Tensor:
        return loss(ids, label) * (float("inf") if is_broken[0] else 1.0)

    gradients_of, data = ms.value_and_grad(scaled, None, optimizer.parameters), batches()
    gradients_of(*next(data))  # overflow: nobody calls the optimizer
    is_broken[0] = False
    gradients = gradients_of(*next(data))[1]
    optimizer(gradients)
    record = sink.record(Kind.GRAD_UNREDUCED, optimizer.parameters[-1].name, step=0)
    assert record["finite"] == record["numel"]
    assert norm(record) == pytest.approx(np.linalg.norm(gradients[-1].asnumpy().astype(np.float64)), rel=1e-6)
    assert any("was tried and given up" in text for text in sink.sentences())
    monitor.close()


def test_a_loss_scale_is_said() -> None:
    net = made()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    monitor, sink = watched({"wg_distribution": True}, net, optimizer)

    class WithLoss(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def construct(self, ids: Tensor, label: Tensor) -> Tensor:
            logits = self.net(ids)
            return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1))

    cell = nn.TrainOneStepCell(WithLoss(), optimizer, sens=1024.0)
    cell.set_train()
    data = batches()
    for _ in range(2):
        cell(*next(data))
    forms = {shot.kind: desc.form for frame in sink.frames for shot in frame.tables for desc in shot.series}
    assert forms[Kind.GRAD_UNREDUCED] & Form.SCALED
    monitor.close()


def test_an_unscaled_training_is_not_said_to_be_scaled() -> None:
    net = made(layers=1)
    optimizer = adamw(net)
    monitor, sink = watched({"wg_distribution": True}, net, optimizer)
    train(net, optimizer, 1)
    assert not any(desc.form & Form.SCALED for shot in sink.frames[0].tables for desc in shot.series)
    monitor.close()


def test_a_loss_scale_manager_is_noticed() -> None:
    net, sink = nn.Dense(4, 1), RecordingSink()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(net, optimizer)

    class Scaled(nn.TrainOneStepWithLossScaleCell):
        """Without the look at overflows, which has no kernel here."""

        def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Any:
            return pre_cond, compute_input

        def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
            return False

        def process_loss_scale(self, overflow: Any) -> bool:
            return False

    cell = Scaled(nn.WithLossCell(net, nn.MSELoss()), optimizer, ms.Tensor(1024.0))
    cell.set_train()
    x, y = Tensor(np.ones((3, 4), np.float32)), Tensor(np.zeros((3, 1), np.float32))
    cell(x, y)
    [forms] = [
        {desc.form for desc in shot.series} for shot in sink.frames[0].tables if shot.kind is Kind.GRAD_UNREDUCED
    ]
    assert forms == {Form.SCALED}
    scaled, unscaled = (sink.record(kind, "weight") for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED))
    assert norm(scaled) == pytest.approx(1024 * norm(unscaled), rel=1e-5)
    monitor.close()


class Core(nn.Cell):
    """Attention that is called with query and key."""

    def construct(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) / q.shape[-1] ** 0.5
        return ops.matmul(ops.softmax(scores, -1), v)


class Routed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.emb, self.core, self.router = nn.Embedding(32, 16), Core(), nn.Dense(16, 4)
        self.head = nn.Dense(16, 32)

    def construct(self, ids: Tensor) -> Tensor:
        x = self.emb(ids)
        b, s, d = x.shape
        h = x.reshape(b, s, 2, 8)
        x = x + self.core(h, h, h).reshape(b, s, d)
        return self.head(x) * self.router(x).sum(-1, keepdims=True)


def test_l2_features() -> None:
    ms.set_seed(3)
    net = Routed()
    net.set_train()
    optimizer = adamw(net)
    config = {
        "recording_l2_features": True,
        "sa_order": "b,s,h,d",
        "l2_targets": {
            "attention_hook": ["core"], "linear_hook": ["head"], "moe_router_logit_hook": ["router"],
            "moe_router_weight_hook": ["router"],
        },
    }  # fmt: skip
    weight = net.head.weight.asnumpy().astype(np.float64)
    monitor, sink = watched(config, net, optimizer)
    train(net, optimizer, 1)
    entropies = sink.record(Kind.ATTENTION, "core", "head_1")
    assert 0 < entropies[0] < np.log(8) and 1 / 8 < entropies[1] <= 1
    root, sigma = sink.record(Kind.LINEAR, "head")
    exact = np.linalg.svd(weight, compute_uv=False)[0]
    assert sigma == pytest.approx(exact, rel=1e-4) and root == pytest.approx(np.linalg.norm(weight) / exact, rel=1e-4)
    found = {shot.stats: float(shot.values[0, 0]) for shot in sink.frames[0].tables if shot.kind is Kind.ROUTER}
    assert 0 < found[Stat.ENTROPY,] <= np.log(4) and -1 <= found[Stat.SIMILARITY,] <= 1
    assert not [text for text in sink.sentences() if "error" in text or "not observed" in text], sink.sentences()
    monitor.close()
