"""How long do flattening and presolve of a ladder with 10 000 sections take?"""

from __future__ import annotations

from circuits import LongLadder
from common import Row, finish, median

from acausal.flattening.flatten import flatten
from acausal.reduction.reduced_model import reduce_model


def main() -> None:
    """Measure both stages, from the component object to the reduced model."""
    flat = flatten(LongLadder())
    figure = median(lambda: reduce_model(flatten(LongLadder())))
    finish(
        [Row("flattening and presolve, ladder of 10 000 sections", figure, 1.0, note=f"{flat.nv} variables")]
    )


if __name__ == "__main__":
    main()
