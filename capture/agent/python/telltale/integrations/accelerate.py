# SPDX-License-Identifier: GPL-3.0-or-later
"""For Accelerate:

accelerator = Accelerator(log_with=TelltaleTracker())
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
watch(accelerator, model, optimizer)
accelerator.init_trackers("run")
...
accelerator.log({"loss": loss}, step=step)
accelerator.end_training()
"""

from __future__ import annotations

from typing import Any

from accelerate.tracking import GeneralTracker

from .. import short
from ..agent.monitor import Monitor


def watch(accelerator: Any, model: Any, optimizer: Any, config: Any = None, **options: Any) -> Monitor:
    """telltale.watch() of what accelerator.prepare() returned, with its number of accumulation steps."""
    steps = max(1, int(getattr(accelerator, "gradient_accumulation_steps", 1)))
    return short.watch(model, optimizer, config, **{"grad_acc_steps": steps, **options})


class TelltaleTracker(GeneralTracker):
    """Sends accelerator.log() to the watch that runs, on every rank. Without a step the values belong to the step that
    has just ended."""

    name = "telltale"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self) -> None:
        super().__init__()

    @property
    def tracker(self) -> Any:
        """The Monitor, None before watch()."""
        return short.current()

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        short.hyperparameters(values)

    def log(self, values: dict[str, Any], step: int | None = None, **kwargs: Any) -> None:
        short.log(values, step)

    def finish(self) -> None:
        short.finish()
