# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_probe on two ranks under DDP."""

from __future__ import annotations

from pathlib import Path

import torch
from probed import config
from ranks import assert_bitwise, run_ranks, state_of
from telltale.gradprobe.comparator import GradComparator
from telltale.pytorch import PrecisionDebugger
from torch.nn.parallel import DistributedDataParallel


def trained(rank: int, settings: dict | None, flips: bool) -> list[torch.Tensor]:
    torch.manual_seed(5)
    layers = torch.nn.Linear(6, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)
    model = DistributedDataParallel(torch.nn.Sequential(*layers))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if settings is not None:
        PrecisionDebugger(settings).monitor(model)
    data = torch.Generator().manual_seed(10 + rank)
    for step in range(5):
        optimizer.zero_grad()
        model(torch.randn(16, 6, generator=data)).square().mean().backward()
        if flips and step >= 3 and rank == 1:
            model.module[2].weight.grad.neg_()
        optimizer.step()
    PrecisionDebugger.stop()
    return state_of(model)


def work(rank: int, _world: int, folder: str) -> None:
    bare = trained(rank, None, False)
    for name, level in (("clean", "L1"), ("again", "L2")):
        assert_bitwise(bare, trained(rank, config(f"{folder}/{name}", level), False), name)
    trained(rank, config(f"{folder}/flipped"), True)
    trained(rank, config(f"{folder}/second", top={"rank": ["1-3"]}), False)


def test_each_rank_has_its_folder_and_the_one_that_went_wrong_is_named(tmp_path: Path) -> None:
    run_ranks(work, str(tmp_path))
    assert sorted(path.name for path in (tmp_path / "clean").iterdir()) == ["rank0", "rank1"]
    assert [path.name for path in (tmp_path / "second").iterdir()] == ["rank1"]
    same = GradComparator.compare_distributed(tmp_path / "clean", tmp_path / "again", tmp_path / "same")
    assert same == [] and sorted(path.name for path in (tmp_path / "same").iterdir()) == ["rank0", "rank1"]
    found = GradComparator.compare_distributed(tmp_path / "clean", tmp_path / "flipped", tmp_path / "other")
    first = found[0]
    assert (first.rank, first.verdict.suspicious, first.name) == (1, 3, "module.2.weight")
    assert first.verdict.then == 0.0
