# SPDX-License-Identifier: GPL-3.0-or-later
"""The short way: watch(), log(), run()."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import console, identity, runpage
from .rates import Rates

if TYPE_CHECKING:
    import os

    from .agent.monitor import Monitor
    from .reading import Run

_current: Monitor | None = None
_settings: dict[str, Any] = {}


def current() -> Monitor | None:
    """The monitor that watch() made last, None before and after."""
    return _current


# Fields of the native agent that watch() takes as keywords.
_OPTIONS = (
    "run_id", "mode", "role", "spool_dir", "framework", "device", "rank", "world_size", "dp", "tp", "pp", "ep",
    "restart_count", "ring_bytes", "spool_cap_bytes", "flush_ms", "batch_ms",
)  # fmt: skip


def watch(
    model: Any,
    optimizer: Any = None,
    config: Any = None,
    *,
    grad_acc_steps: int = 1,
    start_step: int = 0,
    name: str | None = None,
    join: str | None = None,
    sinks: Any = None,
    tags: Any = (),
    notes: Any = "",
    **options: Any,
) -> Monitor:
    """Watches a model and its optimizer (or a list of optimizers).

    model: a module; {"generator": g, "discriminator": d} for several, whose names then begin so; a list for the
    pipeline chunks of one model. optimizer: without one, the first that steps the model's parameters.
    config: a path, JSON text or dict; None collects weights, gradients, moments, activations and attention: everything
    but what costs more than it tells most people (stable ranks, routers, Adam's update and ratio, collectives).
    join: the dashboard's join string, else TELLTALE_JOIN. sinks: where measurements go instead of what the config's
    `format` names. tags, notes: words on the run, which the dashboard shows and edits. options: run_id, mode,
    spool_dir, ... of the native agent.
    Never fails: what is wrong is said on standard error and the training goes on unwatched.
    """
    global _current
    agent = {**_settings, **{k: v for k, v in options.items() if v is not None and k in _OPTIONS}}
    for unknown in options.keys() - set(_OPTIONS):
        known = [*_OPTIONS, "grad_acc_steps", "start_step", "name", "join", "sinks", "tags", "notes"]
        near = difflib.get_close_matches(unknown, known, 1)
        hint = f"did you mean {near[0]}?" if near else "it is left out"
        console.log.warning("watch() has no argument %r; %s", unknown, hint)
    if name:
        agent["run_name"] = name
    if join:
        agent["join"] = join
    if _current is not None:
        if not _current.watches(model):
            console.log.warning(
                "watch() was called for another model; the first watch ends here. To watch several in one "
                'run, name them: watch({"first": first, "second": second}, [optimizer_1, optimizer_2])'
            )
        _current.close("finished")
        _current = None
    add_tags(*([tags] if isinstance(tags, str) else tags))
    if notes:
        set_notes(notes)
    if _is_of_mindspore(model):
        from .mindspore import trainermon as agents
    else:
        from .pytorch import trainermon as agents  # type: ignore[no-redef]
    monitor: Monitor = agents.TrainerMon(config, sinks=sinks, agent=agent)
    monitor.set_monitor(model, optimizer=optimizer, grad_acc_steps=grad_acc_steps, start_iteration=start_step)
    _current = monitor
    return monitor


def _is_of_mindspore(model: Any) -> bool:
    """Whether a model (several by name, or chunks) is MindSpore's; a program that has not imported that has none."""
    mindspore = sys.modules.get("mindspore")
    cell = getattr(getattr(mindspore, "nn", None), "Cell", None)
    if cell is None:
        return False
    if isinstance(model, (dict, list, tuple)):
        model = next(iter(model.values() if isinstance(model, dict) else model), None)
    return isinstance(model, cell) or isinstance(getattr(model, "_network", None), cell)


def log(values: dict[str, Any], step: int | None = None) -> None:
    """Logs run metrics ({"loss": 2.31}) of an optimizer step; see TrainerMon.log. Before watch() it does nothing and
    says so once."""
    global _warned
    monitor = _current if _current is not None else _latest_monitor()
    if monitor is None:
        if not _warned:
            _warned = True
            console.log.warning("log() was called before watch(); the values are not kept")
        return
    monitor.log(values, step)


_warned = False


def hyperparameters(values: Any) -> None:
    """What the run was started with: a dict (nested as you like), Namespace or dataclass. Several calls add up, before
    and after watch(); values that are no numbers, texts, bools or lists become text. Rank 0 says it for the run. They
    stand in the dashboard's Run view, and runs are compared by them."""
    page = _page()
    facts = runpage.before.facts if page is None else page.facts
    if sentence := facts.add_hyperparameters(values):
        console.log.warning("%s", sentence)
    if page is not None:
        page.send_hyperparameters()


def add_tags(*tags: Any) -> None:
    """Short words to find the run by: add_tags("baseline", "bf16"). Rank 0 says it for the run."""
    if not tags:
        return
    page = _page()
    if sentence := (runpage.before.facts if page is None else page.facts).add_tags(tags):
        console.log.warning("%s", sentence)
    if page is not None:
        page.send_tags()


def set_notes(text: Any) -> None:
    """What people should know of the run, in your words. What somebody has written in the dashboard stays."""
    page = _page()
    (runpage.before.facts if page is None else page.facts).set_notes(text)
    if page is not None:
        page.send_notes()


def log_text(name: str, text: Any, step: int | None = None) -> None:
    """A text (a sample of what the model writes) under a name, at a step; without one at that of log()."""
    _log_document("text", name, text, step)


def log_image(name: str, image: Any, step: int | None = None) -> None:
    """A small image under a name, at a step: an array or tensor (H x W, H x W x C, C x H x W), a PIL image or PNG
    bytes. Longer sides than 1024 pixels are made smaller."""
    _log_document("image", name, image, step)


def checkpoint(path: Any = "", step: int | None = None) -> None:
    """Marks in the dashboard's plots that a checkpoint was written (to `path`), at a step; without one at that of
    log()."""
    _log_document("checkpoint", "", path, step)


def throughput(
    samples_per_step: float,
    *,
    tokens_per_sample: float = 0.0,
    flops_per_sample: float = 0.0,
    peak_flops: float = 0.0,
    baseline: float = 0.0,
    devices: int | None = None,
    samples_seen: float | None = None,
) -> None:
    """From now on each step says how long it took and what that means: iteration-time (ms), batch-size, throughput
    (samples per second and device), B-samples-per-day, and the dashboard's axis of samples (and of tokens).

    samples_per_step: that one optimizer step of the whole job consumes, micro batches and ranks together.
    flops_per_sample: of the model, forward and backward, as you count them; gives model-flops-throughput-per-npu
    (10^12 per second and device), with peak_flops (of one device, per second) also model-flops-utilization.
    baseline: in samples per second and device; gives throughput_linearity. devices: that share the work, else the
    world size. samples_seen: before this step, when a training is resumed. Call it after watch(), and again when the
    batch changes."""
    numbers = (samples_per_step, tokens_per_sample, flops_per_sample, peak_flops, baseline)
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) or not one >= 0 for one in numbers):
        console.log.warning("throughput() takes numbers that are not negative; it is left out")
        return
    each = identity.world_size() if devices is None else devices
    flops = flops_per_sample * samples_per_step
    rates = Rates(float(samples_per_step), max(1, each), flops, float(peak_flops), float(baseline))
    monitor = _watching("throughput")
    if monitor is not None:
        monitor.job.throughput(rates, float(tokens_per_sample), samples_seen)


