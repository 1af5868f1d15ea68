"""Do random models run, and is what comes of them right?

Every seed of a family is a model. It runs on every path that can take it, each run in a process of its own under a limit of
time, and is judged by the oracles of `tests/oracles`: laws and balances by direct evaluation, modes and jumps by exact
complementarity problems, trajectories by small implicit steps, refusals by whether the problem of their instant has a
solution. An explicit method that says a model is stiff is stopped soon after, judged as far as it went, and counted as such.
Findings are printed with the family and the seed that reproduce them; the exit code is 1 where there are any. With a
log a campaign goes on where the last one ended, and counts what that has found.

    python benchmarks/campaign.py                          two minutes over all families
    python benchmarks/campaign.py --minutes 120 --log campaign.jsonl    the long one, which may be ended and resumed
    python benchmarks/campaign.py --summary *.jsonl        what the logs of several campaigns hold together
    python benchmarks/campaign.py --family resting --count 500 --first 1000
    python benchmarks/campaign.py --family resting --seed 17            one seed alone, with its model
    python benchmarks/campaign.py --family resting --seed 17 --shrink   its smallest part with the same outcome
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

JUDGEMENT = 300.0
"""Seconds of a processor for the oracle, which reads integrals over up to 15 000 steps."""
ASLEEP = 3600.0
"""Seconds on the clock without a sign of life."""
FINDINGS = ("wrong", "wrong refusal", "unjudged", "hanging", "dead")


class Outcome(NamedTuple):
    """What came of one run."""

    outcome: str
    why: str
    error: str
    parts: int
    elements: int
    events: int
    decisions: int
    seconds: float
    off: float = 0.0
    stepping: str = ""


def work(pipe: Connection, limit: float) -> None:
    """Run what comes through the pipe, in a process of its own, which the system ends when its own time is over."""
    from tests.systems.campaign_families import FAMILIES

    pipe.send("ready")
    while True:
        family, parts, method = pipe.recv()
        took, start = [0.0], time.process_time()
        signal.setitimer(signal.ITIMER_PROF, limit)

        def ran(took: list[float] = took, start: float = start) -> None:
            took[0] = time.process_time() - start
            signal.setitimer(signal.ITIMER_PROF, JUDGEMENT)
            pipe.send("ran")

        verdict = FAMILIES[family].run(parts, method, ran)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        sizes = verdict.parts, verdict.elements, verdict.events, verdict.decisions
        pipe.send(
            Outcome(
                verdict.outcome,
                verdict.why,
                verdict.error,
                *sizes,
                took[0],
                verdict.off,
                verdict.stepping,
            )
        )


class Worker:
    """A process that runs models one by one, and is replaced when one of them takes too long."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.process: Any = None

    def run(self, family: str, parts: Sequence[Any], method: str) -> Outcome:
        """Run a description, or give up after the limit of time."""
        if self.process is None:
            self.pipe, inner = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(
                target=work, args=(inner, self.limit), daemon=True
            )
            self.process.start()
            inner.close()
            self.pipe.recv()
        self.pipe.send((family, parts, method))
        ran = False
        try:
            # The limit is for the run; the oracle takes what it needs. What waits for ever uses no time of its own.
            while self.pipe.poll(ASLEEP):
                found = self.pipe.recv()
                if isinstance(found, Outcome):
                    return found
                ran = True
            kind, why = "hanging", f"asleep for {ASLEEP:g} s"
        except EOFError:
            self.process.join(10.0)
            if self.process.exitcode == -signal.SIGPROF:
                kind, why = "hanging", f"more than {self.limit:g} s"
                if ran:
                    kind, why = "unjudged", f"no judgement after {JUDGEMENT:g} s"
            elif self.process.exitcode == 1:
                kind, why = "unjudged", "the judge has failed, see above"
            else:
                kind, why = "dead", "the process ended"
        self.stop()
        return Outcome(kind, why, "", len(parts), 0, 0, 0, self.limit)

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


