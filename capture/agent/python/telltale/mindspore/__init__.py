# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent for MindSpore's dynamic graph (PyNative).

import telltale.mindspore
telltale.mindspore.watch(net, optimizer)                  # once; telltale.watch() does the same for a Cell
telltale.log({"loss": loss}, step=step)
"""

from ..gradprobe.comparator import GradComparator
from ..short import watch
from .precisiondebugger import PrecisionDebugger
from .trainermon import TrainerMon

__all__ = ["GradComparator", "PrecisionDebugger", "TrainerMon", "watch"]
