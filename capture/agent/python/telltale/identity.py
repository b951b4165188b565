# SPDX-License-Identifier: GPL-3.0-or-later
"""Who this process is among the ranks of its job."""

from __future__ import annotations

import os
import sys

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID")
_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE")
_MOST = 1_000_000


def _from_environment(names: tuple[str, ...], low: int) -> int | None:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdecimal() and low <= int(text) <= _MOST:
            return int(text)
    return None


def rank(given: int | None = None) -> int:
    """The argument, else the framework's rank, else the launcher's variable, else 0."""
    if given is not None:
        return given
    live = _distributed()
    if live is not None:
        return live[0]
    return _from_environment(_RANKS, 0) or 0


def world_size() -> int:
    """the framework's world size, else the launcher's variable, else 1."""
    live = _distributed()
    if live is not None:
        return live[1]
    return _from_environment(_SIZES, 1) or 1


def _distributed() -> tuple[int, int] | None:
    """(rank, world size) as a framework that is in use has them."""
    dist = sys.modules.get("torch.distributed")
    if dist is not None and dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    communication = sys.modules.get("mindspore.communication")
    if communication is not None and communication.GlobalComm.INITED:
        return communication.get_rank(), communication.get_group_size()
    return None
