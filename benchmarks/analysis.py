"""How long does the analysis of a circuit with 1000 equations and 34 diodes take, up to its first instant?"""

from __future__ import annotations

from circuits import DiodeLadder
from common import Row, finish, median

from acausal import Program
from acausal.simulation.continuation import begin
from acausal.simulation.run import Run


def analyse() -> Run:
    """Flatten, presolve, put numbers in, choose and analyse the first modes."""
    run = Program(DiodeLadder()).prepare(1.0)
    begin(run)
    return run


def main() -> None:
    """Measure the analysis in a warm process."""
    run = analyse()
    note = f"{run.flat.nv} variables, {len(run.reduced.core)} in the core, {run.core.analysed} modes"
    finish([Row("analysis, ladder of 34 R-L-D-C-R sections", median(analyse), 0.6, note=note)])


if __name__ == "__main__":
    main()
