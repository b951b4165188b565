# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback for MindFormers' PyNative Trainer, whose monitors (MonitorGroup) publish what they see step by step."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import mindspore as ms
import numpy as np

from ...console import log
from ..runstream import RunStream
from . import modelmetrics as model
from .agentwatch import AgentWatch
from .configtexts import read_config
from .experttokens import ExpertTokens
from .localnorms import LocalNorms
from .numbers import devices, is_pynative, number, original, trainable
from .outlet import BOARD, NOWHERE, Outlet
from .settings import BoardSettings, read_monitor
from .statemetrics import put_loads
from .tags import Style, Tags
from .trainstate import TrainState, read_train_state

_UNITS = {"throughput": "10^12 floating point operations per second and device", "iteration-time": "milliseconds"}


class TelltaleTrainerCallback:
    """Streams everything that MindFormers' PyNative Trainer publishes of a step, names of the user's own
    (save_monitor_data) included, and norms of the chosen parameters' gradients summed over the micro batches. (The
    Trainer only logs norms, of each micro batch, and as device_norm that of the last.)

    Trainer(..., callbacks=[TelltaleTrainerCallback()]) or `callbacks: - type: TelltaleTrainerCallback` in its yaml.
    It only reads; a training with it is bitwise the same. Never raises.
    """

    def __init__(
        self,
        train_state: Any = None,
        monitor_config: Any = None,
        output_dir: str = "",
        log_interval: int = 1,
        queue_size: int = 1000,
        *,
        writes_log: bool = False,
        tags: Style = "2.1",
        watch: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        """train_state: {local_norm, device_norm: bool, part of a name or list of them}; None = the Trainer's config.
        monitor_config: as of the static graph, for moments and weights. output_dir: of event files of our own, beside
        or in place of the Trainer's; log_interval, queue_size: as there. writes_log: local norms go to the log, as the
        Trainer writes them. watch: True, or a monitor's config: also the model's tensors, by telltale.mindspore.
        options: of the agent (join, run_id, mode)."""
        self._train_state = train_state
        self.settings, self._problems = read_monitor(monitor_config)
        self._output_dir = output_dir
        self._interval = max(1, log_interval)
        self._queue = queue_size
        self._writes_log = writes_log
        self._tags = Tags(tags)
        self._options = {**options, "run_name": name} if name else dict(options)
        self._agent = AgentWatch(watch, self._options)
        self.state = TrainState()
        self._outlet: Outlet | None = None
        self._norms: LocalNorms | None = None
        self._experts: ExpertTokens | None = None
        self._began = 0.0
        self._models: list[Any] = []
        self._optimizer: Any = None
        self._told: set[str] = set()

    @property
    def stream(self) -> RunStream | None:
        """What goes to the dashboard, while training."""
        return self._outlet.stream if self._outlet is not None else None

    def _nothing(self, args: Any, state: Any, **kwargs: Any) -> None:
        """The Trainer calls every moment of every callback."""

    on_begin = on_end = on_epoch_begin = on_epoch_end = _nothing

    def on_train_begin(self, args: Any, state: Any, **kwargs: Any) -> None:
        self._safely("the beginning", self._begin, args, state, kwargs)

    def on_step_begin(self, args: Any, state: Any, **kwargs: Any) -> None:
        self._began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, **kwargs: Any) -> None:
        if self._outlet is not None:
            self._safely("the step's metrics", self._step, self._outlet, state, kwargs)

    def on_train_end(self, args: Any, state: Any, **kwargs: Any) -> None:
        self.close()

    def close(self, reason: str = "finished") -> None:
        """Ends files and stream. Again: nothing."""
        outlet, self._outlet = self._outlet, None
        for one in (self._norms, self._experts):
            if one is not None:
                one.close()
        self._norms = self._experts = None
        if outlet is not None:
            outlet.close(reason)
            self._agent.end(reason)

    def _safely(self, what: str, do: Any, *given: Any) -> None:
        try:
            do(*given)
        except Exception as error:  # noqa: BLE001 - nothing of this ends a training
            if what not in self._told:
                self._told.add(what)
                log.warning("%s: %s: %s; training goes on", what, type(error).__name__, error)

    def _begin(self, args: Any, state: Any, given: Mapping[str, Any]) -> None:
        self.close()
        models = given.get("model")
        self._models = list(models) if isinstance(models, (list, tuple)) else [models] if models is not None else []
        self._optimizer = given.get("optimizer")
        self.state, problems = read_train_state(self._train_state, args)
        first = int(getattr(state, "global_step", 0) or 0) + 1
        if self._models:
            self._agent.begin(self._models if len(self._models) > 1 else self._models[0], self._optimizer, first)
        rank, count = devices()
        options = {"rank": rank, "run_name": "mindformers", **self._options}
        stream = RunStream(f"mindspore {ms.__version__}", ms.get_context("device_target"), options)
        # The Trainer writes on the last rank alone, straight into its folder.
        folder = self._output_dir if rank == count - 1 else ""
        self._outlet = outlet = Outlet(stream, self._tags, folder, BoardSettings(os.fspath(folder), self._queue))
        stream.begin(first)
        config, why = read_config(_tracker().config if _tracker() is not None else args)
        for sentence in [*self._problems, *problems, *([why] if why else [])]:
            stream.tell(sentence)
        texts = {name: str(value) for name, value in config.items()}
        stream.settings(config, texts)
        for name, text in texts.items():
            outlet.text(0, name, text)
        if is_pynative():
            self._experts = ExpertTokens(self._models, self._optimizer)
        if (self.state.local_norm.is_on or self.state.device_norm.is_on) and is_pynative():
            chosen = [p for one in self._models for p in trainable(one) if self.state.selects(p.name)]
            self._norms = LocalNorms(chosen, per_micro=True)

    def _step(self, outlet: Outlet, state: Any, given: Mapping[str, Any]) -> None:
        tracker = _tracker()
        published = {**_records(given.get("monitor")), **(tracker.data if tracker is not None else {})}
        facts = dict(tracker.training_state) if tracker is not None else {}
        step = int(facts.get("step") or state.global_step)
        samples = facts.get("consumed_samples") or getattr(state, "consumed_samples", None) or 0
        values = {"loss": given.get("loss"), "grad-norm": given.get("grad_norm"), **published}
        if self._began > 0:
            values.setdefault("iteration-time", (time.monotonic() - self._began) * 1000)
        writes = BOARD if outlet.has_files and step % self._interval == 0 else NOWHERE
        for name, value in values.items():
            if (plain := number(value)) is not None:
                outlet.put(name, plain, writes if name in published else NOWHERE, has_companion=True)
        self._put_norms(outlet, step)
        if self._experts is not None:
            put_loads(outlet, step, self._experts.take(), writes)
        self._put_model(outlet, step, writes)
        outlet.finish(step, float(samples), {name: word for name, word in _UNITS.items() if name in published})

    def _put_norms(self, outlet: Outlet, step: int) -> None:
        if self._norms is None:
            return
        sums = self._norms.take()
        for name, value in sums.items():
            outlet.put(f"local_norm/{name}", value, NOWHERE)
        if sums:
            outlet.put("device_local_norm", float(np.linalg.norm(list(sums.values()))), NOWHERE)
        micros = self._norms.take_micros()
        for i, micro in enumerate(micros, 1):
            chosen = {name: value for name, value in micro.items() if self.state.local_norm.selects(name)}
            self._say(outlet, f'{{ "step": {step}, "micro_step": {i} }}', "local_norm", chosen)
        last = {name: value for name, value in (micros[-1] if micros else {}).items() if self._is_device(name)}
        self._say(outlet, f'{{ "step": {step} }}', "device_norm", last)

    def _is_device(self, name: str) -> bool:
        return self.state.device_norm.selects(name)

    def _say(self, outlet: Outlet, head: str, what: str, values: Mapping[str, float]) -> None:
        if self._writes_log and values:
            outlet.line(head)
            for name, value in values.items():
                outlet.line(f'{{ "{what}": {name}: {value:10.6f} }}')

    def _put_model(self, outlet: Outlet, step: int, writes: frozenset[str]) -> None:
        """What monitor_config asks for of the model and its optimizer."""
        settings = self.settings
        if not settings.monitor_on or step % settings.step_interval:
            return
        if asked := settings.format("optimizer_state"):
            for tag, value in model.moment_norms(self._optimizer, settings).items():
                outlet.put(tag, value, asked & writes)
        if asked := settings.format("weight_state"):
            squares = [model.weight_norm(one) ** 2 for one in self._models]
            outlet.put("weight_norm", float(np.sqrt(sum(squares))), asked & writes)


def _tracker() -> Any:
    """What the Trainer's monitors have published of this step; None without MindFormers."""
    module = original("pynative.tools.monitor_utils")
    return module.get_monitor_data_tracker() if module is not None else None


def _records(monitor: Any) -> dict[str, Any]:
    """The losses of this rank's last micro batch and of the step, which MonitorGroup publishes only where it writes
    event files itself."""
    state = getattr(monitor, "_monitors", {}).get("train_state")
    found: dict[str, Any] = {}
    for record in getattr(state, "_records", None) or ():
        found |= {name: record[name] for name in ("local_loss", "device_loss") if name in record}
    return found
