"""Models of `benchmarks/campaign.py` that have found defects: every run is right, every refusal too."""

from fractions import Fraction
from functools import partial

import mpmath as mp
import numpy as np
import pytest

from acausal import AcausalError, ConsistencyError, Result, compile_model
from acausal.simulation.instants.transition import SearchStats
from tests.oracles.lines import Part
from tests.oracles.networks import GROUND, Element
from tests.oracles.random_lines import random_mechanism
from tests.systems.campaign_cases import line_case, network_case
from tests.systems.campaign_families import FAMILIES, LossyCircuit, against, refused
from tests.systems.campaign_judge import attempt, judged
from tests.systems.general_path_cases import CASES

pytestmark = pytest.mark.sweep
SEEDS = {
    "networks": (1, 2, 3, 5, 10, 13),
    "free networks": (2, 5, 7, 9, 11, 16, 200019, 420038, 900070, 1080030, 1090002),
    "ideal networks": (0, 1, 2, 3, 4, 6, 8, 10),
    "resting": (3, 5, 9, 10, 14, 16, 19, 900007, 900070, 970002),
    "moving": (0, 4, 5, 12, 820024),
    "copies": (0, 1, 3, 6, 900070),
    "chains": (2, 14, 34, 181, 1117, 970006, 991003, 991007),
    "network runs": (0, 1, 2, 3, 4, 5, 6, 7, 900037, 940020, 1600050),
    "free runs": (0, 1, 2, 3, 6, 7, 60009, 100011, 900035, 910007, 970083),
    "mechanism runs": (0, 1, 8, 900023, 1020027),
    "weak losses": (13, 19, 27, 39, 600007, 930087),
}
"""Seeds of every family that have found defects; the many others are left to the campaign."""
LONG = {"moving": (9,), "network runs": (700017,), "mechanism runs": (4,)}
"""Those that take longest."""
RUN = {"exact": ("right",), "implicit": ("right",), "explicit": ("right", "stiff")}
"""What comes of a right run."""


@pytest.mark.parametrize(
    ("name", "seeds"),
    [*SEEDS.items(), *LONG.items()],
)
def test_random_models_run_right(name: str, seeds: tuple[int, ...]) -> None:
    family = FAMILIES[name]
    for seed in seeds:
        verdict = family.run(family.describe(seed), "exact" if name == "weak losses" else "auto")
        assert verdict.outcome in ("right", "right refusal"), (seed, verdict.why)


@pytest.mark.parametrize(
    ("seed", "method"),
    [(303, "exact"), (303, "explicit"), (307, "exact"), (307, "explicit")],
)
def test_mechanisms_of_four_bodies_run_right(seed: int, method: str) -> None:
    """One slid against the law of a friction, one is decided slowly."""
    verdict = FAMILIES["mechanism runs"].run(random_mechanism(seed, bodies=4), method)
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("method", ["exact", "explicit"])
def test_a_mechanism_whose_gap_sinks_with_its_third_derivative_runs_right(method: str) -> None:
    """Located at the depth where it was seen, the closing of two contacts moved positions, and no mode was consistent."""
    family = FAMILIES["mechanism runs"]
    verdict = family.run(family.describe(100037), method)
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("method", ["exact", "explicit"])
def test_a_mechanism_that_comes_to_rest_beside_a_stop_runs_right(method: str) -> None:
    """A gap of 3e-14 m, zero to the sign test beside offsets of 1.5 m, a jump of a body at 0.5 m: 1024 modes were examined."""
    family = FAMILIES["mechanism runs"]
    verdict = family.run(family.describe(910013), method)
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(("name", "seed"), [("nonlinear mechanisms", 980081), ("nonlinear runs", 970050)])
def test_what_leaves_a_balance_slowly_is_integrated(name: str, seed: int, method: str) -> None:
    """A speed that is zero grew with the third power of time: its error stayed several times its value in every step."""
    family = FAMILIES[name]
    verdict = family.run(family.describe(seed), method)
    assert verdict.outcome == "right", verdict.why


def test_numbers_that_swing_while_they_are_corrected_are_left_alone() -> None:
    """Digits of a mode were corrected for ever: how many are wrong went up and down."""
    family = FAMILIES["free networks"]
    verdict = family.run(family.describe(940034), "auto")
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_integrated_circuits_with_losses_agree_with_their_closed_form(method: str) -> None:
    family = FAMILIES["general path"]
    for seed in (3, 18, 20, 25):
        verdict = family.run(family.describe(seed), method)
        assert verdict.outcome in RUN[method], (seed, verdict.why)


