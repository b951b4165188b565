# SPDX-License-Identifier: GPL-3.0-or-later
"""The same libraries on two ranks: local gradients before, their mean after reduction."""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from typing import Any, Callable

import torch
import torch.distributed as dist
from ranks import EVERYTHING, Recorder, run_ranks
from telltale.agent.targets import bare_name
from telltale.kinds import Kind
from test_integrations import Data, Net

STEPS = 2


def _net() -> Net:
    torch.manual_seed(0)
    model = Net()
    model.drop.p = 0.0
    return model


def _check(recorder: Recorder, rank: int, world: int, what: str) -> None:
    """Sums are linear: the mean of the ranks' local sums is the sum of the reduced gradient."""
    first = 1 if what == "_transformers" else 0  # as the Trainer counts
    for step in range(first, first + STEPS):
        mine = {bare_name(desc.name): values for desc, values in recorder.found(Kind.GRAD_UNREDUCED, step)}
        reduced = {bare_name(desc.name): values for desc, values in recorder.found(Kind.GRAD_REDUCED, step)}
        assert mine.keys() == reduced.keys() and mine, what
        for name in sorted(mine):
            everywhere: list[Any] = [None] * world
            sums = (float(mine[name]["sum"]), float(reduced[name]["sum"]))
            dist.all_gather_object(everywhere, sums)
            local = [entry[0] for entry in everywhere]
            after = [entry[1] for entry in everywhere]
            scale = max(abs(value) for value in local) + 1e-6
            assert abs(sum(local) / world - after[rank]) < 1e-4 * scale, f"{what}: {name} step {step}"
            assert max(after) - min(after) < 1e-6 * scale, f"{what}: {name} is not the same on every rank"
            assert max(local) - min(local) > 1e-6 * scale, f"{what}: {name} is the same everywhere before reduction"
        assert "lr" in recorder.scalars(step)


def _transformers(rank: int, recorder: Recorder) -> None:
    from telltale.integrations.huggingface import TelltaleCallback
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as directory:
        arguments = TrainingArguments(
            directory, per_device_train_batch_size=4, max_steps=STEPS, logging_steps=1, report_to=[], use_cpu=True,
            max_grad_norm=0.0, save_strategy="no", disable_tqdm=True, ddp_backend="gloo",
        )  # fmt: skip
        callback = TelltaleCallback(EVERYTHING, sinks=[recorder])
        trainer = Trainer(_net(), arguments, train_dataset=Data(), callbacks=[callback])
        trainer.train()
        assert trainer.args.world_size == 2, "the Trainer did not join the ranks"


def _accelerate(rank: int, recorder: Recorder) -> None:
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from telltale.integrations.accelerate import watch

    AcceleratorState._reset_state(True)
    accelerator = Accelerator(cpu=True)
    assert accelerator.num_processes == 2
    model = _net()
    loader = torch.utils.data.DataLoader(Data(), 4)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 0.01), loader)
    monitor = watch(accelerator, model, optimizer, EVERYTHING, sinks=[recorder])
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
        if step + 1 == STEPS:
            break
    monitor.close()


def _lightning(rank: int, recorder: Recorder) -> None:
    import lightning
    from lightning.pytorch.strategies import DDPStrategy
    from telltale.integrations.lightning import TelltaleCallback

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = _net()

        def training_step(self, batch: Any, _index: int) -> torch.Tensor:
            return self.net(**batch)["loss"]

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.01)

    trainer = lightning.Trainer(
        max_steps=STEPS, accelerator="cpu", devices=2, strategy=DDPStrategy(process_group_backend="gloo"), logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1,
        callbacks=[TelltaleCallback(EVERYTHING, sinks=[recorder])],
    )  # fmt: skip
    trainer.fit(Module(), torch.utils.data.DataLoader(Data(), 4))


def _all(rank: int, world: int) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    # As torchrun would have it; the process group is there already.
    os.environ.update(TORCHELASTIC_RUN_ID="none", LOCAL_WORLD_SIZE=str(world), GROUP_RANK="0")
    os.environ["ACCELERATE_USE_CPU"] = "true"
    trainings: list[Callable[[int, Recorder], None]] = [_accelerate, _transformers, _lightning]
    for train in trainings:
        recorder = Recorder()
        train(rank, recorder)
        _check(recorder, rank, world, train.__name__)


def test_the_libraries_are_watched_on_every_rank() -> None:
    run_ranks(_all)
