# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .corpus import BadInput
from .fault import KINDS


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see --help")


def _number(low: int, high: int) -> Any:
    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f'takes a number from {low} to {high}, not "{text}"')
        return int(text)

    return read


def parser() -> argparse.ArgumentParser:
    """Flags of train-demo; errors are BadInput."""
    out = _Parser(
        prog="python -m telltale train-demo",
        description="Trains a small character-level transformer in PyTorch and streams what happens inside it to "
        "Telltale. Under torchrun every rank trains its share by DDP. Ends with one JSON object on standard output; "
        "progress goes to standard error.",
        allow_abbrev=False,
    )
    out.add_argument("--join", metavar="J", help="join string of the dashboard (default: TELLTALE_JOIN)")
    out.add_argument("--config", metavar="FILE", help="monitor config (default: everything is collected)")
    out.add_argument("--steps", type=_number(0, 10**9), default=1000, metavar="N", help="optimizer steps (1000)")
    out.add_argument("--layers", type=_number(1, 96), default=4, metavar="N", help="transformer layers (4)")
    out.add_argument("--heads", type=_number(1, 64), default=4, metavar="N", help="attention heads (4)")
    out.add_argument(
        "--width", type=_number(1, 4096), default=160, metavar="N", help="model width, a multiple of the heads (160)"
    )
    text = "/usr/share/common-licenses/GPL-3"
    out.add_argument("--text", default=text, metavar="FILE", help=f"text to learn ({text})")
    out.add_argument("--seed", type=_number(0, 2**63 - 1), default=1234, metavar="N", help="seed of everything (1234)")
    out.add_argument("--fault", metavar="F", help="|".join(KINDS) + " @STEP[:MODULE]")
    out.add_argument("--no-agent", action="store_true", help="train without any monitoring")
    out.add_argument("--weights-out", metavar="FILE", help="write the final parameters' raw bytes")
    out.add_argument("--step-times", metavar="FILE", help="write the duration of every step, microseconds, one a line")
    return out


def parse(arguments: list[str]) -> argparse.Namespace:
    """Raises BadInput with one sentence."""
    options = parser().parse_args(arguments)
    if options.width % options.heads:
        raise BadInput(f"--width {options.width} is not a multiple of --heads {options.heads}")
    return options
