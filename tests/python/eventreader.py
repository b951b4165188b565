# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

Curves = dict[tuple[str, str], dict[int, float]]


def read_events(root: Path) -> tuple[Curves, dict[str, str]]:
    """(folder, tag) -> values by step of all event files under a folder, and texts by tag, read by TensorBoard."""
    curves: Curves = {}
    texts: dict[str, str] = {}
    for file in sorted(root.rglob("*tfevents*")):
        reader = EventAccumulator(str(file), size_guidance={"scalars": 0, "tensors": 0})
        reader.Reload()
        place = os.path.relpath(file.parent, root)
        for tag in reader.Tags()["scalars"]:
            curves.setdefault((place, tag), {}).update({one.step: one.value for one in reader.Scalars(tag)})
        for tag in reader.Tags()["tensors"]:
            texts[tag] = reader.Tensors(tag)[0].tensor_proto.string_val[0].decode()
    return curves, texts
