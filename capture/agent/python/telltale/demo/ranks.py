# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranks of a demo training: torchrun starts them, gloo joins them."""

from __future__ import annotations

import argparse
import atexit
import os
import sys
import threading
from typing import NoReturn

import torch

from .. import identity
from .corpus import BadInput


def are_joined() -> bool:
    """Whether a launcher has started this process as one of several that train one model."""
    return "MASTER_ADDR" in os.environ and identity.world_size() > 1


def count(options: argparse.Namespace) -> int:
    """How many ranks train one model. Raises BadInput."""
    if not are_joined():
        return int(options.ranks)
    world = identity.world_size()
    if options.ranks not in (1, world):
        raise BadInput(f"--ranks {options.ranks}, but this is one of {world} ranks that are there already")
    return world


def run(arguments: list[str], world: int) -> int:
    """Runs the training on `world` ranks of this machine; the exit code."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        torchrun(["--standalone", f"--nproc-per-node={world}", "-m", "telltale", "train-demo", *arguments])
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        print(f"telltale train-demo: rank {rank} ended with exit code {failure.exitcode}", file=sys.stderr)
        return 1
    except SignalException:
        return 0  # torchrun has passed it on, and every rank has said where it stopped
    return 0


def agree(wish: bool) -> bool:
    """Whether any rank wishes it."""
    if not torch.distributed.is_initialized():
        return wish
    votes = torch.tensor(int(wish))
    torch.distributed.all_reduce(votes)
    return bool(votes)


def end(code: int) -> NoReturn:
    """Ends the process as sys.exit does, but for the interpreter's own end: a thread of gloo that lets go of a tensor
    late takes the interpreter's lock for it, and where the interpreter is ending by then, torch ends the process with
    "terminate called without an active exception"."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