class Log:
    """Outcomes of all runs, kept in a file of one JSON object a line where a path is given."""

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self.path = path
        self.found: dict[str, list[Outcome]] = {name: [] for name in names}
        self.last: dict[str, int] = {}
        if path is not None and path.exists():
            self.read(path)

    def read(self, path: Path) -> None:
        """Take what a file holds."""
        for line in path.read_text(encoding="utf-8").splitlines():
            family, seed, _, *outcome = json.loads(line)
            if family in self.found:
                self.found[family].append(Outcome(*outcome))
                self.last[family] = max(seed, self.last.get(family, 0))

    def add(self, family: str, seed: int, method: str, outcome: Outcome) -> None:
        """Keep what came of a run."""
        self.found[family].append(outcome)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([family, seed, method, *outcome]) + "\n")


def tasks(families: Sequence[str], first: int, log: Log) -> Iterator[tuple[str, int]]:
    """Families in turn, seed after seed, those of the log left out."""
    seeds = {family: max(first, log.last.get(family, first - 1) + 1) for family in families}
    while True:
        for family in families:
            yield family, seeds[family]
            seeds[family] += 1


def campaign(
    log: Log,
    first: int,
    count: int | None,
    seconds: float,
    limit: float,
    methods: Sequence[str],
    every: bool,
) -> int:
    """Run seeds of all families until the count or the time is reached, and print what came of them."""
    from tests.systems.campaign_families import FAMILIES

    names, worker = list(log.found), Worker(limit)
    end = time.monotonic() + seconds
    for name, seed in tasks(names, first, log):
        if (count is not None and seed >= first + count) or (count is None and time.monotonic() > end):
            break
        parts = FAMILIES[name].describe(seed)
        for method in methods or FAMILIES[name].methods:
            outcome = worker.run(name, parts, method)
            log.add(name, seed, method, outcome)
            if outcome.outcome in FINDINGS:
                where = f"--family {name!r} --seed {seed} --method {method}"
                print(f"{outcome.outcome}: {where}: {outcome.why}", flush=True)
            elif every:
                print(f"{outcome.outcome}: {name} {seed} {method} {outcome.seconds:.2g} s", flush=True)
    worker.stop()
    print(f"\nseeds from {first}; the limit of a run is {limit:g} s")
    return summary(log)


def summary(log: Log) -> int:
    """Print what came of all runs of a log; the number of findings."""
    from tests.systems.campaign_families import FAMILIES

    for name, outcomes in log.found.items():
        if outcomes:
            table(name, outcomes, FAMILIES[name].decides)
    runs = [o for outcomes in log.found.values() for o in outcomes]
    decisions = sum(o.decisions + 1 for o in runs if o.outcome not in ("hanging", "dead"))
    trajectories = sum(len(outcomes) for name, outcomes in log.found.items() if not FAMILIES[name].decides)
    findings = sum(o.outcome in FINDINGS for o in runs)
    print(
        f"\n{decisions} decisions of modes in {len(runs)} runs, {trajectories} of them trajectories, {findings} findings,"
        f" {sum(o.seconds for o in runs) / 60:.0f} minutes"
    )
    return findings


def table(name: str, outcomes: Sequence[Outcome], decides: bool) -> None:
    """Print what came of a family."""
    total = Counter(o.outcome for o in outcomes)
    print(
        f"\n{name}: {len(outcomes)} {'instants' if decides else 'trajectories'}, {sum(o.seconds for o in outcomes):.0f} s"
    )
    print("  outcomes  ", ", ".join(f"{k} {v}" for k, v in sorted(total.items())))
    refusals = Counter(o.error for o in outcomes if o.error)
    if refusals:
        print("  refusals  ", ", ".join(f"{k} {v}" for k, v in sorted(refusals.items())))
    stepping = Counter(o.stepping for o in outcomes if o.stepping)
    if stepping:
        print("  steps     ", ", ".join(f"{k} {v}" for k, v in sorted(stepping.items())))
    for title, values, steps in (
        ("parts", [o.parts for o in outcomes], (5, 10, 20, 40, 1000)),
        ("elements", [o.elements for o in outcomes], (0, 2, 5, 10, 20, 1000)),
        ("events", [o.events for o in outcomes], (0, 1, 3, 10, 30, 100000)),
        ("seconds", [o.seconds for o in outcomes], (0.1, 0.3, 1.0, 3.0, 10.0, 1000)),
    ):
        low, cells = -1.0, []
        for high in steps:
            inside = sum(low < v <= high for v in values)
            cells.append(f"up to {high:g}: {inside}" if high < 1000 else f"more: {inside}")
            low = high
        print(f"  {title:<10}", ", ".join(cells))


