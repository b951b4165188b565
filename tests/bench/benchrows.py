# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the bench's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def row(name: str, value: float, unit: str, goal: float | None, better: str, **more: Any) -> dict[str, Any]:
    passed = None if goal is None else (value <= goal if better == "lower" else value >= goal)
    return {"name": name, "value": value, "unit": unit, "goal": goal, "better": better, "pass": passed, **more}


def rows_of_others(out: Path, own: str) -> list[dict[str, Any]]:
    """What the file holds, but for rows whose names begin with `own`."""
    return [r for r in json.loads(out.read_text()) if not r["name"].startswith(own)] if out.exists() else []


def write(out: Path, others: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Adds rows to the file, and shows them."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(others + rows, indent=1) + "\n")
    for entry in rows:
        goal = "" if entry["goal"] is None else f"  goal {entry['goal']:g} {'pass' if entry['pass'] else 'SHORT'}"
        limits = f"  limit {entry['limit_value']:.3f}" if entry.get("limit_value") is not None else ""
        note = f"  ({entry['note']})" if "note" in entry else ""
        print(f"{entry['name']:64} {entry['value']:10.3f} {entry['unit']}{goal}{limits}{note}")
