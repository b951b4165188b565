# SPDX-License-Identifier: GPL-3.0-or-later
"""Made anomaly.json files, and what the analyser makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from telltale.compat.msprobe.anomaly_processor import OUR_KEY, main
from telltale.compat.msprobe.anomalyentries import Entry


def analysed(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert main(["-d", str(folder), *arguments]) == code
    document: dict[str, Any] = json.loads((folder / "anomaly_analyse.json").read_text())
    return document


def tags(document: dict[str, Any]) -> list[tuple[int, str]]:
    return [(entry["step"], entry["tag_name"]) for entry in document[OUR_KEY]]


def alert(tag: str, step: int, call: int = 0, value: str = "nan", mean: str = "1.0", **fields: Any) -> dict[str, Any]:
    op, rule = fields.pop("op", "norm"), fields.pop("rule", "AnomalyNan")
    message = (
        f"Rule {rule} reports anomaly signal in {(tag, op)} at step {step}, current value {value}, history mean {mean}."
    )
    return {
        **{"rank": 0, "step": step, "micro_step": 0, "pp_stage": 0, "vpp_stage": 0, "call_id": call},
        **{"tag_name": tag, "message": message, "group_mates": [0]},
        **fields,
    }


def written(folder: Path, *alerts: dict[str, Any], rank: int = 0) -> Path:
    place = folder / f"rank{rank}"
    place.mkdir(parents=True, exist_ok=True)
    entries = {Entry(**entry).key: entry for entry in alerts}
    (place / "anomaly.json").write_text(json.dumps(entries, indent=1))
    return folder
