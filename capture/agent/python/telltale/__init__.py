# SPDX-License-Identifier: GPL-3.0-or-later
"""Telltale watches training runs: statistics of weights, gradients, activations and more, live in a dashboard.

import telltale
telltale.watch(model, optimizer)          # once
telltale.log({"loss": loss}, step=step)   # where you like
telltale.open("run.telltale").frame(kind="grad_reduced", stat="norm").to_pandas()   # afterwards, or meanwhile
"""

from .short import (
    add_tags,
    capture_console,
    checkpoint,
    current,
    expert_load,
    finish,
    hyperparameters,
    local_loss,
    local_norm,
    log,
    log_image,
    log_text,
    loss_scale,
    run,
    set_notes,
    throughput,
    watch,
)
from .short import open_run as open

__version__ = "0.1.0"
__all__ = [
    "add_tags",
    "capture_console",
    "checkpoint",
    "current",
    "expert_load",
    "finish",
    "hyperparameters",
    "local_loss",
    "local_norm",
    "log",
    "log_image",
    "log_text",
    "loss_scale",
    "open",
    "run",
    "set_notes",
    "throughput",
    "watch",
]
