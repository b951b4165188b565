# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import argparse
import math
from typing import Any, NoReturn

from .corpus import BadInput
from .faultkinds import KINDS
from .schedule import SCHEDULES
from .tasks import MODELS


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see --help")


def _number(low: int, high: int) -> Any:
    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f'takes a number from {low} to {high}, not "{text}"')
        return int(text)

    return read


def _clip(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f'takes a norm, or 0 for no clipping, not "{text}"')
    return value


def _checkpoint(text: str) -> tuple[str, int]:
    path, _, step = text.rpartition("@")
    if not path or not step.isdecimal():
        raise argparse.ArgumentTypeError(f'takes FILE@STEP, not "{text}"')
    return path, int(step)


def parser() -> argparse.ArgumentParser:
    """Flags of train-demo; errors are BadInput."""
    out = _Parser(
        prog="python -m telltale train-demo",
        description="Trains a small network in PyTorch and streams what happens inside it to Telltale: a transformer "
        "on characters (gpt), one with a mixture of experts (moe), one cut over tensor-parallel ranks (tp), or a "
        "convolutional network on pictures (cnn). Ends with one JSON object on standard output, of each rank; progress "
        "goes to standard error.",
        allow_abbrev=False,
    )
    out.add_argument("--join", metavar="J", help="join string of the dashboard (default: TELLTALE_JOIN)")
    out.add_argument("--config", metavar="FILE", help="monitor config (default: everything is collected)")
    out.add_argument("--steps", type=_number(0, 10**9), default=1000, metavar="N", help="optimizer steps (1000)")
    out.add_argument("--model", choices=MODELS, default="gpt", help="what is trained (gpt)")
    out.add_argument("--ranks", type=_number(1, 64), default=1, metavar="N", help="processes that train one model (1)")
    out.add_argument("--amp", action="store_true", help="mixed precision: float16 with a loss scaler")
    out.add_argument("--schedule", choices=SCHEDULES, default="cosine", help="of the learning rate (cosine)")
    out.add_argument("--clip", type=_clip, default=1.0, metavar="X", help="longest gradient, 0 for any (1)")
    out.add_argument("--layers", type=_number(1, 96), default=4, metavar="N", help="transformer layers (4)")
    out.add_argument("--heads", type=_number(1, 64), default=4, metavar="N", help="attention heads (4)")
    out.add_argument(
        "--width", type=_number(1, 4096), default=160, metavar="N", help="model width, a multiple of the heads (160)"
    )
    text = "/usr/share/common-licenses/GPL-3"
    out.add_argument("--text", default=text, metavar="FILE", help=f"text to learn ({text})")
    out.add_argument("--seed", type=_number(0, 2**63 - 1), default=1234, metavar="N", help="seed of everything (1234)")
    out.add_argument("--fault", metavar="F", help="|".join(KINDS) + " @STEP[:MODULE][:RANK]")
    out.add_argument("--checkpoint", type=_checkpoint, metavar="FILE@STEP", help="write the training before this step")
    out.add_argument("--resume", metavar="FILE", help="go on from such a file")
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
