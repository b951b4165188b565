# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics that are read from the model and its optimizer between two steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numbers import as_array, inner_cell, loss_cell, norms, number, original, stable_rank, trainable
from .settings import MonitorSettings, StableRank

_MOMENTS = (("moment1", "moment2"), ("moments1", "moments2"), ("exp_avg", "exp_avg_sq"))


def moment_norms(optimizer: Any, settings: MonitorSettings) -> dict[str, float]:
    """adam_m_norm/{parameter} and adam_v_norm/{parameter} of the chosen parameters; {} for other optimizers."""
    pair = next((names for names in _MOMENTS if all(hasattr(optimizer, name) for name in names)), None)
    found: dict[str, float] = {}
    for tag, name in zip(("adam_m_norm", "adam_v_norm"), pair or ()):
        moments = [one for one in getattr(optimizer, name) if settings.selects(one.name)]
        # "adam_m.net.head.weight": the first part is the moment's own.
        names = [one.name.partition(".")[2] or one.name for one in moments]
        found |= {f"{tag}/{of}": value for of, value in zip(names, norms(moments))}
    return found


def weight_norm(network: Any) -> float:
    """The norm of all trainable parameters on this rank as one vector; 0 where there are none."""
    return float(np.linalg.norm(norms(trainable(loss_cell(network)))))


def stable_ranks(network: Any, settings: StableRank) -> dict[str, float]:
    """weight_stable_rank/{parameter} and weight_eigenvalue/{parameter} of chosen matrices, of stacks of them (experts)
    each and the largest, smallest and mean."""
    found: dict[str, float] = {}
    chosen = MonitorSettings(target=settings.target)
    for parameter in trainable(loss_cell(network)):
        if parameter.ndim not in (2, 3) or not chosen.selects(parameter.name):
            continue
        for tag, values in zip(("weight_stable_rank", "weight_eigenvalue"), stable_rank(parameter)):
            name = f"{tag}/{parameter.name}"
            if parameter.ndim == 2:
                found[name] = float(values[0])
                continue
            if settings.moe_show_mode != "statistics":
                found |= {f"{name}/expert_{i}": float(value) for i, value in enumerate(values)}
            if settings.moe_show_mode != "full":
                found |= {f"{name}/expert_{word}": float(getattr(values, word)()) for word in ("max", "min", "mean")}
    return found


def expert_loads(network: Any) -> dict[str, list[float]]:
    """Each expert's share of its layer's tokens, by the router's name; read where the routers add it up, and left
    there: the callback that balances the experts reads it after us."""
    model = inner_cell(network)
    found: dict[str, list[float]] = {}
    if not hasattr(model, "cells_and_names"):
        return found
    for name, cell in model.cells_and_names():
        load = cell._params.get("expert_load") if hasattr(cell, "_params") else None
        if load is None:
            continue
        values = as_array(load).reshape(-1)
        if not values.sum() <= 0:  # NaN is news
            found[name] = [float(value) for value in values]
    return found


def attention_logits(network: Any) -> dict[str, list[float]]:
    """The largest logit of each head, by the layer's name."""
    ask = getattr(inner_cell(network), "get_max_attention_logit", None)
    found = ask() if ask is not None else None
    return {name: [float(x) for x in as_array(value).reshape(-1)] for name, value in (found or {}).items()}


def device_losses() -> dict[str, float]:
    """The sums over the step's micro batches that MindFormers keeps, by which loss; {} without it."""
    module = original("parallel_core.training_graph.loss_func")
    known = module.get_device_local_loss(None) if module is not None else {}
    values = {of: number(value) for of, value in (known or {}).items()}
    return {of: value for of, value in values.items() if value is not None}


def separate_losses() -> dict[str, float]:
    """lm-loss, mtp-loss, load-balancing-loss and indexer-loss as MindFormers' model has them; {} without it."""
    module = original("tools.register") and original("core.callback.callback")
    register = getattr(module, "parameter_register", None)
    found: dict[str, float] = {}
    names = {"lm-loss": "lm_loss", "mtp-loss": "mtp_loss", "load-balancing-loss": "aux_loss"}
    if register is None:
        return found
    for tag, name in {**names, "indexer-loss": "indexer_loss"}.items():
        try:
            value = number(register.get(name))
        except Exception:  # noqa: BLE001 - not registered: this model has none
            continue
        if value is not None:
            found[tag] = value
    return found


def model_flops(network: Any, batch_size: int) -> float:
    """Floating point operations of a step as MindFormers counts them from the model's config; 0 where it cannot."""
    ask = getattr(inner_cell(network), "get_gpt_transformer_config", None)
    module = original("core.callback.callback")
    convert = getattr(module, "convert_transformer_config_to_args_for_tflops", None)
    count = getattr(module, "num_floating_point_operations", None)
    if ask is None or convert is None or count is None:
        return 0.0
    try:
        return float(count(convert(ask()), batch_size))
    except Exception:  # noqa: BLE001 - a model that it cannot count
        return 0.0
