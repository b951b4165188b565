# SPDX-License-Identifier: GPL-3.0-or-later
"""AnomalyTurbulence and AnomalyNan over a run that was recorded, as its training would have had them.

python -m telltale.compat.msprobe.anomaly_replay RUN -o DIR [--config FILE]

writes DIR/rank{R}/anomaly.json for each rank of a run (its file, or an id of `telltale runs`), by the run's own rules
or by those of FILE. By the same rules the entries are those that the training wrote, to the last digit: both judge what
is recorded, in the same order, and a config that was put in force while the run went on begins its histories anew here
as there. The files are for people who know them, and for anomaly_processor -d DIR.

What a run does not hold is concluded: which ranks share a pipeline (where the training was given its process group,
those at the same place in all else; otherwise all), and in which order the gradients of one step arrived: within a step
the entries of acc_grad and actv_grad stand along the model, not in the order of that backward pass. Of a training that
wrote csv files as well, attention and communication are judged in the dashboard's form, not in that of the files.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ... import configfile
from ...alertjudge import AlertJudge
from ...anomalyfile import AnomalyFile
from ...config import MonitorConfig
from ...series import Frame
from ...sinks.base import RunContext
from ...sinks.layout import Names
from .anomalyentries import FILE_NAME
from .packedrun import PackedRun, RunError


class Replay:
    """The alerts of one source, written as they are found. Thread: one."""

    def __init__(self, run: PackedRun, source: int, folder: str, config: MonitorConfig | None) -> None:
        """config: in place of the run's own. Raises OSError, ConfigError."""
        self._source = run.sources[source]
        self._parameters = run.parameters(source)
        places = self._source.places
        peers = [one for one in run.sources if one.attempt == self._source.attempt]
        if places[2] >= 0:  # the training was given the group of its pipeline
            peers = [one for one in peers if one.places[:2] + one.places[3:] == places[:2] + places[3:]]
        mates = sorted({one.rank for one in peers})
        self._stage = places[2] if places[2] >= 0 else self._source.rank
        self._mates = mates
        self._later = [] if config else list(self._source.revisions)
        self._take(config or _config_of(self._source.config))
        self._file = AnomalyFile(os.path.join(folder, f"rank{self._source.rank}"))
        self._file.start()
        self.alerts = 0

    def _take(self, config: MonitorConfig) -> None:
        context = RunContext(config, self._source.rank, len(self._mates), self._stage, self._mates)
        self.has_rules = bool(config.alert_rules)
        self._judge = AlertJudge(context, config, Names(config.squash_name, self._parameters))

    def take(self, frame: Frame) -> None:
        """The next step. Raises OSError."""
        while self._later and self._later[0][0] <= frame.step:
            self._take(_config_of(self._later.pop(0)[1]))
        alerts = self._judge.judge(frame)
        self.alerts += len(alerts.found)
        self._file.add(alerts.entries)

    def close(self) -> str:
        """What became of it, in a sentence."""
        self._file.close()
        count = f"{self.alerts} alert{'' if self.alerts == 1 else 's'}"
        return f"rank {self._source.rank}, attempt {self._source.attempt}: {count}, {self._file.path}"


def replay(run: PackedRun, folder: str, config: MonitorConfig | None, attempt: int | None) -> list[str]:
    """A sentence for each rank. attempt: None = each rank's last. Raises RunError, OSError, ConfigError."""
    replays: dict[int, Replay] = {}
    for number in _chosen(run, config, attempt):
        replays[number] = Replay(run, number, folder, config)
    for number, frame in run.frames():
        if number in replays:
            replays[number].take(frame)
    return [one.close() for one in replays.values()]


def _chosen(run: PackedRun, config: MonitorConfig | None, attempt: int | None) -> list[int]:
    last: dict[int, int] = {}
    for number, source in enumerate(run.sources):
        if attempt in (None, source.attempt):
            last[source.rank] = number
    if not last:
        raise RunError("the run has no steps" if attempt is None else f"the run has no attempt {attempt}")
    texts = [text for number in last.values() for text in _texts(run, number)]
    if config is None and not any(_config_of(text).alert_rules for text in texts):
        raise RunError("the run's config has no alert rules; name a config that has them with --config")
    return sorted(last.values())


def _texts(run: PackedRun, number: int) -> list[str]:
    source = run.sources[number]
    return [source.config, *(text for _, text in source.revisions)]


def _config_of(text: str) -> MonitorConfig:
    return configfile.parse(text, "the run's config").config if text else configfile.load(None).config


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 when something could not be read or written, 2 for bad input."""
    options = _parser().parse_args(arguments)

    def fail(sentence: object, code: int = 1) -> int:
        print(f"anomaly_replay: {sentence}", file=sys.stderr)
        return code

    try:
        config = _asked(options.config)
    except (configfile.ConfigError, ValueError) as error:
        return fail(error, 2)
    run = None
    try:
        run = PackedRun(options.run, options.program, options.data_dir)
        sentences = replay(run, options.out, config, options.attempt)
    except (RunError, configfile.ConfigError) as error:
        return fail(error)
    except OSError as error:
        return fail(f"{FILE_NAME} cannot be written below {options.out}: {error.strerror or error}")
    finally:
        if run is not None:
            run.close()
    print("\n".join(sentences))
    return fail(f"{run.damaged} values of the run are damaged and were not judged") if run.damaged else 0


def _asked(path: str) -> MonitorConfig | None:
    if not path:
        return None
    loaded = configfile.load_file(path)
    for problem in loaded.problems:
        print(f"anomaly_replay: {path}: {problem}", file=sys.stderr)
    if not loaded.config.alert_rules:
        raise ValueError(f"{path} has no alert rules: `alert` needs `rules`")
    return loaded.config


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anomaly_replay", description="The alert rules over a recorded run.")
    add = parser.add_argument
    add("run", metavar="RUN", help="the run's file, or its id or name in `telltale runs`")
    add("-o", "--out", required=True, metavar="DIR", help=f"where rank*/{FILE_NAME} go; one from before is kept aside")
    add("--config", default="", metavar="FILE", help="a config whose alert rules are applied in place of the run's own")
    add("--attempt", type=int, metavar="N", help="of a run that was restarted: 0, 1, ... [default: each rank's last]")
    add("--data-dir", default="", metavar="DIR", help="where ids are looked up instead of $TELLTALE_DATA_DIR")
    add("--program", default="telltale", metavar="PATH", help="the program telltale [default: the one on the PATH]")
    return parser


if __name__ == "__main__":
    sys.exit(main())
