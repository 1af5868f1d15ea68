"""What a late crossing leaves open of the segment behind it."""

from typing import Any

import numpy as np
import pytest

import acausal.simulation.confirmation as confirmation
from acausal import simulate
from acausal.dynamics.noise import Uncertainty
from acausal.simulation.resolution import unlocated
from tests.systems.test_dosing import SPAN, Dosing

OFF = 1e-3


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize(
    ("ways", "doubtful"), [((OFF,), True), ((0.0,), False), ((OFF, OFF), True), ((OFF, 0.0), False)]
)
def test_a_state_is_off_by_the_smaller_way_at_the_end_of_all_pieces(
    ways: tuple[float, ...], doubtful: bool, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that move by so many seconds more than the time that is open moves them."""
    judged: list[tuple[Any, ...]] = []
    monkeypatch.setattr(confirmation, "unlocated", lambda *given: judged.append(given))
    simulate(Dosing(), SPAN, method="exact")
    model, data, trajectory = judged[1][:3]
    length, late = (pieces - 0.5) * trajectory.reach, 1e-6
    assert len([*trajectory.pieces(length)]) == pieces
    rate = data.Ay @ trajectory.y0
    moves = np.concatenate([data.T @ rate, rate[len(data.states) :]])
    shift = np.column_stack([(late + off) * moves for off in ways])
    # One way may be told as a vector too.
    for given in [shift, shift[:, 0]][: 3 - len(ways)]:
        found = unlocated(model, data, trajectory, Uncertainty(late, shift=given), length, None)
        assert (None if found is None else found.what) == ("crossing" if doubtful else None)
    assert unlocated(model, data, trajectory, Uncertainty(late), length, None) is None
