# SPDX-License-Identifier: GPL-3.0-or-later
"""The api sink gives programs the last steps' numbers under names they know."""

import math

import pytest
from tables import context, desc, frame, table
from telltale.kinds import Kind
from telltale.sinks.api import ApiSink


def steps(sink, count):
    for step in range(count):
        grads = table(Kind.GRAD_REDUCED, [(desc("head.weight"), [3.0, 4.0 * step])])
        acts = table(Kind.ACTV, [(desc("blocks.0", "output", 1), [1.0, math.nan])])
        sink.write(frame(step, grads, *([acts] if step == 0 else [])))


def test_the_last_frames_are_kept_and_the_callback_sees_each():
    seen = []
    sink = ApiSink(keep=3, callback=lambda one: seen.append(one.step))
    sink.open(context())
    steps(sink, 5)
    assert seen == [0, 1, 2, 3, 4]
    assert [one.step for one in sink.frames()] == [2, 3, 4]
    assert sink.latest().step == 4 and sink.latest(Kind.ACTV) is None


def test_metrics_are_by_name_and_op():
    sink = ApiSink()
    sink.open(context(rank=2, ops=["norm", "nans"]))
    assert sink.metrics(Kind.GRAD_REDUCED) == {}
    steps(sink, 2)
    wanted = {"norm": 5.0, "nans": 0.0, "shape": "[2, 3]", "dtype": "torch.float32"}
    assert sink.metrics(Kind.GRAD_REDUCED) == {"head.weight": wanted}
    assert sink.metrics(Kind.GRAD_REDUCED, step=0)["head.weight"]["norm"] == 3.0
    assert sink.metrics(Kind.GRAD_REDUCED, step=77) == {}
    assert sink.metrics(Kind.GRAD_REDUCED, tags=True) == {"0:head.weight/rank2/post_grad": wanted}
    (actv,) = sink.metrics(Kind.ACTV).items()
    assert actv[0] == "blocks.0.output:1" and actv[1]["nans"] == 1.0 and math.isnan(actv[1]["norm"])


def test_what_a_callback_raises_reaches_the_caller_with_the_frame_kept():
    def fail(_frame):
        raise KeyError("user")

    sink = ApiSink(callback=fail)
    sink.open(context())
    with pytest.raises(KeyError):
        steps(sink, 1)
    assert len(sink.frames()) == 1
