# SPDX-License-Identifier: GPL-3.0-or-later
"""Telltale for PyTorch: `from telltale.pytorch import TrainerMon`."""

from .trainermon import TrainerMon

__all__ = ["TrainerMon"]
