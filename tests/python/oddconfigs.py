# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that somebody may give for a config: hostile ones, and real ones that chance has changed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "resources/schema/monitor-config.schema.json").read_text())
FIELDS = [name for name in SCHEMA["properties"] if name != "$schema"]
OWN = list(SCHEMA["properties"]["telltale"]["properties"])
MEGABYTE = 1 << 20

REAL: list[dict[str, Any]] = [
    {"dynamic_on": True, "wg_distribution": True},
    {"dynamic_on": True, "xy_distribution": True, "targets": {"2": {}, "layers.*.mlp": {"output": "tuple[2]:0"}}},
    {"dynamic_on": False, "param_distribution": True, "ops": ["norm", "mean", "nans"], "ndigits": 6},
    {"dynamic_on": True, "mv_distribution": True, "ur_distribution": True, "step_interval": 3, "collect_times": 4},
    {"dynamic_on": True, "mg_direction": True, "wg_distribution": True, "module_ranks": [0, 1], "eps": 1e-6},
    {"dynamic_on": True, "recording_l2_features": True, "l2_targets": {"linear_hook": ["0", "2"]}},
    {"dynamic_on": True, "cc_distribution": {"enable": True, "cc_codeline": []}, "telltale": {"checksum": True}},
    {"dynamic_on": True, "all_xy": True, "forward_only": True, "start_step": 10, "telltale": {"threads": 1}},
    {"alert": {"rules": [{"rule_name": "AnomalyNan"}], "dump": False}, "dynamic_on": True, "param_distribution": True},
]
VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 7, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, "", "x", "true", "1", "norm",
    [], ["norm"], [[]], [None], [0, 1], {}, {"x": {}}, {"": None}, {"input": "tensor"}, "../../etc/passwd", "/dev/zero",
    "telltale://127.0.0.1:1#token=0", "$(reboot)", "%s%n", "a" * 5000, "\x00", "\x1b[2J", "\u202e", "\ud800", "(a+)+$",
    "*" * 200, "a*" * 200 + "b",
]  # fmt: skip


def hostile() -> Iterator[bytes]:
    """A thousand and some, the most different ones first."""
    yield from _broken()
    for i, name in enumerate(FIELDS * 20):
        value = VALUES[(i * 7 + i // len(FIELDS)) % len(VALUES)]
        yield json.dumps({"dynamic_on": True, "wg_distribution": True, name: value}).encode()
    for i, name in enumerate(OWN * 30):
        yield json.dumps({"dynamic_on": True, "telltale": {name: VALUES[i % len(VALUES)]}}).encode()
    for i, value in enumerate(VALUES * 4):
        fields = ("targets", "l2_targets", "cc_distribution", "alert")
        yield json.dumps({"dynamic_on": True, fields[i // len(VALUES)]: {str(value)[:9000]: value}}).encode()


def _broken() -> Iterator[bytes]:
    yield from (b"{", b"}", b"{}", b"[]", b"null", b"0", b'""', b" ", b"\n", b"{} {}", b"{,}", b"//", b"/*", b"{//\n}")
    yield from (
        b"\x00",
        b"{\x00}",
        b'{"a\x00b": 1}',
        b'{"dynamic_on": true\x00}',
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
    )
    yield from (
        b"\xff",
        b'{"\xff": 1}',
        b'{"sa_order": "\xc0\x80"}',
        b'{"sa_order": "\xed\xa0\x80"}',
        b"\xf8\x88\x80\x80\x80",
    )
    for control in range(1, 32):
        yield b'{"dynamic_on": true, "sa_order": "' + bytes([control]) + b'"}'
    for depth in (10, 63, 64, 65, 200, 1000, 10_000, 100_000):
        yield b"[" * depth
        yield b"[" * depth + b"]" * depth
        yield b'{"targets":' * depth + b"{}" + b"}" * depth
        yield b'{"telltale":' + b'{"x":' * depth + b"1" + b"}" * (depth + 1)
    for size in (MEGABYTE // 17, MEGABYTE - 4096, MEGABYTE, 3 * MEGABYTE):
        long = b"a" * size
        yield b'{"' + long + b'": 1}'
        yield b'{"dynamic_on": true, "sa_order": "' + long + b'"}'
        yield b'{"dynamic_on": true, "targets": {"' + long + b'": {}}}'
        yield b'{"dynamic_on": true, "telltale": {"x": "' + long + b'"}}'
        yield b" " * size + b'{"dynamic_on": true}'
        yield b"//" + long + b'\n{"dynamic_on": true}'
        yield b'{"module_ranks": [' + b"1," * (size // 2) + b"1]}"
    for number in (b"1e400", b"-1e400", b"1e-400", b"9" * 1000, b"NaN", b"Infinity", b"-", b"0x1", b"1.", b".5", b"01"):
        for name in (b"collect_times", b"eps", b"step_interval", b"ndigits", b"start_step"):
            yield b'{"dynamic_on": true, "' + name + b'": ' + number + b"}"
    for bomb in (
        "(a+)+$",
        "(a|a)*b",
        "(.*)*" * 20,
        "((((((a{0,99}){0,99}){0,99}){0,99}))",
        "*a" * 300,
        "[" * 900,
        "**" * 400,
    ):
        yield json.dumps({"dynamic_on": True, "xy_distribution": True, "targets": {bomb: {}}}).encode()
        yield json.dumps({"dynamic_on": True, "cc_distribution": {"enable": True, "cc_codeline": [bomb]}}).encode()
        yield json.dumps({"dynamic_on": True, "l2_targets": {"linear_hook": [bomb]}}).encode()
    for name in FIELDS:
        yield f'{{"dynamic_on": true, "{name}": 1, "{name}": true, "{name}": []}}'.encode()
    yield b"{" + b",".join(b'"dynamic_on": %s' % (b"true", b"false")[i % 2] for i in range(20_000)) + b"}"
    yield json.dumps({f"field{i}": i for i in range(30_000)}).encode()
    yield json.dumps({"dynamic_on": True, "targets": {f"layers.{i}.*": {} for i in range(3000)}}).encode()


def random_ones(seed: int) -> Iterator[bytes]:
    """Without end."""
    chance = random.Random(seed)
    while True:
        config = copy.deepcopy(chance.choice(REAL))
        for _ in range(chance.randrange(4)):
            other = copy.deepcopy(chance.choice(REAL))
            name = chance.choice([*other, *FIELDS]) if chance.random() < 0.2 else chance.choice(list(other))
            config[name] = other.get(name, chance.choice(VALUES))
        if chance.random() < 0.3:
            config.pop(chance.choice(list(config)))
        text = bytearray(json.dumps(config, indent=chance.choice([None, 2])).encode())
        for _ in range(chance.choice([0, 0, 0, 1, 3])):
            at = chance.randrange(len(text) + 1)
            cut = at + chance.randrange(12)
            pieces = (bytes([chance.randrange(256)]), b"", text[at:cut] * 2, b"//", b",", b'"', b"1", b"}")
            text[at:cut] = chance.choice(pieces)
        yield bytes(text or b" ")
