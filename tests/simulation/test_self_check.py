"""A run confirms itself: every fault that is put into the engine ends it, with a result that ends before the fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import acausal.compilation.context as context
import acausal.compilation.correction as correction
import acausal.compilation.discrete as discrete
import acausal.compilation.rounding as rounding
import acausal.dynamics.scan as scan
import acausal.reduction.assemble as assemble
import acausal.simulation.confirmation as confirmation
import acausal.simulation.loop as loop
import acausal.simulation.nonlinear.integration as integration
import acausal.simulation.starts.starting as starting
from acausal import (
    Circuit,
    Component,
    ConsistencyError,
    Eq,
    Variable,
    compile_model,
    der,
)
from acausal.compilation.lowering import apply
from acausal.components.electrical import Capacitor, Diode, IdealDiode, PulseVoltage, Resistor, SineVoltage
from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.closed_form import AffineFlow, Basis
from acausal.dynamics.flows import Flows
from acausal.dynamics.noise import FlowNoise
from acausal.dynamics.scan import Watch
from acausal.reduction.affine import SLIDING, Kind, Restart, Rows
from acausal.simulation.instants import transition
from acausal.simulation.instants.hints import Hints
from acausal.simulation.nonlinear.system import NonlinearSystem
from acausal.simulation.numeric import NumericCore
from acausal.simulation.self_check import (
    Doubt,
    Held,
    ModelRows,
    Point,
    Violation,
    left_branch,
    unconserved,
    worst,
)
from tests.compilation.test_discrete import Thermostat
from tests.components.blocks.test_pwm import NonlinearEdges
from tests.results.models import Buck, sharing
from tests.semantics.test_s10_end import Connected
from tests.simulation.test_sentinels import waiting
from tests.systems.circuits import circuit
from tests.systems.general_path_models import bridge_at_capacitor
from tests.systems.test_consistent_starts import Given, completed_beside
from tests.systems.test_half_wave import half_wave
from tests.systems.test_leaky_integration import Rectifier
from tests.systems.test_shared_stiction import pulled, ramp
from tests.systems.test_weak_losses import lossy


def refused(model: Any, t_end: float, **options: Any) -> ConsistencyError:
    """The error of a run, whose result ends before the fault."""
    with pytest.raises(ConsistencyError, match="do not satisfy the model at t") as caught:
        compile_model(model).simulate(t_end, **options)
    error = caught.value
    assert error.result.t_end <= error.t  # type: ignore[attr-defined]
    assert not error.relative <= error.allowed
    return error


def pulsed() -> Circuit:
    return circuit(
        ("source", PulseVoltage(V=20.0, offset=-10.0, width=50.0, period=2e-3), "a", "0"),
        ("diode", IdealDiode(), "a", "b"),
        ("resistor", Resistor(R=5.0), "b", "0"),
    )


def test_a_nonlinear_equation_that_is_not_solved_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrections that are small beside the scale of their unknown, 1e5 times what it is, do not tell the next one."""
    monkeypatch.setattr(NonlinearSystem, "kernels", lambda *_: None)
    for module in (correction, rounding):
        monkeypatch.setattr(module, "REACHED", 1e300)
    error = refused(Rectifier(diodes=1, junction=True), 0.1)
    assert "Ids" in str(error) and "semiconductors" in str(error) and error.value > 1e-4


def test_a_search_that_keeps_the_present_mode_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Hints.next_mode

    def kept(self: Hints, chooser: Any, mode: Any, instant: Any, *others: Any) -> Any:
        choice = right(self, chooser, mode, instant, *others)
        if others[0] == ():  # the first instant
            return choice
        model, data = chooser._model, chooser.test.known[mode].data
        return replace(choice, restart=transition.restart(model, instant.limits(data)))

    monkeypatch.setattr(Hints, "next_mode", kept)
    error = refused(pulsed(), 5e-3)
    assert error.t == pytest.approx(1e-3)
    assert error.value == pytest.approx(2.0)
    assert "diode" in str(error)
    assert error.where[0].line > 0


