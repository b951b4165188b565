# SPDX-License-Identifier: GPL-3.0-or-later
"""For MindSpore Transformers, and for plain MindSpore trainings that want its metrics:

from telltale.integrations.mindformers import TelltaleCallback
Model(...).train(epochs, data, callbacks=[TelltaleCallback(monitor_config={...}, tensorboard={...})])

In a MindFormers job nothing but its yaml changes: `callbacks: - {type: TelltaleCallback}` (of its PyNative Trainer:
TelltaleTrainerCallback), with `run_mindformer.py --register_path` (or REGISTER_PATH) at a folder with this import.
"""

from __future__ import annotations

import sys

from .pynative import TelltaleTrainerCallback
from .static import TelltaleCallback

__all__ = ["TelltaleCallback", "TelltaleTrainerCallback"]


def _register() -> None:
    """Makes the classes known to a job's yaml, where the job is MindFormers'."""
    if "mindformers" not in sys.modules:
        return
    from mindformers.tools.register import MindFormerModuleType, MindFormerRegister

    for callback in (TelltaleCallback, TelltaleTrainerCallback):
        MindFormerRegister.register(MindFormerModuleType.CALLBACK)(callback)


_register()
