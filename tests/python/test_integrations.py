# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainer of transformers, Lightning and Accelerate, each really training."""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import telltale
import torch
from ranks import EVERYTHING, Recorder, assert_bitwise, assert_stats, state_of
from telltale.kinds import Form, Kind
from torch import nn

warnings.simplefilter("ignore")


@pytest.fixture(autouse=True)
def _without_the_libraries_chatter() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


STEPS = 3
MICROS = 2
CLIP = 0.5


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(4, 1)

    def forward(self, x: Any = None, labels: Any = None) -> dict[str, torch.Tensor]:
        logits = self.last(torch.relu(self.drop(self.first(x))))[:, 0]
        return {"loss": ((logits - labels) ** 2).mean(), "logits": logits}


class Data(torch.utils.data.Dataset):
    def __init__(self) -> None:
        self.x = torch.randn(32, 4, generator=torch.Generator().manual_seed(1))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": self.x[index], "labels": self.x[index].sum() * 5}


def _net() -> Net:
    torch.manual_seed(0)
    return Net()


class Paged(Recorder):
    """A recorder that takes pages, and keeps what the library says the training was started with."""

    def __init__(self) -> None:
        super().__init__()
        self.settings: dict[str, Any] = {}
        self.saved: list[int] = []  # steps of checkpoints

    def takes_pages(self) -> bool:
        return True

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        super().event(kind, step, text, json, rule)
        if kind == "checkpoint":
            self.saved.append(step)

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        super().blob(kind, name, step, data)
        if kind == "hyperparameters":
            self.settings = json.loads(data)


def _check(recorder: Recorder, losses: list[float], clipped: bool, first: int = 0) -> None:
    """Every step is there, in both forms of gradient, and carries its own loss."""
    steps = range(first, first + STEPS)
    assert sorted({frame.step for frame in recorder.frames if frame.tables}) == list(steps)
    for step in steps:
        assert recorder.names(Kind.GRAD_UNREDUCED, step) >= {"first.weight", "last.bias"}
        reduced = recorder.found(Kind.GRAD_REDUCED, step)
        assert math.sqrt(sum(float(v["sumsq"]) for _, v in reduced)) == pytest.approx(CLIP, rel=1e-3)
        assert all(bool(desc.form & Form.CLIPPED) == clipped for desc, _ in reduced)
        assert {desc.micro_step for desc, _ in recorder.found(Kind.ACTV, step)} == {0, 1}
        assert recorder.scalars(step)["loss"] == pytest.approx(losses[step - first], rel=1e-4)
        assert "lr" in recorder.scalars(step)


def _transformers(directory: Path, callbacks: list[Any]) -> tuple[Net, list[dict[str, Any]]]:
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(
        str(directory), per_device_train_batch_size=4, gradient_accumulation_steps=MICROS, max_steps=STEPS,
        logging_steps=1, report_to=[], use_cpu=True, max_grad_norm=CLIP, save_steps=2, disable_tqdm=True,
        learning_rate=0.01, logging_nan_inf_filter=False,
    )  # fmt: skip
    model = _net()
    trainer = Trainer(model, arguments, train_dataset=Data(), callbacks=callbacks)
    trainer.train()
    return model, [entry for entry in trainer.state.log_history if "loss" in entry]


def test_the_transformers_trainer_is_watched_with_its_losses_at_their_steps(tmp_path: Path) -> None:
    from telltale.integrations.huggingface import TelltaleCallback

    recorder = Paged()
    model, history = _transformers(tmp_path, [TelltaleCallback(EVERYTHING, sinks=[recorder])])
    _check(recorder, [float(entry["loss"]) for entry in history], clipped=True, first=1)
    for entry in history:
        scalars = recorder.scalars(entry["step"])  # the Trainer's own number of the step
        assert scalars["grad-norm-unclipped"] == pytest.approx(float(entry["grad_norm"]))
        assert scalars["grad-norm"] == pytest.approx(CLIP, rel=1e-3)
        assert "grad_norm" not in scalars
        assert scalars["lr"] == pytest.approx(float(entry["learning_rate"]))
    given = recorder.settings["training_arguments"]
    assert given["learning_rate"] == 0.01 and given["max_steps"] == STEPS
    assert recorder.saved == sorted({*range(2, STEPS + 1, 2), STEPS})
    assert telltale.current() is None
    bare, _ = _transformers(tmp_path, [])
    assert_bitwise(state_of(bare), state_of(model), "transformers")


def _lightning(callbacks: list[Any], saves: bool = False) -> tuple[nn.Module, list[float]]:
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.save_hyperparameters({"width": 4})
            self.net = Net()
            self.losses: list[float] = []

        def training_step(self, batch: Any, _index: int) -> torch.Tensor:
            loss = self.net(**batch)["loss"]
            self.losses.append(float(loss.detach()))
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.01)

    torch.manual_seed(0)
    module = Module()
    trainer = lightning.Trainer(
        max_steps=STEPS, accelerator="cpu", devices=1, accumulate_grad_batches=MICROS, gradient_clip_val=CLIP,
        logger=False, enable_checkpointing=saves, enable_progress_bar=False, enable_model_summary=False,
        log_every_n_steps=1, callbacks=callbacks,
    )  # fmt: skip
    trainer.fit(module, torch.utils.data.DataLoader(Data(), 4))
    return module, [sum(module.losses[i : i + MICROS]) / MICROS for i in range(0, len(module.losses), MICROS)]


