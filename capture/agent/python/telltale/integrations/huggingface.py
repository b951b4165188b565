# SPDX-License-Identifier: GPL-3.0-or-later
"""For transformers' Trainer:

trainer = Trainer(..., callbacks=[TelltaleCallback()])
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from .. import short
from .session import Session

# lr is read from the optimizer at every step already; the others are no measurements of a step.
_NOT_METRICS = ("learning_rate", "epoch", "total_flos", "step")
# Two names that differ in a hyphen alone would be two curves that nobody can tell apart.
_NAMES = {"grad_norm": "grad-norm-unclipped"}


class TelltaleCallback(TrainerCallback):
    """Watches the Trainer's model and its inner optimizer, and counts steps as the Trainer does: from 1. What it logs
    goes to the step that has just ended: `loss` is its mean since the last log; `grad_norm`, the norm before clipping,
    becomes `grad-norm-unclipped` beside our `grad-norm`, which is that of what the optimizer consumed."""

    def __init__(self, config: Any = None, **options: Any) -> None:
        """config: as for telltale.watch(); options: name, join, ..."""
        self._session = Session(config, options)

    @property
    def monitor(self) -> Any:
        """The TrainerMon while training, else None."""
        return self._session.monitor

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        model, optimizer = kwargs.get("model"), kwargs.get("optimizer")
        if model is None:
            return
        clips = float(args.max_grad_norm or 0.0) > 0
        self._session.begin(model, optimizer, args.gradient_accumulation_steps, state.global_step + 1, clips)
        short.hyperparameters(_settings_of(args, model))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        values = {_NAMES.get(name, name): value for name, value in (logs or {}).items() if name not in _NOT_METRICS}
        self._session.log(values)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._session.checkpoint(f"checkpoint-{state.global_step}")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._session.end()


def _settings_of(args: Any, model: Any) -> dict[str, Any]:
    """The Trainer's arguments and the model's config, without tokens."""
    found: dict[str, Any] = {}
    holders: tuple[tuple[str, Any], ...] = (
        ("training_arguments", args),
        ("model_config", getattr(model, "config", None)),
    )
    for name, one in holders:
        try:
            found[name] = one.to_dict()
        except Exception:  # noqa: BLE001 - a model without a config, arguments of another kind
            continue
    return found
