# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale tables`: Parquet and Arrow files for `telltale import`, which has no library for them.

Standard output is a line of JSON a message, and behind one that says "rows" so many bytes of csv, as the program's own
csv importers take it: of Telltale's tables the lines of `telltale export --to csv`, of others the rows as they are.
Everything that does not go over is named and counted.
"""

from __future__ import annotations

import argparse
import os
import sys

from .longtable import stream_long
from .tablesource import Stream, Table
from .widetable import stream_wide

_OWN = {"step", "rank", "attempt", "kind", "name", "slot", "micro_step"}


def main(arguments: list[str]) -> int:
    """The exit code: 0 also where files are damaged, which is said."""
    parser = argparse.ArgumentParser(
        prog="python -m telltale tables", description="Hands Parquet and Arrow files to `telltale import`."
    )
    parser.add_argument("--stats", default="", help="the statistics that Telltale's own tables may have")
    parser.add_argument("files", metavar="FILE", nargs="+")
    options = parser.parse_args(arguments)
    stream = Stream(sys.stdout.buffer, len(options.files))
    try:
        for number, path in enumerate(options.files):
            stream_table(stream, number, path, options.stats.split(","))
        stream.done()
    except (BrokenPipeError, KeyboardInterrupt):  # nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def stream_table(stream: Stream, number: int, path: str, stats: list[str]) -> None:
    """One file; what is wrong with it is said in the stream."""
    try:
        table = Table(path)
        is_own = set(table.schema.names) >= _OWN
        for name in sorted({name for name in table.schema.names if table.schema.names.count(name) > 1}):
            raise ValueError(f"it has several columns that are called {name!r}")
        if is_own:
            stream_long(stream, table, stats)
        else:
            stream_wide(stream, table)
    except BrokenPipeError:
        raise
    except Exception as error:  # whatever pyarrow makes of damaged bytes
        is_begun = stream.tables > number
        if not is_begun:
            stream.table("none")
        first = (str(error).splitlines() or [type(error).__name__])[0]
        stream.damage(f"pyarrow cannot read it{' to its end' if is_begun else ''}: {first}")
    stream.end()
