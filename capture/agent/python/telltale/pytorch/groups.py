# SPDX-License-Identifier: GPL-3.0-or-later
"""Process groups that the user names: where this rank stands in them, and whose gradients they make the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch.distributed as dist

from ..agent.sources import Source


def _is_live() -> bool:
    return dist.is_available() and dist.is_initialized()


def place_in(group: Any, rank: int) -> tuple[int, list[int]]:
    """(this rank's number in a group, the global ranks of all its members); without a group, in the whole job."""
    if not _is_live():
        return rank, [rank]
    if group is None:
        return dist.get_rank(), list(range(dist.get_world_size()))
    return dist.get_rank(group), dist.get_process_group_ranks(group)


def coordinate(group: Any) -> int | None:
    """This rank's number in a group, None without one."""
    if group is None or not _is_live():
        return None
    number = dist.get_rank(group)
    return number if number >= 0 else None


def duplicates(
    sources: Iterable[Source], dp_group: Any, tp_group: Any
) -> dict[str, frozenset[tuple[int, str]]]:
    """(chunk, name) of the parameters whose reduced gradient is the same on the first rank of a group, which is not
    this one; by the group's argument. As msprobe has it: after data parallel reduction all of them, but for those of
    which each rank steps a piece; in a tensor parallel group those without the attribute tensor_model_parallel."""
    replicated = [source for source in sources if source.is_replicated]
    found = {}
    if coordinate(dp_group):
        found["dp_group"] = frozenset((source.vpp_stage, source.name) for source in replicated)
    if coordinate(tp_group):
        same = [source for source in replicated if not getattr(source.tensor, "tensor_model_parallel", False)]
        found["tp_group"] = frozenset((source.vpp_stage, source.name) for source in same)
    return {name: names for name, names in found.items() if names}
