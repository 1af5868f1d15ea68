"""The check of analysed modes finds what an elimination has lost, and nothing where it has lost nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from acausal import ConsistencyError
from acausal.kernels import elimination as kernel
from acausal.kernels import loading
from acausal.reduction import elimination
from acausal.reduction.affine import AffineModel
from acausal.reduction.identities import ALLOWED, check_mode
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.nonlinear.tangents import Tangents
from tests.reduction.circuits import Builder
from tests.systems.test_tiny_starts import crank


def guided_rod(angle: float) -> AffineModel:
    """A body that falls, held by a rod that makes this angle with its guide, touched at a point.

    The first row, ``d(L cos(phi)) = -L sin(phi) d(phi)``, says next to nothing of ``phi``.
    """
    builder = Builder()
    for name in ("x", "v", "y", "phi", "f"):
        builder.var(name, 10.0)
    builder.eq({"x": 1.0, "y": -0.5, "phi": angle}, label="along the guide")
    builder.eq({"y": 1.0, "phi": -0.3}, label="across the guide")
    builder.eq({"v": -1.0}, {"x": 1.0}, label="speed")
    builder.eq({"f": -0.3}, {"v": 1.0}, {0: 9.8}, label="gravity")
    builder.eq({"f": -1.0, "phi": 0.4, "y": 1.0, "x": 2.0}, label="spring")
    return builder.build()


@pytest.mark.parametrize("angle", [0.0, 1e-100, 1e-33, 1e-17, 1e-9, 1e-3])
def test_a_row_with_a_weak_entry_takes_nothing_from_others(angle: float) -> None:
    model = guided_rod(angle)
    check_mode(model, reduce_mode(model, ()))


@pytest.mark.parametrize("phi", [1e-100, 1e-17])
def test_what_a_weak_pivot_has_lost_is_found(phi: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside slopes of 1e-17 that the rounding of the point has made, gravity would be lost."""
    monkeypatch.setattr(Tangents, "_without_noise", lambda self, a0, gradient, constants: gradient)
    simulation = crank.start(span=1.0, initial={"joint.phi": phi, "joint.w": 1.0})
    assert simulation.result["der(joint.w)"].at(0.0) == pytest.approx(-9.80665 * 0.1 / 0.02, rel=1e-9)
    monkeypatch.setitem(loading._loaded, "reduce_rows", None)  # What is compiled knows its constants.
    monkeypatch.setattr(kernel, "WEAK", 0.0)
    for mended in ("_restore", "_refine"):
        monkeypatch.setattr(elimination.Elimination, mended, lambda self: None)
    with pytest.raises(ConsistencyError, match="the analysis of a mode does not satisfy") as caught:
        crank.start(span=1.0, initial={"joint.phi": phi, "joint.w": 1.0}).result  # noqa: B018
    assert caught.value.relative > ALLOWED


@pytest.mark.parametrize("part", ["T", "Ay", "constraints", "Gy"])
@pytest.mark.parametrize("error", [1e-6, 1.0, np.nan])
def test_any_wrong_number_of_a_table_is_found(part: str, error: float) -> None:
    builder = Builder()
    u, u2, i = builder.var("u", 5.0), builder.var("u2", 5.0), builder.var("i")
    builder.eq({i: -1.0}, {u: 1e-3, u2: 2e-3}, label="current")
    builder.eq({u: 1.0, u2: -1.0}, label="joined")
    builder.eq({i: 10.0, u: 1.0}, source={0: -5.0}, label="resistor")
    if part == "Gy":
        builder.diode("d", {u: 1.0}, {builder.var("leak"): 1.0})
    model = builder.build()
    mode = (0,) * len(model.elements)
    data = reduce_mode(model, mode)
    values = np.array(getattr(data, part))
    at = np.unravel_index(np.argmax(np.abs(values)), values.shape)
    values[at] *= 1.0 + error
    with pytest.raises(ConsistencyError):
        check_mode(model, replace(data, **{part: values}))


class Unread(tuple[str, ...]):
    """Texts that nobody may read."""

    def __getitem__(self, k: Any) -> Any:
        raise AssertionError(f"text {k} was made though there is no error to tell")

    __iter__ = property(lambda self: self[0])


def test_texts_are_made_for_errors_alone() -> None:
    """A row is named when it is wrong: base rows by their texts, rows of branches by their elements."""
    builder = Builder()
    u, i, leak = builder.var("u", 5.0), builder.var("i"), builder.var("leak")
    builder.eq({i: -1.0}, {u: 1e-3}, label="current")
    builder.eq({i: 10.0, u: 1.0, leak: 1.0}, source={0: -5.0}, label="resistor")
    builder.diode("d", {u: 1.0}, {leak: 1.0})
    model = builder.build()
    quiet = replace(model, names=Unread(model.names), row_names=Unread(model.row_names))
    data = reduce_mode(quiet, (0,))
    assert [model.name_of_row((0,), k) for k in range(3)] == ["current", "resistor", "d"]
    data = replace(data, T=np.where(np.arange(3)[:, None] == 0, data.T + 1.0, data.T))
    with pytest.raises(ConsistencyError, match="does not satisfy (current|resistor)"):
        check_mode(model, data)