def single(name: str, seed: int, methods: Sequence[str], limit: float, shrink: bool) -> int:
    """Run one seed, print its model, and on request its smallest part with the same outcome."""
    from tests.systems.campaign_families import FAMILIES

    family, worker, findings = FAMILIES[name], Worker(limit), 0
    parts = family.describe(seed)
    print(family.text(parts))
    for method in methods or family.methods:
        outcome = worker.run(name, parts, method)
        print(f"{method}: {outcome.outcome} {outcome.why} ({outcome.seconds:.3g} s, {outcome.events} events)")
        if outcome.outcome in FINDINGS:
            findings += 1
            if shrink:
                small = smallest(worker, name, parts, method, outcome)
                print(f"smallest with the same outcome:\n{family.text(small)}")
                print(worker.run(name, small, method).why)
    worker.stop()
    return findings


def smallest(worker: Worker, name: str, parts: Sequence[Any], method: str, outcome: Outcome) -> Sequence[Any]:
    """Leave out parts one by one as long as the outcome stays."""
    from tests.systems.campaign_families import smaller

    found: Sequence[Any] | None = parts
    while found is not None:
        parts, found = found, None
        for fewer in smaller(parts):
            again = worker.run(name, fewer, method) if fewer else None
            if again is not None and kind(again) == kind(outcome):
                found = fewer
                break
    return parts


def kind(outcome: Outcome) -> tuple[str, ...]:
    """What two outcomes of one cause have in common: that of a refusal has the words of its error, without times and names."""
    words = outcome.why.partition(": ")[2] if outcome.error else ""
    return outcome.outcome, outcome.error, *re.sub(r"`.*?`|[^a-z ]\S*", "", words).split()[:8]


def main() -> int:
    """Read the options and run."""
    from tests.systems.campaign_families import FAMILIES

    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--family", action="append", choices=list(FAMILIES), help="by default all, in turn")
    options.add_argument(
        "--without", action="append", default=[], choices=list(FAMILIES), help="all but these"
    )
    options.add_argument("--minutes", type=float, default=2.0, help="length of the campaign, without --count")
    options.add_argument("--count", type=int, help="seeds per family")
    options.add_argument("--first", type=int, default=0, help="first seed")
    options.add_argument("--seed", type=int, help="one seed alone, with its model")
    options.add_argument("--method", action="append", help="by default all that the family is run on")
    options.add_argument("--limit", type=float, default=20.0, help="seconds of a processor for one run")
    options.add_argument("--log", type=Path, help="file to which outcomes are added, and from which to go on")
    options.add_argument(
        "--summary", type=Path, nargs="+", help="print what these logs hold, and run nothing"
    )
    options.add_argument("--all", action="store_true", help="print a line for every run")
    options.add_argument("--shrink", action="store_true", help="with --seed: find the smallest part")
    args = options.parse_args()
    names = args.family or [name for name in FAMILIES if name not in args.without]
    methods = args.method or []
    if args.seed is not None:
        return sum(single(name, args.seed, methods, args.limit, args.shrink) for name in names)
    log = Log(args.log, names)
    if args.summary:
        for path in args.summary:
            log.read(path)
        return summary(log)
    return campaign(log, args.first, args.count, 60 * args.minutes, args.limit, methods, args.all)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
