# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback in other jobs: a static graph, dataset sink mode, asynchronous launches, several ranks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from eventreader import Curves, read_events
from mftraining import RECORDED

HERE = Path(__file__).resolve().parent
MSRUN = Path(sys.executable).with_name("msrun")

GRAPH = """
import sys
import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from telltale.integrations.mindformers import TelltaleCallback

ms.set_device("CPU")
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
net = nn.Dense(4, 1)
optimizer = nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(1e-2, 0.9, 2))
data = ds.GeneratorDataset([(np.ones(4, np.float32), np.ones(1, np.float32))] * 12, ["x", "y"], shuffle=False).batch(4)
kinds = ["local_norm", "local_loss", "device_local_loss", "optimizer_state", "weight_state"]
config = {"monitor_on": True, **{f"{kind}_format": "tensorboard" for kind in kinds}}
callback = TelltaleCallback(config, {"tensorboard_dir": sys.argv[1]})
model = ms.train.Model(net, nn.MSELoss(), optimizer)
model.train(2, data, callbacks=[callback], dataset_sink_mode=sys.argv[2] == "sink")
assert not callback._told, callback._told
"""

ASYNCHRONOUS = """
import sys
import mindspore as ms
import mftraining
from test_mindformers import CONFIG, board
from telltale.integrations.mindformers import TelltaleCallback

ms.set_device("CPU")
callback = TelltaleCallback(CONFIG, board(sys.argv[1]), learning_rate=1e-3, origin_epochs=1, tags="2.1")
mftraining.train([callback])
assert not callback._told, callback._told
"""

RANKS = """
import sys
import mindspore as ms
from mindspore import communication
import mftraining
from test_mindformers import board
from telltale.integrations.mindformers import TelltaleCallback

ms.set_device("CPU")
ms.runtime.launch_blocking()
communication.init()
config = {"monitor_on": True, "local_norm_format": "tensorboard", "device_local_norm_format": "tensorboard"}
callback = TelltaleCallback(config, board(sys.argv[1]))
mftraining.train([callback])
assert not callback._told, callback._told
"""


def run(script: str, folder: Path, *more: str, before: tuple[str, ...] = (sys.executable,)) -> Curves:
    (folder / "job.py").write_text(f"import sys\nsys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]\n" + script)
    done = subprocess.run(
        [*before, str(folder / "job.py"), str(folder / "tb"), *more],
        cwd=folder,
        env={**os.environ, "GLOG_v": "3", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return read_events(folder / "tb")[0]


@pytest.mark.parametrize("mode", ["steps", "sink"])
def test_a_static_graph_is_watched_without_a_hook(tmp_path: Path, mode: str) -> None:
    found = run(GRAPH, tmp_path, mode)
    curve = {tag: values for (place, tag), values in found.items() if place == "rank_0"}
    for tag in ("loss", "local_loss", "device_accum_local_loss", "weight_norm", "adam_m_norm/weight", "learning-rate"):
        assert sorted(curve[tag]) == [1, 2, 3, 4, 5, 6], tag
    assert list(curve["learning-rate"].values()) == [pytest.approx(0.01 * 0.9 ** (i / 2)) for i in range(6)]
    assert sorted(curve["loss-vs-samples"]) == [4, 8, 12, 16, 20, 24]
    assert not [tag for tag in curve if tag.startswith("local_norm")], "only a graph of several devices writes them"


def test_values_are_the_same_in_asynchronous_launches(tmp_path: Path) -> None:
    found = run(ASYNCHRONOUS, tmp_path)
    recorded, _ = read_events(RECORDED / "mf_static" / "tb")
    assert found.keys() == recorded.keys()
    names = ("loss", "device_local_norm", "local_norm/net.head.weight", "adam_v_norm/net.head.weight", "weight_norm")
    for name in names:
        values = recorded["rank_0", name]
        assert found["rank_0", name] == {step: pytest.approx(value, rel=2e-6) for step, value in values.items()}, name


def test_each_rank_has_its_files_and_its_share_of_the_throughput(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    launcher = (str(MSRUN), "--worker_num=2", "--local_worker_num=2", "--master_addr=127.0.0.1")
    found = run(RANKS, tmp_path, before=(*launcher, f"--master_port={port}", "--join=True"))
    assert {place.split("/")[0] for place, _ in found} == {"rank_0", "rank_1"}
    for rank in ("rank_0", "rank_1"):
        curve = {tag: values for (place, tag), values in found.items() if place == rank}
        assert set(curve["batch-size"].values()) == {8}, "four samples a rank"
        for step, throughput in curve["throughput"].items():
            assert curve["B-samples-per-day"][step] == pytest.approx(throughput * 2 * 86400 / 1e9)
        assert sorted(curve["device_local_norm"]) == [1, 2, 3, 4, 5, 6]
