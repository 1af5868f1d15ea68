"""Path following alone: networks, friction, folds, and what it refuses."""

import math

import numpy as np
import pytest

from acausal.reduction.affine import Branch, Element, Kind
from acausal.simulation.instants.element_curves import PathLost, Probe, port_curve
from acausal.simulation.instants.path_following import follow_path
from tests.simulation.switched_networks import Network, build, friction, rows

ONE = np.ones(1)
INF = math.inf
LOW, LINEAR, HIGH = range(3)


def saturation(n, q, e, y, limit):
    """Amplifier of infinite gain: e = 0 inside the limits of y."""
    up, down = {y: -1.0, "xi": {0: limit}}, {y: 1.0, "xi": {0: limit}}
    branches = (
        Branch("low", rows(n, q, down), rows(n, q, {e: -1.0}), (LINEAR,)),
        Branch("linear", rows(n, q, {e: 1.0}), rows(n, q, up, down), (HIGH, LOW)),
        Branch("high", rows(n, q, up), rows(n, q, {e: 1.0}), (LINEAR,)),
    )
    blocked = (rows(n, q, {e: 1.0}), rows(n, q, {y: 1.0}), rows(n, q, {e: 1.0}))
    return Element("amplifier", Kind.MODES, branches, blocked, ((-INF, -1.0), (-1.0, 1.0), (1.0, INF)))


def feedback(sign, beta=0.5, limit=15.0, scale=(10.0, 10.0)):
    """e = sign * beta * y - u with u the source number 1, a ramp."""
    element = saturation(2, 2, 0, 1, limit)
    equation = {0: 1.0, 1: -sign * beta, "xi": {1: 1.0}}
    return build(["e", "y"], [equation], (element,), [[0.0, 0.0], [1.0, 0.0]], scale, [1.0, 10.0], 1.0)


@pytest.mark.parametrize("scale", [(10.0, 10.0), (0.01, 10.0), (1e3, 10.0)])
@pytest.mark.parametrize(("start", "u", "end"), [(HIGH, 7.6, LOW), (LOW, -7.6, HIGH), (LINEAR, 7.6, LOW)])
def test_positive_feedback_jumps_over_the_fold(scale, start, u, end):
    model = feedback(1, scale=scale)
    y = {LOW: -15.0, LINEAR: u / 0.5, HIGH: 15.0}[start]
    path = follow_path(model, np.array([0.5 * y - u, y]), np.array([1.0, u]), (start,), (-1,), 1e-3)
    assert path.mode == (end,)


def test_the_path_over_the_fold_goes_through_the_unstable_branch():
    path = follow_path(feedback(1), np.array([0.0, 15.0]), np.array([1.0, 7.6]), (HIGH,), (-1,), 1e-3)
    assert (path.mode, path.pivots, path.folds) == ((LOW,), 2, 1)


@pytest.mark.parametrize(("u", "end"), [(-10.0, HIGH), (3.0, LINEAR), (10.0, LOW)])
@pytest.mark.parametrize("start", [LOW, LINEAR, HIGH])
def test_negative_feedback_has_one_answer(start, u, end):
    path = follow_path(feedback(-1), np.zeros(2), np.array([1.0, u]), (start,), (-1,), 1e-3)
    assert (path.mode, path.folds) == ((end,), 0)


def test_corners_follow_the_equations_not_the_ranges():
    element = friction("f", 2, 1, {0: 1.0}, {1: 1.0}, 3.0, 4.0)
    model = build(["v", "f"], [{"der": {0: 1.0}, 1: 1.0}], (element,), [[0.0]], [0.1, 10.0], [1.0], 1.0)
    curve = port_curve(element, Probe(model, np.zeros(2), ONE, 1e-3), 1e-7)
    assert curve.branches == (2, 0, 1)
    corners = [curve.base[k] + curve.slope[k] * curve.breaks[k] for k in (1, 2)]
    np.testing.assert_allclose(corners, [[-3e-8, -0.3], [3e-8, 0.3]], atol=1e-15)
    for k, corner in enumerate(corners):
        np.testing.assert_allclose(curve.base[k] + curve.slope[k] * curve.breaks[k + 1], corner, atol=1e-15)


@pytest.mark.parametrize(
    ("force", "speed", "end"),
    [
        (2.0, 0.0, 0),
        (5.0, 0.0, 1),
        (-5.0, 0.0, 2),
        (0.0, 1.0, 1),
        (0.0, -1.0, 2),
        (-5.0, 1e-3, 2),
    ],
)
def test_body_with_friction(force, speed, end):
    element = friction("f", 2, 1, {0: 1.0}, {1: 1.0}, 3.0, 3.0)
    model = build(
        ["v", "f"],
        [{"der": {0: 1.0}, 1: 1.0, "xi": {0: -force}}],
        (element,),
        [[0.0]],
        [1.0, 5.0],
        [1.0],
        1.0,
    )
    for start in range(3):
        assert follow_path(model, np.array([speed, 0.0]), ONE, (start,), (-1,), 1e-2).mode == (end,)


def test_closed_switch_in_antiparallel_with_a_diode_keeps_it_off_its_corner():
    for forward in (True, False):
        network = Network()
        network.R(1, 0, 2.0, {0: 10.0})
        network.SW(1, 0)
        network.D(*((1, 0) if forward else (0, 1)))
        path = follow_path(network.model(), np.zeros(3), ONE, (1, 0), (1, -1), 1e-3)
        assert path.mode == (1, int(forward))


def test_free_element_without_curve_is_refused():
    model = feedback(1)
    element = Element("table", Kind.MODES, model.elements[0].branches, model.elements[0].blocked)
    model = build(
        ["e", "y"], [{0: 1.0, 1: -0.5}], (element,), [[0.0, 0.0], [1.0, 0.0]], (1.0, 1.0), [1.0, 1.0], 1.0
    )
    with pytest.raises(PathLost, match="table"):
        follow_path(model, np.zeros(2), np.ones(2), (0,), (-1,), 1e-3)
