# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's command line tools. A module has the last part of its name there (msprobe.core.monitor.anomaly_processor is
anomaly_processor here) and a main(), so that a module of msprobe's name need only import it.

csv2tensorboard_by_step() and csv2db() are its converters, with its arguments and names of files; GradComparator is its
comparison of what grad_probe wrote.

`python -m telltale.compat.msprobe -m msprobe.core.monitor.anomaly_processor ...` runs a line of the documents,
`python -m telltale.compat.msprobe SCRIPT ...` a script."""

from __future__ import annotations

import importlib

from ...gradprobe.comparator import GradComparator
from .csv2tb import csv2tensorboard_by_step
from .metricsdb import CSV2DBConfig, csv2db

__all__ = ["CSV2DBConfig", "GradComparator", "csv2db", "csv2tensorboard_by_step", "install"]

# What the documents run by name, and what runs it here; all of it without torch.
TOOLS = {
    "msprobe.core.monitor.anomaly_processor": "telltale.compat.msprobe.anomaly_processor",
    "msprobe.pytorch.monitor.anomaly_analyse": "telltale.compat.msprobe.anomaly_processor",
}
# What the documents import by name.
PARTS = {
    "msprobe.pytorch.monitor.csv2tb": "telltale.compat.msprobe.csv2tb",
    "msprobe.core.monitor.csv2db": "telltale.compat.msprobe.metricsdb",
    "msprobe.core.grad_probe.grad_compare": "telltale.gradprobe.comparator",
}


def install(replace: bool = False) -> bool:
    """Makes msprobe's names Telltale's in this process where msprobe is not installed: telltale.msprobe.install()."""
    installed: bool = importlib.import_module("telltale.msprobe").install(
        replace
    )  # which needs torch, and this package
    return installed