def local_loss(loss: Any) -> None:
    """This rank's loss of one micro batch, whole (not divided by the number of micro batches). At the step's end they
    become local_loss, their mean, and device_accum_local_loss, their sum. On a device it is not waited for."""
    monitor = _watching("local_loss")
    if monitor is not None and (sentence := monitor.job.add_loss(loss)):
        monitor.tell_once(sentence)


def local_norm(on: bool = True) -> None:
    """Each collected step has device_local_norm from now on: the norm of all of this rank's gradients before they are
    reduced, as far as the config collects them (wg_distribution); of each parameter that is grad_unreduced's norm.
    With a loss scaler those gradients are still scaled: divide by the step's loss-scale (telltale.loss_scale)."""
    monitor = _watching("local_norm")
    if monitor is not None:
        monitor.job.wants_local_norm = bool(on)


def loss_scale(scaler: Any) -> None:
    """Each step has the loss-scale of a torch.amp.GradScaler from now on: that which it was taken with."""
    monitor = _watching("loss_scale")
    if monitor is None:
        return
    if not callable(getattr(scaler, "get_scale", None)):
        monitor.tell_once(f"loss_scale() takes a GradScaler, not {type(scaler).__name__}; it is left out")
        return
    monitor.job.loss_scale(scaler)


def expert_load(layer: str, tokens: Any) -> None:
    """The tokens that each expert of a layer got in one micro batch (counts, a list or tensor). At the step's end they
    become expert_load/{layer}/ep_{i}, each expert's share of the step's tokens on this rank."""
    monitor = _watching("expert_load")
    if monitor is not None and (sentence := monitor.job.add_experts(str(layer), tokens)):
        monitor.tell_once(sentence)


