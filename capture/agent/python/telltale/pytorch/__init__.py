# SPDX-License-Identifier: GPL-3.0-or-later
"""Telltale for PyTorch: `from telltale.pytorch import TrainerMon, PrecisionDebugger`."""

from ..gradprobe.comparator import GradComparator
from .precisiondebugger import PrecisionDebugger
from .trainermon import TrainerMon

__all__ = ["GradComparator", "PrecisionDebugger", "TrainerMon"]
