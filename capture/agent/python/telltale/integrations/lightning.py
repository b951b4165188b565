# SPDX-License-Identifier: GPL-3.0-or-later
"""For Lightning (the package lightning, or the older pytorch_lightning):

trainer = Trainer(..., callbacks=[TelltaleCallback()])
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import torch

from .. import short
from .session import Session

_is_older = "pytorch_lightning" in sys.modules and "lightning" not in sys.modules
try:
    # Whichever of the two packages the training uses: their callbacks do not mix.
    Callback: Any = importlib.import_module("pytorch_lightning" if _is_older else "lightning.pytorch").Callback
except ImportError:
    Callback = importlib.import_module("pytorch_lightning").Callback


class TelltaleCallback(Callback):
    """Watches the module and its optimizers. Logs `loss` (the mean over the micro batches, whole, not divided by
    accumulate_grad_batches) and what the module logs itself, each value once: of a training batch with its step, of a
    validation or an epoch with the step that it came after."""

    def __init__(self, config: Any = None, **options: Any) -> None:
        """config: as for telltale.watch(); options: name, join, ..."""
        super().__init__()
        self._session = Session(config, options)
        self._loss = 0.0
        self._parts = 0
        self._seen: dict[str, Any] = {}

    @property
    def monitor(self) -> Any:
        """The TrainerMon while training, else None."""
        return self._session.monitor

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        wrapped = getattr(trainer.strategy, "model", None)
        model = wrapped if isinstance(wrapped, torch.nn.Module) else pl_module
        clips = bool(trainer.gradient_clip_val) and pl_module.automatic_optimization
        optimizers = list(trainer.optimizers)
        self._session.begin(model, optimizers, trainer.accumulate_grad_batches, trainer.global_step, clips)
        short.hyperparameters(_settings_of(trainer, pl_module))
        self._loss, self._parts = 0.0, 0
        self._seen = dict(trainer.logged_metrics)

    def _fresh(self, trainer: Any) -> dict[str, Any]:
        """What was logged since this was asked last. Lightning keeps every value until the next of its name; a value
        that was computed again is another tensor, even where the number is the same."""
        now = dict(trainer.logged_metrics)
        before, self._seen = self._seen, now
        return {name: value for name, value in now.items() if before.get(name) is not value}

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        self._session.checkpoint(f"after step {trainer.global_step}")

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        # Lightning has computed the last epoch's values once more since its end.
        self._seen = dict(trainer.logged_metrics)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._session.micro_step_begins()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if isinstance(loss, torch.Tensor) and loss.is_cpu and loss.numel() == 1:
            # Lightning has divided it by accumulate_grad_batches already.
            self._loss += float(loss.detach()) * trainer.accumulate_grad_batches
            self._parts += 1
        if not self._session.has_new_step():
            return
        values = self._fresh(trainer)
        if self._parts:
            values["loss"] = self._loss / self._parts
        self._loss, self._parts = 0.0, 0
        self._session.log(values)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        values = self._fresh(trainer)
        if not trainer.sanity_checking:
            self._session.log(values)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._session.log(self._fresh(trainer))

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._session.log(self._fresh(trainer))
        self._session.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._session.end("error")


_TRAINER = ("max_epochs", "max_steps", "accumulate_grad_batches", "gradient_clip_val", "precision", "num_devices")


def _settings_of(trainer: Any, module: Any) -> dict[str, Any]:
    """What save_hyperparameters() of the module and its data has kept, and the trainer's own settings."""
    found: dict[str, Any] = {}
    for holder in (getattr(trainer, "datamodule", None), module):
        found |= dict(getattr(holder, "hparams", None) or {})
    found["trainer"] = {name: getattr(trainer, name, None) for name in _TRAINER}
    return found