def _watching(function: str) -> Any:
    """The live monitor of a PyTorch training; where there is none, that is said once for each function."""
    monitor = _current if _current is not None else _latest_monitor()
    if hasattr(monitor, "job"):
        return monitor
    if function not in _warned_of:
        _warned_of.add(function)
        why = "was called before watch()" if monitor is None else (
            "is of PyTorch trainings; MindSpore's have such metrics by telltale.integrations.mindformers"
        )
        console.log.warning("%s() %s; it is not kept", function, why)
    return None


_warned_of: set[str] = set()


def capture_console(on: bool = True) -> None:
    """Keeps what this process prints from now on (sys.stdout and sys.stderr) in the run, too. What the program writes
    is neither changed nor delayed; at most 500 lines a second are kept. capture_console(False) ends it."""
    sentences = runpage.before.capture(on)
    for sentence in sentences:
        console.log.warning("%s", sentence)
    page = _page()
    if page is not None:
        page.console = runpage.before.console


def _log_document(kind: str, name: str, value: Any, step: int | None) -> None:
    global _warned
    monitor = _current if _current is not None else _latest_monitor()
    if monitor is not None:
        monitor.log_document(kind, name, value, step)
    elif not _warned:
        _warned = True
        function = kind if kind == "checkpoint" else f"log_{kind}"
        console.log.warning("%s() was called before watch(); it is not kept", function)


def _page() -> runpage.RunPage | None:
    """That of the run that is watched now."""
    monitor = _current if _current is not None else _latest_monitor()
    return monitor.page if monitor is not None and not monitor.is_closed else None


def _latest_monitor() -> Monitor | None:
    """The TrainerMon that set_monitor() was called on last."""
    module = sys.modules.get("telltale.agent.monitor")
    return module.latest() if module is not None else None


def finish(reason: str = "finished") -> None:
    """Ends the watch: removes hooks, flushes, says goodbye. At exit this happens by itself."""
    global _current
    monitor, _current = _current, None
    if monitor is not None:
        monitor.close(reason)


@contextlib.contextmanager
def run(name: str | None = None, run_id: str | None = None) -> Iterator[None]:
    """`with telltale.run(name="baseline"):` names what watch() inside begins, and ends it."""
    global _settings
    before = _settings
    _settings = {k: v for k, v in (("run_name", name), ("run_id", run_id)) if v}
    try:
        yield
    except BaseException:
        finish("error")
        raise
    finally:
        _settings = before
        finish()


def open_run(run: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None = None) -> Run:
    """A recorded run, archived or live, by the path of its file or by its id; see reading.open_run()."""
    from .reading import open_run

    return open_run(run, data_dir)