def test_both_paths_agree_on_what_is_small_after_a_short_time() -> None:
    """After 1 ns a capacitor has 2e-8 V, and terms of a closed form that splits the source off 24 V: it does not."""
    (given,) = FAMILIES["general path"].describe(200002)
    found = CASES[given.name]
    program = compile_model(found.build())
    paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
    losses = {p: getattr(given, p.rsplit(".", 1)[1]) for p in paths if p.endswith((".Ron", ".Goff"))}
    run = partial(program.simulate, parameters=losses, **found.options)
    whole, exact = (run(span, method="exact") for span in (found.span, 1e-9))
    answer = run(1e-9, method="explicit", rtol=given.rtol)
    assert max(against(exact, answer, size)[0] for size in (whole, exact)) < given.rtol


def test_losses_are_compared_with_stronger_ones_of_their_kind() -> None:
    """Leakage alone is judged by leakage: a resistance of 1e-5 Ohm in this circuit is refused, whatever leaks."""
    verdict = FAMILIES["weak losses"].run(FAMILIES["weak losses"].describe(100018), "exact")
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize(("Ron", "outcome"), [(1e-7, "right refusal"), (1e-3, "wrong refusal")])
def test_a_loss_that_rounding_drowns_may_be_refused_beside_one_that_matters(Ron: float, outcome: str) -> None:
    """Rounding of rates of 1e13 per second moves what eight capacitors hold by 1e-4, those of 1e9 by 1e-8."""
    given = LossyCircuit("circuit", "multiplier", Ron, 1e-7, 0.0)
    case = CASES[given.name]
    verdict = refused(compile_model(case.build()), case, given, ConsistencyError("as the run says"))
    assert verdict.outcome == outcome, verdict.why


@pytest.mark.parametrize(
    ("name", "seeds", "method"),
    [
        ("nonlinear runs", (0, 2, 5, 7, 910022), "explicit"),
        ("nonlinear runs", (0, 2, 5, 7, 200015), "implicit"),
        ("nonlinear runs", (200015,), "explicit"),
        ("nonlinear runs", (910022,), "implicit"),
        ("nonlinear mechanisms", (0, 1, 5, 910025), "explicit"),
        ("nonlinear mechanisms", (0, 1, 5, 910025), "implicit"),
    ],
)
def test_models_with_nonlinear_parts_run_right(name: str, seeds: tuple[int, ...], method: str) -> None:
    family = FAMILIES[name]
    for seed in seeds:
        verdict = family.run(family.describe(seed), method)
        assert verdict.outcome in RUN[method], (seed, verdict.why)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_an_integrated_state_may_miss_its_absolute_tolerance(method: str) -> None:
    """A capacitor discharged from 1 V to 16 uV follows its derivative to 3e-10 V: 3 % of what the tolerance allows."""
    family = FAMILIES["network runs"]
    verdict = family.run(family.describe(900004), method)
    assert verdict.outcome == "right", verdict.why


@pytest.mark.parametrize("seed", [1020047, 1070193])
def test_what_crosses_zero_does_so_in_what_is_read(seed: int) -> None:
    """Points along steps are led by slopes, by 1e-8 m here; a contact closes where its gap is read as closed."""
    family = FAMILIES["nonlinear mechanisms"]
    verdict = family.run(family.describe(seed), "explicit")
    assert verdict.outcome == "right", verdict


def test_a_small_current_against_a_diode_is_seen_where_a_large_one_has_died_away() -> None:
    """One of 0.16 A followed 4e5 A and went on for 0.5 ms: steps missed as much as a crossing before them had."""
    family = FAMILIES["network runs"]
    verdict = family.run(family.describe(950031), "explicit")
    assert verdict.outcome == "stiff", verdict.why


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("apart", [Fraction(1, 1000), Fraction(5, 2), Fraction(1000)])
def test_a_force_that_vanishes_is_rounding_of_the_positions(apart: Fraction, method: str) -> None:
    """A spring without load, whose force holds a contact, is to be as exact as the places of its ends, not as nothing."""
    parts = [
        Part("M", "M1", "a", GROUND, Fraction(1), (-apart * 3 / 10, Fraction(0))),
        Part("M", "M2", "b", GROUND, Fraction(4), (apart * 7 / 10, Fraction(0))),
        Part("B", "B", "a", GROUND, Fraction(9, 2), Fraction(6)),
        Part("F", "F", GROUND, "a", Fraction(1), Fraction(1)),
        Part("P", "P", "b", GROUND, -apart * 7 / 10),
        Part("A", "A", GROUND, "b", Fraction(4)),
        Part("Q", "Q", "a", "b", Fraction(4), apart),
    ]
    case = line_case(parts, 0.7)
    answer = attempt(case, 1.0, method=method)
    assert isinstance(answer, Result), answer
    assert judged(case, answer, 1e-5).outcome == "right"


