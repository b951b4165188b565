# SPDX-License-Identifier: GPL-3.0-or-later
"""In one training with MindFormers' own callbacks and monitors, where those are installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from eventreader import read_events
from mftraining import RECORDED, STEPS
from serving import Server

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE.parents[2] / "capture" / "agent" / "python" / "requirements-mindformers.txt"

PYNATIVE = """
import sys
import mindspore as ms
import numpy as np
from mindspore import nn, ops, Tensor
from types import SimpleNamespace as Names
from mindformers.pynative.callback.callback import CallbackHandler
from mindformers.pynative.tools.monitor import MonitorGroup, TrainStateMonitor
from mindformers.pynative.tools.monitor_utils import save_monitor_data
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
import conftest
import mftraining
import telltale.integrations.mindformers

def norm(gradient):  # its own divides by a factor of hyper_parallel, which cannot be installed
    return float(gradient.pow(2).sum().sqrt().asnumpy())

TrainStateMonitor._compute_grad_norm = staticmethod(norm)
ms.set_seed(1)
net = mftraining.Tiny(layers=1)
net.set_train()
optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-3)
state = Names(local_norm=["fc1", "head"], local_loss=True, device_norm=True, device_loss=True)
moe = Names(save_tokens_per_expert_interval=None, target_layers=None)
config = Names(monitor=Names(train_state=state, moe_monitor=moe, tensorboard=Names(output_dir="")))
monitor = MonitorGroup(config, model=[net])
monitor.setup({"training": {"steps": 4}, "seed": 1}, None)
settings = {"type": "TelltaleTrainerCallback", "output_dir": sys.argv[1], "writes_log": True, "join": sys.argv[2]}
ours = MindFormerRegister.get_instance_from_cfg(settings, MindFormerModuleType.CALLBACK)
handler = CallbackHandler([ours], model=[net], optimizer=optimizer)
handler.on_train_begin(config, Names(global_step=0))

def forward(ids, label):
    logits = net(ids)
    return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1))

both = ms.value_and_grad(forward, None, optimizer.parameters)
generator = np.random.default_rng(0)
for step in range(1, 5):
    handler.on_step_begin(config, Names(global_step=step - 1))
    monitor.reset()
    total = None
    for k in range(2):
        loss, gradients = both(*(Tensor(one) for one in mftraining.batches(generator)))
        monitor.record("local_loss", loss, context={"micro_step": k, "model": [net]})
        total = gradients if total is None else tuple(a + b for a, b in zip(total, gradients))
    optimizer(total)
    monitor.record("device_loss", loss)
    monitor.record("device_norm")
    values = {"loss": loss, "loss-scale": 1.0, "grad-norm": 1.5, "iteration-time": 20, "throughput": 0.1}
    values |= {"learning-rate": 1e-3, "batch-size": 4, "mtp-1-loss": 3.0, "load-balancing-loss": 0.01}
    values |= {"indexer-loss": 0.02, "my_metric": step * 0.5}
    for name, value in values.items():
        save_monitor_data(name, value, step=step, consumed_samples=8 * step)
    handler.on_step_end(config, Names(global_step=step), loss=loss, grad_norm=1.5, monitor=monitor)
    monitor.flush(step)
assert ours.stream.flush(60)
handler.on_train_end(config, Names(global_step=4))
monitor.close()
assert not ours._told, ours._told
"""

BESIDE = """
import json, os, sys
from types import SimpleNamespace as Names
import mindspore as ms
from mindformers.core.callback import callback as theirs
from mindformers.parallel_core.training_graph.loss_func import get_device_local_loss
from mindformers.utils import tensorboard
import conftest
import mftraining
import telltale.integrations.mindformers
from mindformers.core.callback.build_callback import build_callback

out, join = sys.argv[1:3]
put = mftraining.Step.put

def put_too(cell, name, value):
    put(cell, name, value)
    if name == "local_loss__lm":  # the loss function of a MindFormers model adds it up
        ms.ops.assign(get_device_local_loss("lm"), ms.Tensor([float(value)], ms.float32))

