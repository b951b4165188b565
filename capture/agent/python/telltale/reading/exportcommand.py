# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale export`: what `telltale export` leaves to pyarrow."""

from __future__ import annotations

import argparse
import json
import sys
import warnings

from .binding import ReaderMissing, ReadError
from .openedrun import open_run
from .tablefile import FORMATS, write_table


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when something failed, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m telltale export", description="Writes a run, or a part of one, as one Parquet or Arrow file."
    )
    parser.add_argument("run", metavar="RUN", help="a path, or an id from `telltale runs`")
    parser.add_argument("--to", required=True, choices=FORMATS)
    parser.add_argument("-o", required=True, metavar="FILE", dest="out", help="the file to write")
    parser.add_argument("--kind", help="this kind only")
    parser.add_argument("--stat", help="this statistic only; hist: the histograms")
    parser.add_argument("--modules", default="", help="which modules: text, glob* or /regex/")
    parser.add_argument("--rank", type=int, help="this rank only")
    parser.add_argument("--steps", metavar="A:B", help="from step A to step B, both included")
    parser.add_argument("--data-dir", metavar="DIR", help="where ids are looked up")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args(arguments)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return _fail(f"{options.to} files are written by pyarrow: pip install pyarrow", options.json)
    try:
        steps = _steps(options.steps)
        with open_run(options.run, options.data_dir) as run, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is lost is in the report
            report = write_table(
                run, options.out, options.to, kind=options.kind, stat=options.stat, modules=options.modules,
                ranks=options.rank, steps=steps,
            )  # fmt: skip
    except (ReadError, ValueError) as error:
        return _fail(str(error), options.json, code=2)
    except (ReaderMissing, OSError) as error:
        return _fail(str(error), options.json)
    if options.json:
        print(json.dumps(report, indent=2))
        return 0
    print(*report["files"], sep="\n")
    print(f"{report['values']} values")
    for one in report["left_out"]:
        print(f"telltale: left out: {one['what']} ({one['count']})", file=sys.stderr)
    if report["values"] == 0:
        print("telltale: nothing in the run is what was asked for", file=sys.stderr)
    return 0


def _steps(text: str | None) -> tuple[int, int] | slice | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        if not colon:
            return int(first), int(first)
        return slice(int(first) if first else None, int(last) + 1 if last else None)
    except ValueError:
        raise ValueError(f"--steps {text} is not A:B") from None


def _fail(sentence: str, is_json: bool, code: int = 1) -> int:
    print(f"telltale: {sentence}", file=sys.stderr)
    if is_json:
        print(json.dumps({"error": sentence}))
    return code