@pytest.mark.parametrize("late", [1e-9, 1e-4])
def test_a_crossing_that_is_located_late_is_found(late: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = scan.FlowWatch.first

    def delayed(*arguments: Any, **rest: Any) -> Any:
        hit = right(*arguments, **rest)
        return None if hit is None else (hit[0] + late, hit[1])

    monkeypatch.setattr(scan.FlowWatch, "first", delayed)
    assert "guard" in str(refused(half_wave(0.05), 0.1))


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_a_crossing_that_is_missed_is_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missed(watched: Any, G: Any, armed: Any, floor: Any, length: float, *_: Any, **rest: Any) -> None:
        for _piece in watched.pieces(length):
            pass

    monkeypatch.setattr(scan.FlowWatch, "first", lambda *given: None)
    monkeypatch.setattr(integration, "first_crossing", missed)
    assert "guard" in str(refused(half_wave(0.05), 0.018, method=method))


def test_a_crossing_that_is_missed_by_a_nonlinear_model_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def missed(watched: Any, G: Any, armed: Any, floor: Any, length: float, *_: Any, **rest: Any) -> None:
        for _piece in watched.pieces(length):
            pass

    model = circuit(
        ("source", SineVoltage(V=10.0, f=50.0), "a", "0"),
        ("ideal", IdealDiode(), "a", "b"),
        ("junction", Diode(R=1e6), "b", "c"),
        ("resistor", Resistor(R=10.0), "c", "0"),
        ("branch", Resistor(R=10.0), "b", "0"),
    )
    compile_model(model).simulate(0.03)
    monkeypatch.setattr(integration, "first_crossing", missed)
    assert "guard" in str(refused(model, 0.018))


def spoil_restart(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    right = transition.restart

    def spoiled(model: Any, entry: Any, *reinits: Any) -> Restart:
        found = right(model, entry, *reinits)
        return change(found, entry.z_minus) if found.jumped else found

    monkeypatch.setattr(transition, "restart", spoiled)


def moved(found: Restart, k: float) -> Restart:
    y = found.y.copy()
    y[: len(found.data.states)] *= k
    return replace(found, y=y, z=found.data.T @ y)


@pytest.mark.parametrize("part", [1e-6, 0.1])
def test_a_restart_that_loses_charge_is_found(part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_restart(monkeypatch, lambda found, z: moved(found, 1.0 - part))
    error = refused(sharing(), 2e-3, impulses="allow")
    assert "conserved" in str(error)
    assert error.t == pytest.approx(1e-3)


def test_restitution_of_what_is_no_contact_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def rebound(found: Restart, z: np.ndarray) -> Restart:
        return replace(found, z=found.z + 0.5 * (found.z - z), J1=1.5 * found.J1)

    spoil_restart(monkeypatch, rebound)
    refused(sharing(), 2e-3, impulses="allow")


def test_no_number_after_a_restart_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_restart(monkeypatch, lambda found, z: replace(found, z=np.full(len(z), np.nan)))
    refused(sharing(), 2e-3, impulses="allow")


def test_no_number_in_a_guard_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = NumericCore._made

    def blank(self: NumericCore, data: Any) -> Any:
        tables = right(self, data)
        tables.forms = np.full_like(tables.forms, np.nan)
        return tables

    monkeypatch.setattr(NumericCore, "_made", blank)
    assert "guard" in str(refused(half_wave(0.05), 0.1))


@pytest.mark.parametrize("factor", [1.0 + 1e-6, 1.1])
def test_a_flow_that_is_not_that_of_the_mode_is_found(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = NumericCore._made

    def wrong(self: NumericCore, data: Any) -> Any:
        tables = right(self, data)
        k, A = len(data.states), data.Ay.copy()
        A[:k] *= factor
        tables.flows = Flows(lambda unit: affine_flow(A, k, min(self.model.T0, unit)))
        return tables

    monkeypatch.setattr(NumericCore, "_made", wrong)
    assert "derivative" in str(refused(Buck(), 1e-4))


# -- faults that the engine once had -------------------------------------------------------------------------------


def test_a_depth_from_the_largest_past_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The depth that counted as zero was a past maximum of the state times rtol times the gain of the guard, 1e5."""
    right, largest = integration._moved, [0.0]

    def moved(watched: Any, *given: Any) -> tuple[float, np.ndarray]:
        late, found = right(watched, *given)
        largest.append(max(largest[-1], float(np.abs(watched.steps.ends()).max())))
        return late, found + 1e-6 * largest[-1]

    monkeypatch.setattr(integration, "_moved", moved)
    assert "a guard of `d[0]`" in str(refused(Rectifier(f=60.0), 0.05, method="implicit"))


def test_scales_of_values_that_mean_never_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """No scale is a depth any more: 1e-15 of such a value is given to the search itself."""
    right = Watch.known
    monkeypatch.setattr(Watch, "known", lambda *arguments: right(*arguments) + 1e-15 * 1e30)
    assert "a guard" in str(refused(half_wave(0.05), 0.1))
    assert "a guard" in str(refused(waiting(-1e30), 1.0))


def test_an_impulse_at_the_end_that_is_not_finished_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop.Loop, "turning", lambda run: None)
    assert "a guard" in str(refused(Connected(), 1e-6))


@pytest.mark.filterwarnings("ignore:given starts contradict the model")
def test_a_jump_at_the_start_that_is_not_recorded_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Energies of the first instant were those of no jump."""
    right = loop.jump_record

    def jump(run: Any, restart: Restart, z_minus: Any, xi: Any, parts: Any, *rest: Any) -> dict[str, Any]:
        return right(run, restart, z_minus, xi, () if run.state.t == 0.0 else parts, *rest)

    model = circuit(
        ("one", Capacitor(C=1e-6, v=10.0), "a", "0"),
        ("two", Capacitor(C=3e-6, v=2.0), "b", "0"),
        ("diode", IdealDiode(), "a", "b"),
        ("load", Resistor(R=1e3), "b", "0"),
    )
    compile_model(model).simulate(1e-3)
    monkeypatch.setattr(loop, "jump_record", jump)
    assert "is not recorded" in str(refused(model, 1e-3))


def test_growth_that_is_cut_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Growing(Component):
        x: Variable = Variable(start=1e-200, fixed=True)

        def equations(self) -> Any:
            yield Eq(der(self.x), 1000.0 * self.x)

    monkeypatch.setattr(Basis, "growing", lambda self: [])
    assert "`x` moves otherwise" in str(refused(Growing(), 1.0))


def test_a_relation_in_an_action_from_before_its_event_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison had the value from before the crossing, so that a thermostat switched once and never again."""

    def before(op: str, a: Any, b: Any, moving: Any, t: Any, tolerance: Any) -> Any:
        return apply(op, b - a, a - b)  # on the other side, where both are the same to the last places

    monkeypatch.setattr(context, "compared", before)
    for method in ("exact", "explicit"):
        assert "`heat` has not the value" in str(refused(Thermostat(), 3.0, method=method))


def test_a_relation_of_time_that_moves_with_its_instant_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relation of time was solved through the expression of time that its discrete took in the same micro-step."""

    def moving(self: Any, batch: int, instance: int, expr: Any) -> tuple[Any, list[Any]]:
        return self.lower(batch, instance, expr), []

    compile_model(NonlinearEdges()).simulate(0.1)
    monkeypatch.setattr(discrete._Update, "_with_held", moving)
    assert "`begin <= time` has another value than what it compares" in str(refused(NonlinearEdges(), 0.1))


def sliding_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contact at its breakaway level slid at once, at rest, and both broke away at 11 in the place of 12 N."""
    right = assemble._element

    def at_once(*arguments: Any) -> Any:
        element = right(*arguments)
        if element.kind is not Kind.FRICTION or element.monotone:
            return element
        stick = replace(element.branches[0], targets=SLIDING)
        return replace(element, branches=(stick, *element.branches[1:]))

    monkeypatch.setattr(assemble, "_element", at_once)


@pytest.mark.parametrize(
    ("method", "levels"),
    [
        ("exact", [(8.0, 10.0), (1.0, 2.0)]),
        ("exact", [(1.0, 2.0), (8.0, 10.0)]),
        ("explicit", [(8.0, 10.0), (1.0, 2.0)]),
        ("implicit", [(1.0, 2.0), (8.0, 10.0)]),
    ],
)
def test_friction_that_slides_at_its_share_of_a_force_is_found(
    method: str, levels: list[tuple[float, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the run, and by the check of a result where the run looks away."""
    assert compile_model(pulled(levels, ramp())).simulate(13.0, method=method).check().ok
    sliding_at_once(monkeypatch)
    error = refused(pulled(levels, ramp()), 13.0, method=method)
    assert "friction slides, and nothing moves" in str(error)
    assert error.t < 11.0
    monkeypatch.setattr(confirmation, "resting", lambda *_: None)
    result = compile_model(pulled(levels, ramp())).simulate(13.0, method=method)
    assert result["mass.s"].final > 0.0 == result["mass.s"].at(11.0)
    worst, small = result.check()[0], levels.index((1.0, 2.0))
    assert (worst.kind, worst.t, worst.ok) == ("branch", pytest.approx(4.0), False)
    assert worst.name.startswith(f"f{small}.state: stick left for backward")


@pytest.mark.filterwarnings("ignore:given starts contradict the model")
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("moved", [{"b.s": 0.9}, {"a.s": 4.9, "a.v": 0.0}, {"a.s": 4.9}])
def test_a_start_that_is_moved_for_nothing_is_found(
    method: str, moved: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given starts of two masses, a friction and a stop that none of them touches were moved, at 4.9 to that stop."""
    compile_model(Given()).simulate(1e-3, method=method)
    monkeypatch.setattr(starting, "complete", completed_beside(moved))
    with pytest.raises(ConsistencyError, match="does not begin where its start says") as caught:
        compile_model(Given()).simulate(1e-3, method=method)
    assert caught.value.t == 0.0
    assert any(f"`{path}`" in str(caught.value) for path in moved)


@pytest.mark.parametrize(("Ron", "part"), [(1e-9, 1e6), (1e-10, 1e6), (1e-11, 1e6), (1e-11, 1e5)])
def test_a_current_that_is_taken_for_rounding_is_found(
    Ron: float, part: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terms of the size of v / Ron counted as rounding of what is left where they cancel: currents never crossed."""
    right = FlowNoise.__init__

    def rounded(self: FlowNoise, *given: Any) -> None:
        right(self, *given)
        self._staying = part * self._staying

    lossy(bridge_at_capacitor(), 0.04, Ron, 0.0)
    monkeypatch.setattr(FlowNoise, "__init__", rounded)
    with pytest.raises(ConsistencyError, match="a guard of `t"):
        lossy(bridge_at_capacitor(), 0.04, Ron, 0.0)


@pytest.mark.parametrize("Ron", [5e-12, 3e-12, 2e-12, 1e-12])
def test_a_current_that_functions_hide_from_each_other_is_found_or_nothing_is_hidden(
    Ron: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Source and capacitor move alike: products of one function that cancel count as noise, 2e-14 of them: 1.8 A, once 184 A."""

    def single(flow: AffineFlow) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return flow.left, flow.right, flow.function

    right = FlowNoise.__init__  # with an error of 2e-12 of the states
    monkeypatch.setattr(
        FlowNoise, "__init__", lambda self, *given: right(self, *given[:-1], 100.0 * given[-1])
    )
    monkeypatch.setattr(AffineFlow, "independent", property(single))
    monkeypatch.setattr(confirmation, "unlocated", lambda *_: None)
    ideal = lossy(bridge_at_capacitor(), 0.04, 0.0, 0.0)["capacitor.v"]
    try:
        found = lossy(bridge_at_capacitor(), 0.04, Ron, 0.0)["capacitor.v"]
    except ConsistencyError:
        return
    assert found.mean() == pytest.approx(ideal.mean(), rel=1e-7)
    assert found.final == pytest.approx(ideal.final, rel=1e-7)


# -- one row after the other ---------------------------------------------------------------------------------------


def left(
    rows: np.ndarray, y: list[float], terms: list[float], late: float = 0.0, tolerance: float = 0.0
) -> Violation | None:
    held = Held(rows, np.abs(rows), np.array([3, 7]), np.abs(rows), ())
    doubt = Doubt(np.array(terms), np.full(2, late), tolerance)
    return left_branch(held, (), np.array(y), doubt)


def test_rows_are_judged_by_their_own_terms() -> None:
    rows = np.array([[1.0, -1.0], [1e5, 0.0]])
    assert left(rows, [1.0, 1.0 + 1e-12], [1.0, 1.0]) is None
    found = left(rows, [1.0, 1.0 + 1e-9], [1.0, 1.0])
    assert found is not None
    assert (found.what, found.which) == ("guard", 3)
    found = left(rows, [-1e-3, -1.0], [1e-3, 1.0])
    assert found is not None
    assert found.which == 7
    assert left(rows, [np.nan, 1.0], [1.0, 1.0]) is not None
    # What was computed from terms of one may be zero; what was computed from nothing may not.
    assert left(rows, [-1e-12, -1.0], [1.0, 1.0]) is None
    assert left(rows, [-1e-12, -1.0], [1e-12, 1.0]) is not None
    # Late by so much, or integrated so roughly.
    assert left(rows, [-1e-6, -1.0], [1e-6, 1.0], late=1e-6) is None
    assert left(rows, [-1e-6, -1.0], [1e-3, 1.0], tolerance=1e-3) is None


def test_balances_and_equations() -> None:
    # C1 v1' - i = 0, C2 v2' + i = 0, v1 - v2 = 0 with i as the third unknown.
    E = np.array([[1.0, 0, 0], [0, 3.0, 0], [0, 0, 0]])
    A = np.array([[0, 0, -1.0], [0, 0, 1.0], [1.0, -1.0, 0]])
    rows = Rows(E, A, np.zeros((3, 1)))
    before, after, J1 = np.array([10.0, 0, 0]), np.array([2.5, 2.5, 0]), np.array([0, 0, -7.5])
    zero, equations = np.zeros(3), ModelRows(rows, ())

    def lost(after: np.ndarray, J1: np.ndarray, free: tuple[int, ...] = (), most: float = 0.0) -> Any:
        sizes = np.abs(before) + np.abs(after), np.abs(J1) + most
        return unconserved(rows, np.arange(2), (before, after, J1), sizes, free, (zero, zero), 1e-9)

    def wrong(z: np.ndarray) -> Any:
        return equations.unsolved((), None, Point(z, zero, np.zeros(1), (zero, zero)), 1e-9)

    assert lost(after, J1) is None
    assert lost(after * (1 + 1e-6), J1) is not None
    assert lost(after, zero, (0, 1)) is None
    assert lost(after, zero, (0,)) is not None
    # What cancels in a jump, or in an impulse, is known to rounding of its terms.
    assert lost(after, J1 + 1e-6, most=1e3) is None
    assert wrong(after) is None
    assert wrong(before) is not None
    assert wrong(after * np.nan) is not None


def test_the_worst_of_some() -> None:
    one = np.ones(3)
    assert worst("guard", np.arange(3), np.array([0.0, 0.5, 0.2]), one, 1e-3 * one).which == 1  # type: ignore[union-attr]
    assert worst("guard", np.arange(3), np.array([0.0, 0.5, np.nan]), one, 1e-3 * one).which == 2  # type: ignore[union-attr]
