# SPDX-License-Identifier: GPL-3.0-or-later
"""Where measurements go: the dashboard (stream), msprobe's CSV layout, TensorBoard event files, Python (api)."""

from .base import RunContext, Sink

__all__ = ["RunContext", "Sink"]
