# SPDX-License-Identifier: GPL-3.0-or-later
"""Two gloo ranks communicate in every way while somebody watches; values, call sites and removal are right."""

import json
import math

import commworker
import pytest
import torch
from ranks import in_processes
from telltale.agent.collectives import aggregate, call_stack
from telltale.pytorch import collectivepatch
from telltale.pytorch.collectives import NOT_OBSERVED, CollectiveWatch


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What each of the two ranks saw."""
    folder = tmp_path_factory.mktemp("comm")
    in_processes(commworker.run, str(folder), count=2)
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def post(events):
    return [event for event in events if event["post"]]


@pytest.mark.parametrize("way", ["all_reduce", "cached", "async"])
def test_an_all_reduce_is_seen_before_and_after(ranks, way):
    for rank, saw in enumerate(ranks):
        before, after = saw[way]
        assert (before["post"], after["post"]) == (False, True)
        assert before["op"] == after["op"] == "all_reduce"
        assert before["parts"] == [[[rank + 1.0] * 2]] and after["parts"] == [[[3.0, 3.0]]]
        assert "commworker.py[" in after["site"] and after["group"]


def test_an_asynchronous_result_is_read_when_it_is_waited_for(ranks):
    for saw in ranks:
        assert saw["sums"]["events before the wait"] == 1, "only what was there before the call"


def test_a_result_nobody_waits_for_is_counted_and_left_out(ranks):
    for saw in ranks:
        assert [event["post"] for event in saw["forgotten"]] == [False]
        assert saw["never waited"] == 1


def test_parts_follow_the_arguments_of_the_function(ranks):
    wanted = {
        "all_gather": ("all_gather", [[[1.0], [2.0]], None]),
        "all_gather_into_tensor": ("all_gather_into_tensor", [[[1.0, 2.0]], None]),
        "reduce_scatter_tensor": ("reduce_scatter_tensor", [[[3.0]], None]),
        "broadcast": ("broadcast", [[[2.0, 2.0]]]),
        "all_to_all_single": ("all_to_all_single", [[[1.0, 2.0]], None]),
    }
    for rank, saw in enumerate(ranks):
        for way, (op, parts) in wanted.items():
            [event] = post(saw[way])
            own = [[rank + 1.0] * (2 if way in ("reduce_scatter_tensor", "all_to_all_single") else 1)]
            assert (event["op"], event["parts"]) == (op, [own if part is None else part for part in parts]), way
    assert post(ranks[0]["reduce"])[0]["parts"] == [[[3.0, 3.0]]]
    assert post(ranks[0]["gather"])[0]["parts"] == [[[1.0]], [[1.0], [2.0]]]
    assert post(ranks[1]["gather"])[0]["parts"] == [[[2.0]]]
    assert post(ranks[0]["scatter"])[0]["parts"] == [[[1.0]], [[1.0], [2.0]]]
    assert post(ranks[1]["scatter"])[0]["parts"] == [[[2.0]]]
    assert ranks[0]["barrier"] == []


def test_point_to_point_calls_keep_their_names(ranks):
    assert [event["op"] for event in post(ranks[0]["point to point"])] == ["send"]
    [received] = post(ranks[1]["point to point"])
    assert (received["op"], received["parts"]) == ("recv", [[[1.0, 1.0]]])
    for saw in ranks:
        assert [(event["op"], event["parts"]) for event in post(saw["batched"])] == [
            ("batch_isend_irecv", [[[1.0, 1.0]]])
        ]


def test_coalesced_private_and_sharded_calls_are_seen(ranks):
    for saw in ranks:
        values = sorted(tensor for event in post(saw["coalesced"]) for part in event["parts"] for tensor in part)
        assert values == [[3.0, 3.0], [5.0, 5.0]]
        gathered, reduced = post(saw["private"])
        assert gathered["op"] == "all_gather_into_tensor" and gathered["parts"][0] == [[1.0, 1.0, 2.0, 2.0]]
        assert reduced["op"] == "all_reduce" and reduced["parts"] == [[[2.0, 2.0, 4.0, 4.0]]]
        for way, gather in (("fsdp1", "all_gather"), ("fsdp2", "all_gather_into_tensor")):
            ops = {event["op"] for event in saw[way]}
            assert {gather, "reduce_scatter_tensor"} <= ops, way
            assert all("/fsdp/" in event["site"] for event in saw[way]), way


def test_removal_puts_the_original_methods_back(ranks):
    for saw in ranks:
        assert saw["restored"] == [] and saw["after removal"] == [] and saw["restored at last"] == []


def test_this_torch_holds_nothing_unknown(ranks):
    assert ranks[0]["problems"] == []
    assert len(NOT_OBSERVED) == 2


def test_a_code_line_selects_by_the_callers_stack(ranks):
    for saw in ranks:
        assert saw["chosen"] and all(event["parts"][0][0] != [1.0, 1.0] for event in saw["chosen"])
        assert all(event["site"].endswith("   coalesced") for event in saw["chosen"])
        [problem] = saw["chosen problems"]
        assert "no regular expression" in problem


def test_the_log_has_stack_type_and_group_of_each_call(ranks):
    for saw in ranks:
        assert saw["logged"] == [] and sorted(saw["log"]) == ["all_reduce", "broadcast"]
        assert len(saw["log"]["all_reduce"]) == 2, "two lines of the caller"
        for entry in saw["log"]["broadcast"]:
            stack = ";".join(entry["stack"])
            assert "commworker.py[" in stack and "   run;" in stack + ";" and "telltale/pytorch" not in stack
            assert entry["dtype"] == "torch.float32" and entry["group"] and entry["calls"] == 1


def test_an_exception_in_the_callback_stays_there(ranks):
    for saw in ranks:
        assert saw["reported"] == ["RuntimeError('callback')"] * 2
        assert [event["parts"] for event in saw["beside"]] == [[[[3.0]]], [[[6.0]]]]
        assert saw["user error"] == "TypeError"


def test_methods_of_another_version_are_patched_where_they_exist_and_reported_where_unknown(monkeypatch):
    class Group:
        def allreduce(self, tensors):
            return None

        def all_dance(self, tensors):
            return None

    class Work:
        def wait(self):
            return True

    monkeypatch.setattr(torch.distributed, "ProcessGroup", Group)
    monkeypatch.setattr(torch.distributed, "Work", Work)
    stored = Group.__dict__["allreduce"]
    seen = []
    watch = CollectiveWatch(seen.append)
    watch.install()
    assert watch.problems == ["not observed: ProcessGroup.all_dance, which this version of Telltale does not know"]
    Group().allreduce([torch.ones(2)])
    assert [event.op for event in seen] == ["all_reduce"], "no Work: done at once"
    theirs = Group.allreduce = lambda self, tensors: stored(self, tensors)
    watch.remove()
    assert Group.__dict__["allreduce"] is theirs, "somebody else's patch is left alone"
    assert collectivepatch.patch._originals == []


def test_works_of_a_coalescing_backend_end_with_the_last_one(monkeypatch):
    class Work:
        def wait(self):
            return True

    class Group:
        def _start_coalescing(self, device):
            return None

        def allreduce(self, tensors):
            return Work()

        def _end_coalescing(self, device):
            return Work()

    monkeypatch.setattr(torch.distributed, "ProcessGroup", Group)
    monkeypatch.setattr(torch.distributed, "Work", Work)
    seen = []
    watch = CollectiveWatch(seen.append)
    watch.install()
    group = Group()
    group._start_coalescing("cpu")
    group.allreduce([torch.ones(1)]), group.allreduce([torch.zeros(1)])
    work = group._end_coalescing("cpu")
    assert seen == [] and watch.never_waited == 0
    work.wait()
    work.wait()
    watch.remove()
    assert len(seen) == 2


def test_calls_of_a_step_are_aggregated_as_msprobe_does():
    values = [1.0, 4.0, 1.0]
    assert [aggregate(op, values) for op in ("min", "max", "norm", "zeros", "nans", "mean")] == [1, 4, 6, 2, 6, 2]
    assert all(math.isnan(aggregate(op, [1.0, math.nan])) for op in ("min", "max", "norm", "zeros", "mean"))
    assert math.isnan(aggregate("mean", [])) and math.isnan(aggregate("shape", [1.0]))
    assert aggregate("norm", iter([3.0])) == 3


def test_a_stack_has_msprobes_form():
    import sys

    lines = call_stack(sys._getframe()).split(";")
    assert lines[0].endswith("   test_a_stack_has_msprobes_form") and "test_collectives.py[" in lines[0]
