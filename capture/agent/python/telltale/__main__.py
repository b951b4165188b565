# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale`: doctor, train-demo, export, tables."""

from __future__ import annotations

import sys

USAGE = """Usage: python -m telltale COMMAND [options]

  doctor        says whether this machine is ready to be watched: rank, dashboard, versions, native library
  train-demo    trains a small network and streams what happens inside it
  export        writes a recorded run as a Parquet or Arrow file
  tables        hands Parquet and Arrow files to `telltale import`, which calls it
  version       prints the version

python -m telltale COMMAND --help says more.
"""


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when something failed, 2 for bad input."""
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "train-demo":
        from .demo.trainer import main as train_demo

        return train_demo(rest)
    if command == "doctor":
        from .doctor import main as doctor

        return doctor(rest)
    if command == "export":
        from .reading.exportcommand import main as export

        return export(rest)
    if command == "tables":
        from .reading.tablestream import main as tables

        return tables(rest)
    if command in ("version", "--version"):
        from . import __version__

        print(__version__)
        return 0
    if command in ("help", "--help", "-h"):
        print(USAGE, end="")
        return 0
    if command:
        print(f'telltale: unknown command "{command}"', file=sys.stderr)
    print(USAGE, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