mftraining.Step.put = put_too
flags = ["log_loss_scale_to_tensorboard", "log_timers_to_tensorboard", "log_expert_load_to_tensorboard"]
tensorboard._set_tensorboard_writer(Names(tensorboard_dir=out + "/rank_0", tensorboard_queue_size=10))
tensorboard.update_tensorboard_args(Names(**dict.fromkeys(flags, True)))
config = json.loads((mftraining.RECORDED / "mf_static" / "config.json").read_text())
os.makedirs("dump/rank_0")
ms.set_auto_parallel_context(dump_local_norm_path="dump", dump_local_norm=True, dump_device_local_norm=True)
loss = theirs.MFLossMonitor(learning_rate=1e-3, origin_epochs=1, dataset_size=6, global_batch_size=4)
state = theirs.TrainingStateMonitor(origin_epochs=1, config=config, step_interval=1, dataset_size=6,
                                    global_batch_size=4, tensor_model_parallel_size=1)
# As the yaml has it: `callbacks: - type: TelltaleCallback`. It asks the others for its settings.
made = build_callback({"type": "TelltaleCallback", "join": join})
ours = made[0] if isinstance(made, list) else made
os.rmdir("dump/rank_0")

class Waits(ms.train.Callback):
    def on_train_end(self, _context):
        assert ours.stream.flush(60)

mftraining.train([Waits(), ours, loss, state, theirs.TopkBiasBalanceCallback()], __import__("pathlib").Path("dump"))
tensorboard._unset_tensorboard_writer()
assert not ours._told, ours._told
assert not os.listdir("dump/rank_0")
"""


def _missing() -> list[str]:
    """What is not installed of what MindFormers imports."""
    missing = []
    for line in REQUIREMENTS.read_text().splitlines():
        name = line.partition("==")[0]
        if name and not name.startswith("#"):
            try:
                metadata.version(name)
            except metadata.PackageNotFoundError:
                missing.append(name)
    return missing


pytestmark = pytest.mark.skipif(
    bool(_missing()), reason=f"{', '.join(_missing()[:3])} ... of {REQUIREMENTS.name} are not installed here"
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.kill()


def run(script: str, folder: Path, server: Server) -> str:
    """A training in a process of its own: MindFormers keeps one writer and one tracker a process."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]\n" + script]
        + [str(folder / "tb"), server.join],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert server.stop() == 0
    return done.stdout + done.stderr


def test_everything_the_pynative_trainer_publishes_is_written_and_streamed(tmp_path: Path, server: Server) -> None:
    said = run(PYNATIVE, tmp_path, server)
    recorded, texts = read_events(RECORDED / "mf_pynative" / "tb")
    found, own_texts = read_events(tmp_path / "tb")
    assert found.keys() == recorded.keys() and own_texts == texts
    for key, values in recorded.items():
        assert found[key] == {step: pytest.approx(value, rel=2e-6) for step, value in values.items()}, key
    for line in (RECORDED / "mf_pynative" / "log.txt").read_text().splitlines():
        if "norm" in line:  # its own and ours: the net's norms are the same to the last digit
            assert said.count(line) >= 2, line
    for name in ("loss", "my_metric", "local_loss", "device_local_norm", "head.weight", "emb.embedding_table"):
        assert [one["step"] for one in server.show(name)[0]["values"]] == [1, 2, 3, 4], name
    samples = [one["value"] for one in server.show("telltale.samples_seen")[0]["values"]]
    assert samples == [8, 16, 24, 32]


def test_beside_the_originals_only_the_dashboard_gets_more(tmp_path: Path, server: Server) -> None:
    said = run(BESIDE, tmp_path, server)
    recorded, _ = read_events(RECORDED / "mf_static" / "tb")
    found, _ = read_events(tmp_path / "tb")
    timed = ("stable_rank", "eigenvalue")
    assert {key for key in found if not any(word in key[1] for word in timed)} == {
        key for key in recorded if not any(word in key[1] for word in timed)
    }
    assert said.count("step:[    3/    6] weight_norm:") == 1, "what the original logs is not logged twice"
    names = ["loss", "loss-scale", "throughput", "throughput_linearity", "weight_norm"]
    names += ["local_loss", "device_accum_local_loss", "device_local_norm"]
    names += ["max_attention_logit/max"]
    names += ["expert_load/decoder.layers.1.mlp.router/ep_2"]
    for name in names:
        [series] = server.show(name)
        assert [one["step"] for one in series["values"]] == list(range(1, STEPS + 1)), name
        if ("rank_0", name) in recorded and name not in ("throughput", "throughput_linearity"):
            values = {one["step"]: one["value"] for one in series["values"]}
            assert values == {step: pytest.approx(v, rel=2e-6) for step, v in recorded["rank_0", name].items()}, name
