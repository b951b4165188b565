# SPDX-License-Identifier: GPL-3.0-or-later
"""For MindSpore Transformers, and for plain MindSpore trainings that want its metrics:

from telltale.integrations.mindformers import TelltaleCallback
Model(...).train(epochs, data, callbacks=[TelltaleCallback(monitor_config={...}, tensorboard={...})])

In a MindFormers job nothing but its yaml changes: `callbacks: - {type: TelltaleCallback}`, with
`run_mindformer.py --register_path` (or REGISTER_PATH) at a folder with this import.
"""

from __future__ import annotations

import sys

from .static import TelltaleCallback

__all__ = ["TelltaleCallback"]


def _register() -> None:
    """Makes the classes known to a job's yaml, where the job is MindFormers'."""
    if "mindformers" not in sys.modules:
        return
    from mindformers.tools.register import MindFormerModuleType, MindFormerRegister

    MindFormerRegister.register(MindFormerModuleType.CALLBACK)(TelltaleCallback)


_register()
