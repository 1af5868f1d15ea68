"""Is the general path right on circuits with small losses, whatever the loss and the tolerance?

All circuits of the family "general path" of the campaign, with every pair of Ron and Goff of a grid in all their switches and
valves, three relative tolerances, both kinds of method, against the closed form. Printed are the findings, and for every method
and tolerance a table of the largest error over all circuits, in units of the tolerance. The exit code is 1 where there are
findings.

    python benchmarks/lossy_circuits.py                               losses of 1e-3, 1e-5, 1e-7 and 1e-9
    python benchmarks/lossy_circuits.py --losses 3 9 --circuit "six pulse" --every
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter

from campaign import FINDINGS, Outcome, Worker

TOLERANCES = (1e-3, 1e-6, 1e-9)
Cells = dict[tuple[str, float, int, int], list[Outcome]]


def sweep(names: list[str], losses: list[int], tolerances: list[float], limit: float, every: bool) -> Cells:
    """Outcomes of all circuits by method, tolerance, and the exponents of Ron and Goff."""
    from tests.systems.campaign_families import FAMILIES, LossyCircuit

    worker, methods, found = Worker(limit), FAMILIES["general path"].methods, Cells()
    for name, Ron, Goff in itertools.product(names, losses, losses):
        for rtol, method in itertools.product(tolerances, methods):
            circuit = LossyCircuit("circuit", name, 10.0**-Ron, 10.0**-Goff, rtol)
            outcome = worker.run("general path", [circuit], method)
            found.setdefault((method, rtol, Ron, Goff), []).append(outcome)
            if every or outcome.outcome in FINDINGS:
                print(
                    f"{outcome.outcome}: {name}, Ron 1e-{Ron}, Goff 1e-{Goff}, rtol {rtol:g}, {method}:"
                    f" {outcome.off / rtol:.2g} rtol, {outcome.seconds:.2g} s {outcome.why}",
                    flush=True,
                )
    worker.stop()
    return found


def table(found: Cells, method: str, rtol: float, losses: list[int]) -> None:
    """Print the largest errors of one method and tolerance in units of the tolerance; what is no number is counted beside it."""
    print(f"\n{method}, rtol {rtol:g}: largest error in units of rtol (rows Ron, columns Goff)")
    print(" " * 8 + "".join(f"{f'1e-{g}':>16}" for g in losses))
    for r in losses:
        cells = []
        for g in losses:
            outcomes = found[method, rtol, r, g]
            others = Counter(o.outcome for o in outcomes if o.outcome not in ("right", "wrong"))
            runs = [o.off / rtol for o in outcomes if o.outcome in ("right", "wrong")]
            beside = "".join(
                f" {n}{''.join(w[0] for w in kind.split())}" for kind, n in sorted(others.items())
            )
            cells.append((f"{max(runs):.1e}" if runs else "-") + beside)
        print(f"{f'1e-{r}':<8}" + "".join(f"{c:>16}" for c in cells))


def main() -> int:
    """Read the options and run."""
    from tests.systems.campaign_families import FAMILIES, LOSSY

    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--circuit", action="append", choices=LOSSY, help="by default all")
    options.add_argument(
        "--losses", type=int, nargs="+", default=[3, 5, 7, 9], help="negative exponents of ten"
    )
    options.add_argument("--rtol", type=float, nargs="+", default=list(TOLERANCES))
    options.add_argument("--limit", type=float, default=30.0, help="seconds for one run")
    options.add_argument("--every", action="store_true", help="print a line for every run")
    args = options.parse_args()
    found = sweep(args.circuit or list(LOSSY), args.losses, args.rtol, args.limit, args.every)
    for method, rtol in ((m, r) for m in FAMILIES["general path"].methods for r in args.rtol):
        table(found, method, rtol, args.losses)
    outcomes = Counter(o.outcome for cell in found.values() for o in cell)
    print("\n" + ", ".join(f"{n} {kind}" for kind, n in sorted(outcomes.items())))
    print(
        "beside the errors: rr right refusal, wr wrong refusal, h hanging, u unjudged; stiff ones explicitly over their begin"
    )
    return sum(outcomes[kind] for kind in FINDINGS)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
