"""Pictures: as many marks as there are incidences, a frame for every block, a node for every component."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, Residual, Statement, compile_model, connect
from acausal.components.blocks import PWM, Constant, Gain, Not
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Resistor,
    SignalVoltage,
)
from acausal.diagnosis.component_graph import component_graph
from acausal.diagnosis.structure import Structure
from tests.diagnosis.models import SliderCrank


@pytest.fixture(autouse=True)
def no_figures_left() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")


class Series(Component):
    """A capacitor charged from a source that follows a signal."""

    def build(self) -> None:
        self.constant, self.gain = Constant(k=2.0), Gain(k=3.0)
        self.source, self.ground = SignalVoltage(), Ground()
        self.load, self.capacitor = Resistor(R=2.0), Capacitor(C=0.5)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.constant.y, self.gain.u)
        yield connect(self.gain.y, self.source.v)
        yield connect(self.source.p, self.load.p)
        yield connect(self.load.n, self.capacitor.p)
        yield connect(self.source.n, self.capacitor.n, self.ground.p)


@pytest.fixture(scope="module")
def structure() -> Structure:
    return compile_model(Series()).structure(reduce=False)


def test_the_picture_has_a_mark_for_every_incidence(structure: Structure) -> None:
    """Counted in the Jacobian of the residual: derivatives and algebraic unknowns are the unknowns."""
    residual = Residual.of(Series())
    expected = residual.F.jac_sparsity(0, 1).nnz() + residual.F.jac_sparsity(0, 3).nnz()
    ax = structure.plot_incidence()
    frames, marks = ax.collections
    assert len(marks.get_offsets()) == expected
    assert len(frames.get_paths()) == len(structure.blocks)


def test_marks_right_of_the_diagonal_lie_in_blocks(structure: Structure) -> None:
    marks = np.asarray(structure.plot_incidence().collections[1].get_offsets())
    assert (marks[:, 0] <= marks[:, 1]).all()  # all blocks are assignments
    assert len(np.unique(marks[marks[:, 0] == marks[:, 1]], axis=0)) == len(structure.blocks)


def test_the_component_graph_holds_connections_and_signals(structure: Structure) -> None:
    graph = component_graph(structure.blocks.system.equations)
    name = graph.components
    assert set(name) == {"constant", "gain", "source", "ground", "load", "capacitor"}
    assert {frozenset(name[c] for c in s) for s in graph.sets} == {
        frozenset({"source", "load"}),
        frozenset({"load", "capacitor"}),
        frozenset({"source", "capacitor", "ground"}),
    }
    assert {(name[a], name[b]) for a, b in graph.signals} == {("constant", "gain"), ("gain", "source")}


def test_components_are_drawn_with_their_names_always_at_the_same_places(structure: Structure) -> None:
    first, second = structure.plot_components(), structure.plot_components()
    labels = {t.get_text(): t.get_position() for t in first.texts}
    assert set(labels) == {"constant", "gain", "source", "ground", "load", "capacitor"}
    assert labels == {t.get_text(): t.get_position() for t in second.texts}


def test_given_axes_are_used(structure: Structure) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert structure.plot_incidence(ax) is ax


def test_a_model_as_solved_is_drawn_with_its_derived_equations() -> None:
    structure = compile_model(Series()).structure()
    frames, marks = structure.plot_incidence().collections
    assert len(frames.get_paths()) == len(structure.blocks)
    assert len(marks.get_offsets()) == len(structure.blocks.system.incidence.col)


class Leg(Component):
    """Two switches and two diodes that feed a load, opened and closed in turn."""

    def build(self) -> None:
        self.source, self.ground, self.load = ConstantVoltage(V=10.0), Ground(), Resistor(R=1.0)
        self.upper, self.lower = IdealClosingSwitch(), IdealClosingSwitch()
        self.over, self.under = IdealDiode(), IdealDiode()
        self.pwm, self.inverse = PWM(frequency=1e3, duty=0.5), Not()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.upper.control, self.inverse.u)
        yield connect(self.inverse.y, self.lower.control)
        yield connect(self.source.p, self.upper.p, self.over.n)
        yield connect(self.upper.n, self.over.p, self.lower.p, self.under.n, self.load.p)
        yield connect(self.source.n, self.lower.n, self.under.p, self.load.n, self.ground.p)


def test_boolean_signals_are_arrows_too() -> None:
    graph = component_graph(compile_model(Leg()).structure().blocks.system.equations)
    name = graph.components
    assert {(name[a], name[b]) for a, b in graph.signals} == {
        ("pwm", "upper"),
        ("pwm", "inverse"),
        ("inverse", "lower"),
    }


def test_a_connection_of_frames_is_one_set() -> None:
    """Three flows pass through a frame."""
    graph = component_graph(compile_model(SliderCrank()).structure().blocks.system.equations)
    assert len({frozenset(s) for s in graph.sets}) == len(graph.sets)


def test_no_name_covers_another() -> None:
    ax = compile_model(Leg()).structure().plot_components()
    ax.figure.canvas.draw()
    boxes = [t.get_bbox_patch().get_window_extent() for t in ax.texts]
    assert len(boxes) == 9
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
