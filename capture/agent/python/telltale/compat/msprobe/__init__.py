# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's command line tools. A module has the last part of its name there (msprobe.core.monitor.anomaly_processor is
anomaly_processor here) and a main(), so that a module of msprobe's name need only import it."""