@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("m", [Fraction(4), Fraction(3)])
def test_bodies_that_meet_without_momentum_stay_where_friction_just_holds_them(
    m: Fraction, method: str
) -> None:
    """What their impact left, 6e-17 m/s, was zero to the test in its instant and a speed against the friction in the next one."""
    zero = Fraction(0)
    parts = [
        Part("M", "M1", "n1", GROUND, m, (Fraction(-1, 4), zero)),
        Part("B", "B1", "n1", GROUND, Fraction(-5), zero),
        Part("M", "M2", "n2", GROUND, Fraction(2), (Fraction(-1), zero)),
        Part("B", "B2", "n2", GROUND, Fraction(2), zero),
        Part("F", "F1", GROUND, "n1", Fraction(3), Fraction(3)),
        Part("P", "P1", "n2", "n1", Fraction(5, 8)),
    ]
    case = line_case(parts, 0.7)
    answer = attempt(case, 2.0, method=method)
    assert isinstance(answer, Result), answer
    assert judged(case, answer, 1e-9 if method == "exact" else 1e-5).outcome == "right"


@pytest.mark.parametrize("size", [Fraction(1, 1000), Fraction(7, 3), Fraction(1000)])
@pytest.mark.parametrize("speed", [Fraction(1), Fraction(3, 7)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (4, 2, 0, 5, 3, 1), (2, 0, 4, 1, 3, 5)])
def test_a_body_that_is_hit_where_it_touches_a_stop_begins_there(
    order: tuple[int, ...], speed: Fraction, size: Fraction
) -> None:
    """Its place of zero was rounded to 1e-16 m beside speeds that contradict each other, which left it in no mode."""
    zero = Fraction(0)
    parts = [
        Part("M", "M1", "n1", GROUND, Fraction(1, 2), (zero, zero)),
        Part("P", "P1", "n1", GROUND, zero),
        Part("M", "M2", "n2", GROUND, Fraction(1), (size / 2, -speed)),
        Part("P", "P2", "n1", "n2", size / 2),
        Part("M", "M3", "n3", GROUND, Fraction(2), (size * 5 / 4, Fraction(1, 2))),
        Part("F", "F1", "n2", "n3", Fraction(1, 4), Fraction(1, 4)),
    ]
    case = line_case([parts[k] for k in order], 1e-3)
    answer = attempt(case, 2e-3)
    assert isinstance(answer, Result), answer
    assert judged(case, answer).outcome == "right"
    assert answer["M1.s"].at(0.0) == 0.0
    for mass in ("M1", "M2"):
        assert answer[f"{mass}.v"].at(0.0) == pytest.approx(float(-speed) * 2 / 3, rel=1e-12)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("size", [Fraction(1), Fraction(1, 1000)])
def test_a_friction_that_a_drag_turns_with_the_third_power_of_time_turns(size: Fraction, method: str) -> None:
    """Body 1 is pulled with 2 N, held by F1 and F4 with 2.5 N and by F2 with 0.5 N either way: as a tie, until D1 pulls.

    Its drag of 4 v^2 has no slope where it begins. Whole again with F2, they hold 1 N more: v' = 2.5 - 4 v^2 until v = 0.5.
    """
    zero, rest = Fraction(0), []
    for name, at, mass, before, after in [
        ("1", 0, 0.5, 0.5, -2), ("2", -0.5, 4, 0, 0), ("3", -0.75, 1, 2.5, 0.5), ("4", 2, 1, -0.5, -5.5)
    ]:  # fmt: skip
        rest.append(Part("M", f"M{name}", f"n{name}", GROUND, Fraction(mass) * size, (Fraction(at), zero)))
        rest.append(
            Part("B", f"B{name}", f"n{name}", GROUND, Fraction(before) * size, Fraction(after) * size)
        )
    for k, (a, b, level) in enumerate(
        [("n1", "n3", 1.5), ("n2", "n1", 0.5), ("n2", "n3", 3), ("n3", "n1", 1), (GROUND, "n2", 3), (GROUND, "n4", 3)]
    ):  # fmt: skip
        rest.append(Part("F", f"F{k + 1}", a, b, Fraction(level) * size, Fraction(level) * size))
    rest.append(Part("A", "D1", "n1", "n4", 4 * size))
    answer = attempt(line_case(rest, 0.7), 1.0, method=method)
    assert isinstance(answer, Result), answer
    turns = np.log((np.sqrt(2.5) + 1.0) / (np.sqrt(2.5) - 1.0)) / np.sqrt(40.0)
    assert answer.events[-1].t == pytest.approx(0.7 + turns, rel=1e-6)
    assert np.abs(answer["M1.v"].at(np.linspace(0.0, 0.7 + turns, 50))).max() < 1e-9
    assert answer["M1.v"].final < -1e-3


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_current_that_was_large_long_ago_turns_off_in_time(method: str) -> None:
    """Of 7e6 A through 1e-6 Ohm one is left where the diode opens, which was found 7 % late."""
    family = FAMILIES["nonlinear runs"]
    verdict = family.run(family.describe(710000), method)
    assert verdict.outcome in RUN[method], verdict.why


