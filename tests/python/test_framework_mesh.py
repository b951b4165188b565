# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-dimensional meshes on four ranks: hybrid sharding, tensor parallelism, and both fully_shard and it."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from ranks import assert_all, assert_stats, run_ranks, watched
from sharded import Block, Reference, loss_of, net, train
from telltale.kinds import Kind
from telltale.series import SeriesDesc
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def _hybrid(rank: int, world: int) -> None:
    """Shards in one dimension of the mesh, replicas in the other."""
    reference = Reference(rank, world, 1)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicas", "shards"))
    second = net()
    for block in second.blocks:
        fully_shard(block, mesh=mesh)
    first = FSDP(
        net(),
        auto_wrap_policy=ModuleWrapPolicy({Block}),
        use_orig_params=True,
        device_id=torch.device("cpu"),
        sharding_strategy=ShardingStrategy.HYBRID_SHARD,
        device_mesh=mesh,
    )
    for model in (first, fully_shard(second, mesh=mesh)):
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        recorder, monitor = watched(model, optimizer)
        train(model, optimizer, rank, 1)
        for kind, wanted in (
            (Kind.GRAD_UNREDUCED, reference.sums[1]),
            (Kind.GRAD_REDUCED, reference.reduced[1]),
            (Kind.PARAM_ORIGIN, reference.params[1]),
        ):
            assert recorder.found(kind, 1)
            assert_all(recorder, kind, 1, wanted, 1e-4, is_complete=False)
        monitor.close()


class _Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.tanh(self.up(x)))


def _block_of(desc: SeriesDesc, full: torch.Tensor) -> torch.Tensor:
    """The rectangle that starts at the series' offset and has its shape."""
    if desc.shard_offset < 0:
        return full
    assert desc.full_shape == tuple(full.shape)
    if full.dim() == 1:
        return full[desc.shard_offset :][: desc.shape[0]]
    row, column = divmod(desc.shard_offset, full.shape[1])
    return full[row:, column:][: desc.shape[0], : desc.shape[1]]


def _tensor_parallel(is_sharded: bool) -> None:
    torch.manual_seed(0)
    model = _Mlp()
    plain = copy.deepcopy(model)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(mesh["dp"].get_local_rank()))
    loss_of(plain(x)).backward()
    parallelize_module(model, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    if is_sharded:
        fully_shard(model, mesh=mesh["dp"])
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    recorder, monitor = watched(model, optimizer)
    loss_of(model(x)).backward()
    optimizer.step()
    wanted: dict[Kind, dict[str, Any]] = {
        Kind.PARAM_ORIGIN: {name: p.detach() for name, p in plain.named_parameters()},
        Kind.GRAD_UNREDUCED: {name: p.grad for name, p in plain.named_parameters()},
    }
    for kind, tensors in wanted.items():
        found = recorder.found(kind, 0)
        assert {desc.name for desc, _ in found} == set(tensors), kind
        for desc, values in found:
            assert_stats(values, _block_of(desc, tensors[desc.name]), f"{kind.word} {desc.name}", 1e-5)
    up = next(desc for desc, _ in recorder.found(Kind.GRAD_UNREDUCED, 0) if desc.name == "up.weight")
    assert up.shape == (4, 6) and up.full_shape == (8, 6)
    # The output is still on its way when the hook sees it: waiting would be ours, so it is not read.
    assert any("a collective is still filling it" in sentence for sentence in recorder.sentences)
    monitor.close()


def _all(rank: int, world: int) -> None:
    warnings.simplefilter("ignore")
    _hybrid(rank, world)
    _tensor_parallel(False)
    _tensor_parallel(True)


def test_pieces_of_two_dimensional_meshes_carry_their_place() -> None:
    run_ranks(_all, world=4)
