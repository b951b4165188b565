# SPDX-License-Identifier: GPL-3.0-or-later
"""A training's state in a file, to go on from."""

from __future__ import annotations

from typing import Any

import torch

from .corpus import BadInput


def save(path: str, step: int, model: Any, optimizer: Any, scaler: Any, task: Any) -> None:
    """Before `step`. Raises BadInput."""
    state = {
        "step": step,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
        "random": torch.get_rng_state(),
        "data": task.data_state(),
    }
    try:
        torch.save(state, path)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cannot write {path}: {error}") from None


def resume(path: str, model: Any, optimizer: Any, scaler: Any, task: Any) -> int:
    """The step to go on with. Raises BadInput."""
    try:
        state = torch.load(path, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scaler.load_state_dict(state["scaler"])
        torch.set_rng_state(state["random"])
        task.go_to(state["data"])
        return int(state["step"])
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    except Exception as error:  # noqa: BLE001 - whatever is in the file
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"{path} is no checkpoint of this training: {why[0]}; train it with the same options") from None