@pytest.mark.parametrize("resistance", [Fraction(1, 10**k) for k in (3, 5, 6, 7)])
def test_a_small_current_beside_large_voltages_is_known_as_well_as_they_are(resistance: Fraction) -> None:
    """A capacitor is discharged through a valve, and a choke beside it has `R C v / L` where the valve opens.

    The judge rounds left limits by the largest of them, which is the voltage of another capacitor.
    """
    network = [
        Element("C", "C", "a", GROUND, Fraction(1), Fraction(9, 2)),
        Element("L", "L", "a", GROUND, Fraction(2), Fraction(0)),
        Element("D", "D", "a", GROUND, None, (resistance, Fraction(0))),
        Element("C", "K", "b", GROUND, Fraction(1), Fraction(7, 2)),
        Element("R", "R", "b", GROUND, Fraction(5)),
    ]
    case = network_case(network, 1.0)
    answer = attempt(case, 200 * float(resistance))
    assert isinstance(answer, Result)
    (opens,) = (float(e.t) for e in answer.events if e.t > 0)
    with mp.workdps(40):
        # C v' + v / R + i = 0 and L i' = v, so that i'' + i' / (R C) + i / (L C) = 0.
        half = mp.mpf(resistance.denominator) / resistance.numerator / 2
        root = mp.sqrt(half**2 - mp.mpf(1) / 2)
        fast, slow = -half - root, -1 / (2 * (half + root))
        t = mp.log(fast / slow) / (slow - fast)
        expected = 2.25 * (mp.exp(slow * t) - mp.exp(fast * t)) / (slow - fast)
    assert opens == pytest.approx(float(t), rel=1e-9)
    assert answer["L.i"].at(opens) == pytest.approx(float(expected), rel=1e-12)
    assert judged(case, answer).outcome == "right"


JUNCTION_WITHOUT_CURRENT = (
    Element("N", "NR1", "n1", GROUND, Fraction(1)),
    Element("J", "JR2", "n2", GROUND, Fraction(4)),
    Element("I", "I1", "n3", "n2", Fraction(-5, 2)),
    Element("R", "R3", "n3", "n2", Fraction(10)),
    Element("V", "V1", "n4s", "n1", Fraction(-5)),
    Element("N", "NR4", "n4", "n4s", Fraction(1, 2)),
    Element("J", "JR5", "n5", "n3", Fraction(1)),
    Element("X", "X1", "n5", "n3", Fraction(-1), ("n5", "n4")),
    Element("X", "X2", "n1", "n2", Fraction(2), ("n5", "n3")),
)
BESIDE = (
    Element("D", "D3", "n3", "n4", None, (Fraction(1, 1000), Fraction(1, 10**6))),
    Element("D", "D5", "n2", GROUND, None),
)
ALONG = (
    Element("R", "R6", "n6", "n4", Fraction(1, 2)),
    Element("Y", "YL1", "n5", "n1", Fraction(1, 4), Fraction(0)),
    Element("T", "T1", "n6", "n3", False),
    Element("C", "C1", "n6", "n5", Fraction(1), Fraction(0)),
    Element("D", "D4", "n2", "n1", None),
)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(
    ("parts", "source"),
    [
        (BESIDE, 1),
        (ALONG, 1),
        (ALONG, Fraction(1, 1000)),
        (ALONG, 100),
    ],
)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_the_voltage_of_a_junction_without_current_is_rounding_of_its_law(
    parts: tuple[Element, ...], source: Fraction, rtol: float, method: str
) -> None:
    """No current flows through the junction to ground: what Newton's method leaves of its voltage holds or leaves a guard."""
    network = [
        e._replace(value=e.value * source) if e.kind in "VI" else e
        for e in (*JUNCTION_WITHOUT_CURRENT, *parts)
    ]
    case = network_case(network, 0.7)
    answer = attempt(case, 1.0, method=method, rtol=rtol)
    assert isinstance(answer, Result), answer
    assert np.abs(answer["JR2.v"].at(np.linspace(0.0, 1.0, 20))).max() < 1e-12
    assert judged(case, answer, max(1e-5, 10 * rtol)).outcome == "right"


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_voltage_that_a_law_gives_as_zero_is_shown_at_few_points(method: str) -> None:
    """What Newton's method leaves of the voltage of a junction was resolved as a signal, at a million points."""
    family = FAMILIES["nonlinear runs"]
    case = network_case(family.describe(970008), family.change)
    answer = attempt(case, family.span, method=method)
    assert isinstance(answer, Result), answer
    assert len(answer.t) < 2000
    assert judged(case, answer, 1e-5).outcome == "right"