def test_lightning_is_watched_though_it_computes_gradients_inside_the_step() -> None:
    from telltale.integrations.lightning import TelltaleCallback

    recorder = Paged()
    module, losses = _lightning([TelltaleCallback(EVERYTHING, sinks=[recorder])])
    strip = {"net." + name for name in ("first.weight", "last.bias")}
    assert recorder.names(Kind.GRAD_UNREDUCED, 0) >= strip
    for frame in recorder.frames:
        for shot in frame.tables:
            for desc in shot.series:
                object.__setattr__(desc, "name", desc.name.removeprefix("net."))
    _check(recorder, losses, clipped=True)
    assert recorder.settings["width"] == 4 and recorder.settings["trainer"]["accumulate_grad_batches"] == MICROS
    bare, _ = _lightning([])
    assert_bitwise(state_of(bare), state_of(module), "lightning")


def test_lightning_says_where_it_wrote_a_checkpoint(tmp_path: Path) -> None:
    from lightning.pytorch.callbacks import ModelCheckpoint
    from telltale.integrations.lightning import TelltaleCallback

    recorder = Paged()
    writer = ModelCheckpoint(tmp_path, every_n_train_steps=2, save_top_k=-1)
    _lightning([TelltaleCallback(EVERYTHING, sinks=[recorder]), writer], saves=True)
    assert recorder.saved == list(range(1, STEPS, 2))  # steps count from 0


def test_lightnings_validation_and_epoch_metrics_are_stored_once_at_the_step_they_came_after() -> None:
    import lightning
    from telltale.integrations.lightning import TelltaleCallback

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net()
            self.validated: list[float] = []

        def training_step(self, batch: Any, _index: int) -> torch.Tensor:
            loss = self.net(**batch)["loss"]
            self.log("train_loss", loss, on_step=True, on_epoch=True)
            self.log("constant", 7.0)
            return loss

        def validation_step(self, batch: Any, _index: int) -> None:
            self.log("val_loss", self.net(**batch)["loss"])

        def on_validation_epoch_end(self) -> None:
            self.validated.append(float(self.trainer.callback_metrics["val_loss"]))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    for epochs in (1, 2):
        torch.manual_seed(0)
        module, recorder = Module(), Recorder()
        loader = torch.utils.data.DataLoader(Data(), 8)
        lightning.Trainer(
            max_epochs=epochs, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1,
            callbacks=[TelltaleCallback({"wg_distribution": True}, sinks=[recorder])],
        ).fit(module, loader, loader)  # fmt: skip
        steps = len(loader)
        ends = [steps * epoch - 1 for epoch in range(1, epochs + 1)]
        validated = module.validated[1:]  # the first is of the check before training
        values = {step: recorder.scalars(step) for step in range(steps * epochs)}
        assert {step: v["val_loss"] for step, v in values.items() if "val_loss" in v} == {
            step: pytest.approx(loss) for step, loss in zip(ends, validated, strict=True)
        }
        assert [step for step, v in values.items() if "train_loss_epoch" in v] == ends
        assert all(v["constant"] == 7.0 and "train_loss_step" in v for v in values.values())


def _accelerate(is_watched: bool) -> tuple[nn.Module, Paged, list[float], list[dict[str, torch.Tensor]]]:
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from telltale.integrations import accelerate as integration

    AcceleratorState._reset_state(True)
    tracker = [integration.TelltaleTracker()] if is_watched else None
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=MICROS, log_with=tracker)
    recorder = Paged()
    model = _net()
    loader = torch.utils.data.DataLoader(Data(), 4)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 0.01), loader)
    if is_watched:
        integration.watch(accelerator, model, optimizer, EVERYTHING, sinks=[recorder])
        accelerator.init_trackers("run", config={"width": 4})
    losses: list[float] = []
    consumed: list[dict[str, torch.Tensor]] = []
    total = 0.0
    for k, batch in enumerate(loader):
        with accelerator.accumulate(model):
            loss = model(**batch)["loss"]
            accelerator.backward(loss)
            total += float(loss.detach()) / MICROS
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), CLIP)
                consumed.append({name: p.grad.clone() for name, p in model.named_parameters()})
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            losses.append(total)
            if is_watched:
                accelerator.log({"loss": total}, step=len(losses) - 1)
            total = 0.0
        if k + 1 == STEPS * MICROS:
            break
    accelerator.end_training()
    return model, recorder, losses, consumed


def test_accelerate_is_watched_through_its_optimizer_and_logs_to_the_run() -> None:
    model, recorder, losses, consumed = _accelerate(True)
    _check(recorder, losses, clipped=False)  # the loop clips by itself: nobody can know
    for step in range(STEPS):
        for desc, values in recorder.found(Kind.GRAD_REDUCED, step):
            assert_stats(values, consumed[step][desc.name], desc.name)
    assert recorder.settings == {"width": 4}
    assert telltale.current() is None
    bare, *_ = _accelerate(False)
    assert_bitwise(state_of(bare), state_of(model), "accelerate")
