# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback for trainings by mindspore.train.Model: MindFormers' static graph, and PyNative mode."""

from __future__ import annotations

import os
import time
from typing import Any

import mindspore as ms
from mindspore.train import Callback

from ...console import log
from ...rates import Rates
from ..runstream import RunStream
from . import modelmetrics as model
from .agentwatch import AgentWatch
from .configtexts import read_config, texts_of
from .jobview import Beside, StepOutput, board_folder
from .localnorms import LocalNorms
from .numbers import devices, is_pynative, loss_cell, trainable
from .outlet import Outlet
from .runmetrics import LossParts, RunMetrics
from .settings import BoardSettings, MonitorSettings, read_board, read_monitor
from .statemetrics import StateMetrics
from .tags import Style, Tags
from .transport import Transport


class TelltaleCallback(Callback):
    """Streams every metric of MindSpore Transformers' monitors to the dashboard, and writes event files and log lines
    as monitor_config says, unless MindFormers' own callbacks beside it do that already.

    Model.train(..., callbacks=[TelltaleCallback(monitor_config={...}, tensorboard={...})]), or in a MindFormers job's
    yaml `callbacks: - type: TelltaleCallback`, where it takes its settings from the callbacks beside it. It only
    reads; a training with it is bitwise the same. Never raises.
    """

    def __init__(
        self,
        monitor_config: Any = None,
        tensorboard: Any = None,
        config: Any = None,
        *,
        learning_rate: Any = None,
        per_print_times: int = 1,
        global_batch_size: int = 0,
        origin_epochs: int = 0,
        dataset_size: int = 0,
        initial_step: int = 0,
        micro_batch_num: int = 1,
        micro_batch_interleave_num: int = 1,
        gradient_accumulation_steps: int = 1,
        calculate_per_token_loss: bool = False,
        model_flops_per_step: float = 0.0,
        peak_flops: float = 0.0,
        tags: Style = "documents",
        watch: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        """config: the job's whole config (a mapping or the path of its yaml): its texts, and monitor_config and
        tensorboard where they are not given. model_flops_per_step: of the whole job, where MindFormers cannot count
        them. tags: "documents", or "2.1" as MindFormers 2.1 writes them. watch: True, or a monitor's config: also the
        model's tensors, by telltale.mindspore. options: of the agent (join, run_id, mode)."""
        super().__init__()
        self._config, why = read_config(config)
        self._sentences = [why] if why else []
        self._monitor_config = monitor_config if monitor_config is not None else self._config.get("monitor_config")
        self._board_config = tensorboard if tensorboard is not None else self._config.get("tensorboard")
        self._rate = learning_rate
        self._print_every = max(1, per_print_times)
        self._batch = global_batch_size
        self._epochs = origin_epochs
        self._steps_per_epoch = dataset_size
        self._initial_step = initial_step
        self._parts = LossParts(
            micro_batch_num, micro_batch_interleave_num, gradient_accumulation_steps, calculate_per_token_loss
        )
        self._flops = model_flops_per_step
        self._peak = peak_flops
        self._tags = Tags(tags)
        self._options = {**options, "run_name": name} if name else dict(options)
        self._agent = AgentWatch(watch, self._options)
        self.settings = MonitorSettings()
        self.board = BoardSettings()
        self._outlet: Outlet | None = None
        self._run: RunMetrics | None = None
        self._state: StateMetrics | None = None
        self._prints_struct = False
        self._began = time.monotonic()
        self._told: set[str] = set()
        self._ask_for_transport()

    @property
    def stream(self) -> RunStream | None:
        """What goes to the dashboard, while training."""
        return self._outlet.stream if self._outlet is not None else None

    # -- moments -------------------------------------------------------------------------------------------------

    def on_train_begin(self, run_context: Any) -> None:
        self._safely("the beginning", self._begin, run_context.original_args())

    def on_train_epoch_begin(self, run_context: Any) -> None:
        if self._run is not None:
            self._run.losses.clear()

    def on_train_step_begin(self, run_context: Any) -> None:
        self._began = time.monotonic()
        if self._prints_struct:
            self._safely("print_struct", self._print_struct, run_context)

    def on_train_step_end(self, run_context: Any) -> None:
        seconds = time.monotonic() - self._began
        if self._outlet is not None and not self.settings.print_struct:
            self._safely("the step's metrics", self._step, self._outlet, run_context.original_args(), seconds)

    def on_train_end(self, run_context: Any) -> None:
        self.close("finished")

    def __exit__(self, *error: Any) -> None:
        self.close("error" if error and error[0] is not None else "finished")

    def close(self, reason: str = "finished") -> None:
        """Ends files and stream. Again: nothing."""
        outlet, self._outlet = self._outlet, None
        if outlet is None:
            return
        if self._state is not None:
            self._safely("the last step", self._state.take_transport, outlet)
            self._state.close()
        outlet.close(reason)
        self._agent.end(reason)

    def _safely(self, what: str, do: Any, *given: Any) -> None:
        try:
            do(*given)
        except Exception as error:  # noqa: BLE001 - nothing of this ends a training
            if what not in self._told:
                self._told.add(what)
                log.warning("%s: %s: %s; training goes on", what, type(error).__name__, error)

    # -- beginning -----------------------------------------------------------------------------------------------

    def _ask_for_transport(self) -> None:
        """Operators that write norms are put into a static graph when it is compiled, so it is asked for before."""
        settings, _ = read_monitor(self._monitor_config)
        norm, device = bool(settings.format("local_norm")), bool(settings.format("device_local_norm"))
        if settings.monitor_on and (norm or device) and not is_pynative() and not _dump_path():
            ms.set_auto_parallel_context(
                dump_local_norm_path=settings.dump_path, dump_local_norm=norm, dump_device_local_norm=device
            )

    def _begin(self, args: Any) -> None:
        self.close()
        beside = Beside.of(args.list_callback)
        given = self._monitor_config if self._monitor_config is not None else beside.monitor_config()
        self.settings, problems = read_monitor(given)
        self.board, more = read_board(self._board_config)
        rank, count = devices()
        self._take_over(beside.loss)
        if not self._batch and hasattr(args.train_dataset, "get_batch_size"):
            self._batch = int(args.train_dataset.get_batch_size() or 0) * count
        self._flops = self._flops or model.model_flops(args.train_network, self._batch)
        self._rates = Rates(self._batch, count, self._flops, self._peak, self.settings.throughput_baseline)
        self._prints_struct = self.settings.print_struct and beside.state is None
        self._run = RunMetrics(beside, self.board, self._batch, self._rate, self._parts, self._print_every)
        optimizer = args.optimizer or getattr(args.network, "optimizer", None)
        self._agent.begin(loss_cell(args.train_network), optimizer, self._initial_step + 1)
        self._outlet = self._begin_outlet(rank, [*self._sentences, *problems, *more])
        self._state = self._begin_state(args, rank, beside)

    def _begin_outlet(self, rank: int, sentences: list[str]) -> Outlet:
        options = {"rank": rank, "run_name": "mindformers", **self._options}
        stream = RunStream(f"mindspore {ms.__version__}", ms.get_context("device_target"), options)
        folder = self.board.tensorboard_dir
        outlet = Outlet(
            stream, self._tags, os.path.join(folder, f"rank_{rank}") if folder else board_folder(), self.board
        )
        stream.begin(self._initial_step + 1)
        for sentence in sentences:
            stream.tell(sentence)
        texts = texts_of(self._config)
        stream.settings(self._config, texts)
        for name, text in texts.items() if not board_folder() else ():  # else MindFormers writes them itself
            outlet.text(1, name, text)
        return outlet

    def _begin_state(self, args: Any, rank: int, beside: Beside) -> StateMetrics:
        settings, norms, transport = self.settings, None, None
        asked = [name for name in settings.formats if "tensorboard" in settings.formats[name]]
        if asked and self._outlet is not None and not self._outlet.has_files and beside.state is None:
            log.warning("no tensorboard_dir is given: what %s send there goes to the log", ", ".join(asked))
        if settings.monitor_on and (path := _dump_path()):
            folder = os.path.join(path, f"rank_{rank}")
            transport = Transport(folder, self._initial_step + 1, beside.state is not None)
        wants_norms = settings.format("local_norm") or settings.format("device_local_norm")
        if settings.monitor_on and wants_norms and is_pynative():
            norms = LocalNorms(trainable(loss_cell(args.train_network)), per_micro=False)
        return StateMetrics(settings, self.board, beside, norms, transport)

    def _take_over(self, loss: Any) -> None:
        """What MFLossMonitor beside us was told and we were not."""
        if loss is None:
            return
        self._rate = self._rate if self._rate is not None else loss.learning_rate
        self._batch = self._batch or loss.global_batch_size
        self._epochs = self._epochs or loss.origin_epochs or 0
        self._steps_per_epoch = self._steps_per_epoch or loss.steps_per_epoch or 0
        self._initial_step = self._initial_step or loss.initial_step
        self._parts = LossParts(
            loss.mirco_size,
            loss.micro_batch_interleave_num,
            loss.gradient_accumulation_steps,
            loss.calculate_per_token_loss,
        )

    def _print_struct(self, run_context: Any) -> None:
        assert self._outlet is not None
        for parameter in trainable(loss_cell(run_context.original_args().network)):
            self._outlet.line(parameter.name)
        run_context.request_stop()

    # -- a step --------------------------------------------------------------------------------------------------

    def _step(self, outlet: Outlet, args: Any, seconds: float) -> None:
        assert self._run is not None and self._state is not None
        if args.get("initial_step", None) is not None:
            self._initial_step = args.initial_step
        step = args.cur_step_num + self._initial_step
        if args.dataset_sink_mode:
            seconds /= max(1, args.batch_num)
        else:
            self._steps_per_epoch = args.batch_num
        each, epochs = max(1, self._steps_per_epoch), max(1, self._epochs or args.epoch_num)
        outlet.place = (
            f"Epoch:[{(step - 1) // each + 1:3d}/{epochs:3d}], step:[{(step - 1) % each + 1:5d}/{each:5d}]"
        )
        optimizer = args.optimizer or getattr(args.network, "optimizer", None)
        output, rates = StepOutput.of(args.net_outputs), self._rates.of(seconds)
        self._safely("the run's metrics", self._run.step, outlet, step, output, rates, optimizer)
        if self.settings.monitor_on:
            self._safely("the training's state", self._state.step, outlet, step, args, output, rates, optimizer)
        self._safely("expert_load", self._state.put_loads, outlet, step, args.train_network)
        outlet.finish(step, float(step * self._batch))


def _dump_path() -> str:
    """Where a static graph writes norms; empty where nobody has asked for them."""
    return str(ms.get_auto_parallel_context("dump_local_norm_path") or "")
