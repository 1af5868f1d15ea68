"""How the modes of a run are told."""

from __future__ import annotations

from acausal.results.modes import ModeVisit, VisitedModes


def test_one_of_a_kind_stands_in_the_singular() -> None:
    visit = ModeVisit({}, 0.5, 1, 1, 0)
    assert repr(visit) == "<Mode 0.5 s in 1 visit, 1 state, exact>"
    assert repr(VisitedModes([visit])).splitlines()[0] == "1 mode"


def test_branches_are_listed() -> None:
    visit = ModeVisit({"d.on": "off"}, 0.5, 2, 0, 0)
    assert repr(visit) == "<Mode {d.on: off}, 0.5 s in 2 visits, 0 states, exact>"
    assert repr(VisitedModes([visit, visit])).splitlines()[0] == "2 modes"
