# SPDX-License-Identifier: GPL-3.0-or-later
"""One of two gloo ranks that talk to each other while CollectiveWatch looks on; writes what it saw as JSON."""

import gc
import json
import os
import pathlib
import threading

import torch
import torch.distributed as dist
from ranks import end_rank
from telltale.pytorch.collectives import CollectiveWatch
from torch import nn
from torch.distributed import all_reduce as cached_all_reduce

SUMS = {}


def numbers(part):
    return [tensor.reshape(-1).tolist() for tensor in part]


class Seen:
    """A callback that keeps plain numbers."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(
            {
                "op": event.op,
                "post": event.is_post,
                "parts": [numbers(part) for part in event.parts],
                "site": event.site,
                "group": event.group,
                "thread": threading.current_thread().name,
            }
        )

    def take(self):
        taken, self.events = self.events, []
        return taken


def originals():
    names = [n for n in vars(dist.ProcessGroup) if not n.startswith("__")]
    return {n: vars(dist.ProcessGroup)[n] for n in names} | {"Work.wait": vars(dist.Work)["wait"]}


def coalesced(rank):
    with dist._coalescing_manager(async_ops=True) as manager:
        dist.all_reduce(torch.full((2,), rank + 1.0))
        dist.all_reduce(torch.full((2,), rank + 2.0))
    manager.wait()


def fully_sharded(make):
    model = make(nn.Linear(4, 4))
    return lambda: model(torch.ones(2, 4)).sum().backward()


def scenarios(rank):
    group = dist.distributed_c10d._get_default_group()
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    def shard_2(module):
        fully_shard(module)
        return module

    def point_to_point():
        tensor = torch.full((2,), rank + 1.0)
        dist.send(tensor, 1) if rank == 0 else dist.recv(tensor, 0)

    def batched():
        tensor = torch.full((2,), rank + 1.0)
        op = dist.P2POp(dist.isend if rank == 0 else dist.irecv, tensor, 1 - rank)
        for work in dist.batch_isend_irecv([op]):
            work.wait()

    def gather():
        out = [torch.zeros(1), torch.zeros(1)] if rank == 0 else None
        dist.gather(torch.full((1,), rank + 1.0), out, dst=0)

    def forgotten():
        work = dist.all_reduce(torch.full((1,), 1.0), async_op=True)
        while not work.is_completed():
            pass
        del work
        gc.collect()

    def private():
        out = torch.zeros(4)
        group._allgather_base(out, torch.full((2,), rank + 1.0)).wait()
        group.allreduce([out]).wait()

    def late():
        tensor = torch.full((2,), rank + 1.0)
        work = dist.all_reduce(tensor, async_op=True)
        middle = len(SEEN.events)
        work.wait()
        SUMS["events before the wait"] = middle

    return {
        "all_reduce": lambda: dist.all_reduce(torch.full((2,), rank + 1.0)),
        "cached": lambda: cached_all_reduce(torch.full((2,), rank + 1.0)),
        "async": late,
        "forgotten": forgotten,
        "all_gather": lambda: dist.all_gather([torch.zeros(1), torch.zeros(1)], torch.full((1,), rank + 1.0)),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(torch.zeros(2), torch.full((1,), rank + 1.0)),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(torch.zeros(1), torch.full((2,), rank + 1.0)),
        "broadcast": lambda: dist.broadcast(torch.full((2,), rank + 1.0), src=1),
        "reduce": lambda: dist.reduce(torch.full((2,), rank + 1.0), dst=0),
        "gather": gather,
        "scatter": lambda: dist.scatter(
            torch.zeros(1), [torch.ones(1), torch.full((1,), 2.0)] if rank == 0 else None, src=0
        ),
        "all_to_all_single": lambda: dist.all_to_all_single(torch.zeros(2), torch.full((2,), rank + 1.0)),
        "barrier": dist.barrier,
        "point to point": point_to_point,
        "batched": batched,
        "coalesced": lambda: coalesced(rank),
        "private": private,
        "fsdp1": fully_sharded(lambda m: FullyShardedDataParallel(m, device_id=torch.device("cpu"))),
        "fsdp2": fully_sharded(shard_2),
    }


SEEN = Seen()


def failing_callback(event):
    raise RuntimeError("callback")


def run(rank, folder):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    result = {}
    before = originals()
    todo = scenarios(rank)
    watch = CollectiveWatch(SEEN, pre_hook=True)
    watch.install()
    watch.install()
    result["problems"] = watch.problems
    for name, act in todo.items():
        act()
        result[name] = SEEN.take()
    result["sums"] = dict(SUMS)
    result["never waited"] = watch.never_waited
    watch.remove()
    watch.remove()
    after = originals()
    result["restored"] = sorted(name for name in before if before[name] is not after[name])
    for act in todo.values():
        act()
    result["after removal"] = SEEN.take()

    chosen = CollectiveWatch(SEEN, codeline=["commworker.py\\[\\d+\\]   coalesced", "("])
    chosen.install()
    todo["all_reduce"]()
    todo["coalesced"]()
    chosen.remove()
    result["chosen"] = SEEN.take()
    result["chosen problems"] = chosen.problems

    logged = CollectiveWatch(SEEN, log_only=True)
    logged.install()
    todo["all_reduce"]()
    todo["all_reduce"]()
    todo["broadcast"]()
    logged.remove()
    result["logged"] = SEEN.take()
    result["log"] = json.loads(logged.log_json())

    reported = []
    failing = CollectiveWatch(failing_callback, pre_hook=True, report=lambda what, error: reported.append(repr(error)))
    beside = CollectiveWatch(SEEN)
    failing.install()
    beside.install()
    tensor = torch.full((1,), rank + 1.0)
    dist.all_reduce(tensor)
    failing.remove()
    dist.all_reduce(tensor)
    result["reported"] = reported
    result["beside"] = SEEN.take()
    beside.remove()
    result["restored at last"] = sorted(name for name in before if before[name] is not originals()[name])

    errors = CollectiveWatch(SEEN)
    errors.install()
    try:
        dist.all_reduce("no tensor")
    except Exception as error:
        result["user error"] = type(error).__name__
    errors.remove()
    dist.barrier()
    pathlib.Path(folder, f"{rank}.json").write_text(json.dumps(result))
    end_rank()