@pytest.mark.parametrize("kind", ["V", "I"])
@pytest.mark.parametrize("size", [Fraction(1, 10**6), Fraction(4), Fraction(10**6)])
def test_a_diode_that_a_source_bars_is_told_at_once(
    kind: str, size: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A voltage across it in forward direction, or a current against it, leaves it no branch, whatever other diodes do."""
    network = [
        Element(kind, "E", "a", "b" if kind == "V" else "n", size),
        Element("D", "barred", *("ab" if kind == "V" else "bn")),
        Element("C", "C", "a", GROUND, Fraction(1), Fraction(3)),
    ]
    for k in range(12):
        losses = (Fraction(1, 10**4), Fraction(1, 10**5))
        network.append(Element("D", f"D{k}", "ab"[k % 2], f"m{k}", None, losses))
        network.append(Element("R", f"R{k}", f"m{k}", GROUND, Fraction(k + 1)))
    examined: list[None] = []
    monkeypatch.setattr(SearchStats, "examined", lambda stats: examined.append(None))
    case = network_case(network, 1e-3)
    answer = attempt(case, 2e-3)
    assert isinstance(answer, AcausalError) and "barred" in str(answer)
    assert judged(case, answer).outcome == "right refusal"
    assert len(examined) <= 2


@pytest.mark.parametrize(
    ("turned", "method"),
    [(False, "explicit"), *((True, m) for m in ("exact", "explicit", "implicit"))],
)
def test_a_start_that_its_mode_contradicts_is_no_rounding_of_a_scale(turned: bool, method: str) -> None:
    """A capacitor of -3 V across a diode that conducts began at 0 V, for its scale of 4e9 V in some lengths of the run."""
    parts = FAMILIES["free runs"].describe(970053)
    case = network_case(parts[::-1] if turned else parts, 0.7)
    answer = attempt(case, 0.0005739651405, method=method)
    assert isinstance(answer, Result), answer
    assert answer["C3.v"].at(0.0, side="left") == -3.0
    assert [answer[f"{c}.v"].at(0.0) for c in ("C1", "C3", "C4", "C5")] == pytest.approx(
        [-2.5, 0.0, 2.5, -2.5]
    )
    assert judged(case, answer, 1e-5).outcome == "right"


SHORTED = (
    Element("D", "D1", "n3", "n2", None, (Fraction(1, 10**5), Fraction(1, 10**4))),
    Element("C", "C1", "n2", "n3", Fraction(3), Fraction(-5, 2)),
    Element("C", "C2", GROUND, "n3", Fraction(1), Fraction(4)),
    Element("C", "C3", "n4", GROUND, Fraction(1, 2), Fraction(-3)),
    Element("D", "D3", GROUND, "n3", None, None),
    Element("C", "C4", GROUND, "n1", Fraction(1, 2), Fraction(-5)),
    Element("V", "V1", "n2", "n4", Fraction(-5)),
    Element("I", "I3", "n1", "n3", Fraction(-11, 2)),
    Element("X", "X1", GROUND, "n2", Fraction(3), ("n3", "n1")),
)


@pytest.mark.parametrize("scale", [1, 1000])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_what_follows_from_a_large_state_rounds_as_that_does(scale: int, rtol: float) -> None:
    """Volts that are differences of five leave 1e-16 V at the capacitor that a diode shorts until it turns off."""
    network = [e._replace(value=e.value * scale) if e.kind in "VI" else e for e in SHORTED]
    case = network_case(network, 0.7)
    exact, answer = attempt(case, 1e-3), attempt(case, 1e-3, method="implicit", rtol=rtol)
    assert isinstance(exact, Result)
    assert isinstance(answer, Result), answer
    assert [e.t for e in answer.events] == pytest.approx([e.t for e in exact.events], rel=100.0 * rtol)
