# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's config as texts: which settings have one, and when."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

# A setting has a text only where all of these are on ("-x": off).
_ONLY_WITH = {
    "ignore_data_skip": ("resume_training",),
    "data_skip_steps": ("resume_training", "-ignore_data_skip"),
    "load_ckpt_format": ("load_checkpoint",),
    "auto_trans_ckpt": ("load_checkpoint",),
    "load_ckpt_async": ("load_checkpoint",),
    "transform_process_num": ("load_checkpoint", "auto_trans_ckpt"),
    "src_strategy_path_or_dir": ("load_checkpoint", "auto_trans_ckpt"),
    "lr_scale_factor": ("lr_scale",),
    **dict.fromkeys(
        (
            "profile_communication", "profile_level", "profile_memory", "profile_start_step", "profile_stop_step",
            "profile_rank_ids", "profile_pipeline", "init_start_profile",
        ),
        ("profile",),
    ),
    **dict.fromkeys(
        ("eval_callbacks", "eval_step_interval", "eval_epoch_interval", "eval_dataset", "eval_dataset_task"),
        ("do_eval",),
    ),
}  # fmt: skip


def read_config(config: Any) -> tuple[dict[str, Any], str]:
    """A job's config from a mapping, an object with to_dict() or the path of a yaml or json file; and why it is none,
    "" when it is one."""
    try:
        if isinstance(config, (str, os.PathLike)):
            config = _parsed(os.fspath(config))
        if not isinstance(config, Mapping) and hasattr(config, "to_dict"):
            config = config.to_dict()
    except Exception as error:  # noqa: BLE001 - whatever a parser raises, the training goes on
        return {}, f"the job's config cannot be read, so its texts are left out: {error}"
    if config is None:
        return {}, ""
    if not isinstance(config, Mapping):
        return {}, f"the job's config is to be a path or a mapping, not {type(config).__name__}; it is left out"
    return {str(name): value for name, value in config.items()}, ""


def _parsed(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        return json.loads(text)
    import yaml  # comes with MindSpore Transformers

    return yaml.safe_load(text)


def texts_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Name and text of every setting that counts."""
    return {name: str(value) for name, value in config.items() if _counts(name, config)}


def _counts(name: str, config: Mapping[str, Any]) -> bool:
    conditions = _ONLY_WITH.get(name, ())
    return all(bool(config.get(one.lstrip("-"))) != one.startswith("-") for one in conditions)
