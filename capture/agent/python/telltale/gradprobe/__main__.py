# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale.gradprobe DUMP_PATH`: brings what grad_probe wrote to the dashboard, as a run."""

from __future__ import annotations

import argparse
import sys

from .sendfolder import send_folder
from .signfile import ProbeError


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when something could not be read or sent, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m telltale.gradprobe",
        description="Sends what grad_probe wrote, msprobe's or Telltale's, to the dashboard of TELLTALE_JOIN as a run: "
        "statistics, distributions (grad_level L2) and signs of the gradients, of every rank and step.",
    )
    parser.add_argument("dump_path", metavar="DUMP_PATH", help="as the config names it, or rank0 in it")
    parser.add_argument("--name", default="", help="of the run, instead of the folder's")
    parser.add_argument("--without-signs", action="store_true", help="signs take one bit an element")
    options = parser.parse_args(arguments)
    try:
        notes = send_folder(options.dump_path, options.name, not options.without_signs)
    except (ProbeError, ConnectionError) as error:
        print(f"telltale: {error}", file=sys.stderr)
        return 2 if isinstance(error, ProbeError) else 1
    for sentence in notes:
        print(f"telltale: {sentence}", file=sys.stderr)
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
