"""Drawings that move: what is where, and what files hold."""

import json
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import (
    AcausalError,
    Component,
    Drawing,
    Eq,
    Parameter,
    ParameterError,
    Port,
    Result,
    Variable,
    der,
    simulate,
)
from acausal.results.drawing import Shape

TURN = 2 * np.pi


class Place(Port):
    """A place in the plane."""

    x: Variable = Variable(unit="m")
    y: Variable = Variable(unit="m")


class Circling(Component):
    """A point on the unit circle: ``x = cos(t)``, ``y = sin(t)``."""

    tip = Place()
    w: Parameter = Parameter(default=1.0, unit="rad/s")
    x: Variable = Variable(unit="m", start=1.0)
    y: Variable = Variable(unit="m")

    def equations(self):
        yield Eq(der(self.x), -self.w * self.y)
        yield Eq(der(self.y), self.w * self.x)
        yield Eq(self.tip.x, self.x)
        yield Eq(self.tip.y, self.y)


MODEL = Circling()


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(MODEL, TURN)


def corners(result: Result, drawing: Drawing, times: Any) -> np.ndarray:
    """Corners of the last shape."""
    return drawing.shapes[-1].corners(result, np.atleast_1d(np.asarray(times, float)))


# -- shapes ----------------------------------------------------------------------------------------------------------

POINTS = {
    "path": "tip",
    "port": MODEL.tip,
    "paths": ("x", "y"),
    "handles": (MODEL.x, MODEL.tip.y),
    "function": (np.cos, np.sin),
}


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_a_point_is_given_in_many_ways(result: Result, point: Any) -> None:
    t = np.linspace(0, TURN, 7)
    exact = np.stack([np.cos(t), np.sin(t)], axis=1)
    np.testing.assert_allclose(corners(result, Drawing().dot(point), t)[:, 0], exact, atol=1e-12)


def test_a_coordinate_is_a_number_or_a_signal(result: Result) -> None:
    found = corners(result, Drawing().dot((2, 3.0 * result["y"])), [TURN / 4])
    np.testing.assert_allclose(found[0, 0], [2.0, 3.0], atol=1e-12)


def test_lines_join_points_in_order(result: Result) -> None:
    open_line = corners(result, Drawing().line((0, 0), "tip", (0, 1)), 0.0)[0]
    np.testing.assert_allclose(open_line, [[0, 0], [1, 0], [0, 1]], atol=1e-12)
    closed = corners(result, Drawing().line((0, 0), "tip", (0, 1), closed=True), 0.0)[0]
    np.testing.assert_allclose(closed, [[0, 0], [1, 0], [0, 1], [0, 0]], atol=1e-12)


def test_a_box_turns_with_its_angle(result: Result) -> None:
    found = corners(result, Drawing().box("tip", 0.4, 0.2, angle=np.pi / 2), 0.0)[0]
    np.testing.assert_allclose(found, [[1.1, -0.2], [1.1, 0.2], [0.9, 0.2], [0.9, -0.2]], atol=1e-12)


def test_a_circle_shows_how_it_turns_by_a_spoke(result: Result) -> None:
    drawing = Drawing().circle((3.0, 0.0), 0.5, angle=lambda t: 2 * t)
    rim = drawing.shapes[0].corners(result, np.array([1.0]))[0]
    np.testing.assert_allclose(np.hypot(rim[:, 0] - 3.0, rim[:, 1]), 0.5, rtol=1e-12)
    np.testing.assert_allclose(
        corners(result, drawing, 1.0)[0], [[3, 0], [3 + 0.5 * np.cos(2), 0.5 * np.sin(2)]], rtol=1e-12
    )
    assert len(Drawing().circle((0, 0), 1.0).shapes) == 1


def test_a_spring_joins_two_points_within_its_radius(result: Result) -> None:
    found = corners(result, Drawing().spring((0, 0), "tip", radius=0.1, coils=4), 0.0)[0]
    np.testing.assert_allclose(found[[0, -1]], [[0, 0], [1, 0]], atol=1e-12)
    assert sorted(set(np.round(found[:, 1], 12))) == [-0.1, 0.0, 0.1]
    assert (np.diff(found[:, 0]) > 0).all()
    assert np.count_nonzero(np.abs(found[:, 1]) > 0.05) == 8


def test_a_spring_without_length_is_a_stroke(result: Result) -> None:
    assert np.isfinite(corners(result, Drawing().spring("tip", "tip", radius=0.1), 0.0)).all()


# -- stroboscopic pictures -------------------------------------------------------------------------------------------


def test_a_strobe_shows_positions_and_the_whole_trace(result: Result) -> None:
    import matplotlib.pyplot as plt

    drawing = Drawing().trace("tip").line((0, 0), "tip")
    ax = result.strobe(drawing, 5).axes[0]
    trace, *lines = ax.lines
    assert np.hypot(*trace.get_data()) == pytest.approx(np.ones(600), abs=1e-12)
    ends = np.array([np.array(line.get_data())[:, 1] for line in lines])
    np.testing.assert_allclose(ends, [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], atol=1e-12)
    opacities = [float(line.get_alpha() or 0) for line in lines]
    assert opacities == sorted(opacities) and opacities[-1] == 1.0
    assert ax.get_xlim() == pytest.approx((-1.12, 1.12), abs=1e-5)
    assert (ax.get_aspect(), ax.get_xlabel(), ax.get_ylabel()) == (1.0, "x [m]", "y [m]")
    plt.close("all")


def test_a_strobe_at_given_times_on_given_axes(result: Result) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    assert result.strobe(Drawing().dot((np.cos, np.sin)), [TURN / 4], ax=axes[1]) is figure
    assert (len(axes[0].lines), len(axes[1].lines)) == (0, 1)
    np.testing.assert_allclose(axes[1].lines[0].get_data(), [[0.0], [1.0]], atol=1e-12)
    assert axes[1].get_xlabel() == ""
    plt.close("all")


def test_flat_motion_has_a_picture_with_height(result: Result) -> None:
    import matplotlib.pyplot as plt

    ax = result.strobe(Drawing().dot(("x", 0))).axes[0]
    assert np.ptp(ax.get_ylim()) > 0.2 * np.ptp(ax.get_xlim())
    ax = result.strobe(Drawing().dot((4.0, 2.0))).axes[0]
    assert np.mean(ax.get_xlim()) == pytest.approx(4.0) and np.ptp(ax.get_xlim()) > 0
    plt.close("all")


# -- animations ------------------------------------------------------------------------------------------------------


def frames_of(file: Path) -> tuple[list[Any], list[int]]:
    """Pictures in red, green and blue, and milliseconds of an animation."""
    from PIL import Image, ImageSequence

    with Image.open(file) as image:
        found = [(f.convert("RGB"), f.info["duration"]) for f in ImageSequence.Iterator(image)]
    return [f for f, _ in found], [d for _, d in found]


def centre_of_red(frame: Any) -> np.ndarray:
    """Mean position of the red pixels, from the lower left."""
    pixels = np.asarray(frame).astype(int)
    rows, columns = np.nonzero((pixels[..., 0] > 200) & (pixels[..., 1:] < 60).all(axis=2))
    return np.array([columns.mean(), -rows.mean()])


def test_a_gif_holds_one_frame_per_step_and_the_point_is_where_it_belongs(
    result: Result, tmp_path: Path
) -> None:
    import matplotlib.pyplot as plt

    drawing = Drawing().line((-1, -1), (1, -1), (1, 1), (-1, 1), closed=True).dot("tip", color="red", size=12)
    result.animate(drawing, tmp_path / "circle.gif", fps=25, speed=TURN / 1.6)
    assert plt.get_fignums() == []
    frames, durations = frames_of(tmp_path / "circle.gif")
    assert durations == [40] * 41
    assert {f.size for f in frames} == {(580, 580)}
    right, up, left, down = (centre_of_red(frames[k]) for k in (0, 10, 20, 30))
    radius = (right - left)[0] / 2
    middle = (right + left) / 2
    assert radius > 150
    np.testing.assert_allclose(up - middle, [0, radius], atol=1.0)
    np.testing.assert_allclose(down - middle, [0, -radius], atol=1.0)
    np.testing.assert_allclose(
        centre_of_red(frames[5]) - middle, np.array([radius, radius]) / np.sqrt(2), atol=1.0
    )


def test_a_page_holds_the_frames_itself(result: Result, tmp_path: Path) -> None:
    from PIL import Image

    file = tmp_path / "circle.html"
    result.animate(Drawing().dot("tip", color="red", size=12), file, t=(1.0, 2.0), fps=10)
    text = file.read_text(encoding="utf-8")
    match = re.search(r"const frames = (\[.*?\]), delay = (\d+);", text)
    assert match is not None and match[2] == "100"
    pictures = [
        Image.open(BytesIO(b64decode(s.partition(",")[2]))).convert("RGB") for s in json.loads(match[1])
    ]
    assert len(pictures) == 11 and len({p.size for p in pictures}) == 1
    assert 'max="10"' in text and "http" not in text
    assert centre_of_red(pictures[0])[0] > centre_of_red(pictures[-1])[0]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("suffix", [".gif", ".html"])
def test_the_same_run_gives_the_same_bytes(result: Result, tmp_path: Path, suffix: str) -> None:
    drawing = Drawing().trace("tip").dot("tip")
    files = [tmp_path / f"{k}{suffix}" for k in (1, 2)]
    for file in files:
        result.animate(drawing, file, fps=5)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_trace_lasts_as_long_as_it_is_told(result: Result, tmp_path: Path) -> None:
    """Red pixels of a full circle grow in number; those of a short trace stay about as many."""
    counts = []
    for seconds in (None, 1.0):
        drawing = Drawing().trace("tip", color="red", width=6, seconds=seconds)
        result.animate(drawing, tmp_path / "trace.gif", fps=10, speed=TURN)
        frames, _ = frames_of(tmp_path / "trace.gif")
        reds = [(np.abs(np.asarray(f).astype(int) - [255, 0, 0]) < 60).all(axis=2).sum() for f in frames]
        counts.append(reds)
    whole, short = counts
    assert whole[8] == pytest.approx(2 * whole[4], rel=0.1)
    assert short[8] == pytest.approx(short[4], rel=0.2)
    assert short[8] == pytest.approx(whole[8] / (0.8 * TURN), rel=0.2)


def test_a_loaded_result_moves_too(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run.npz")
    loaded = Result.load(tmp_path / "run.npz")
    loaded.animate(Drawing().dot("tip"), tmp_path / "loaded.gif", fps=5)
    assert len(frames_of(tmp_path / "loaded.gif")[0]) == 32


# -- bad input -------------------------------------------------------------------------------------------------------

BAD = {
    "no shapes": (lambda r, f: r.animate(Drawing(), f), "the drawing is empty"),
    "no drawing": (lambda r, f: r.animate(["tip"], f), "is no drawing"),
    "another ending": (lambda r, f: r.animate(Drawing().dot("tip"), f.with_suffix(".mp4")), ".gif or .html"),
    "frames per second": (lambda r, f: r.animate(Drawing().dot("tip"), f, fps=0), "`fps` is a positive"),
    "speed": (lambda r, f: r.animate(Drawing().dot("tip"), f, speed=-1.0), "`speed` is a positive"),
    "speed that is no number": (lambda r, f: r.animate(Drawing().dot("tip"), f, speed="fast"), "'fast'"),
    "too many frames": (lambda r, f: r.animate(Drawing().dot("tip"), f, speed=1e-4), "more than 2000"),
    "window": (lambda r, f: r.animate(Drawing().dot("tip"), f, t=(5.0, 9.0)), "must lie within the run"),
    "unknown path": (lambda r, f: r.animate(Drawing().dot("top"), f), "top.x"),
    "no point": (lambda r, f: r.animate(Drawing().dot(3.0), f), "is no point"),
    "three coordinates": (lambda r, f: Drawing().dot((1, 2, 3)), "a point is a pair"),
    "one point": (lambda r, f: Drawing().line("tip"), "at least two points"),
    "size": (lambda r, f: Drawing().box("tip", 0.0, 1.0), "`width` is a positive"),
    "function": (lambda r, f: r.strobe(Drawing().dot((lambda t: t[:1], 0))), "one value per time"),
    "not finite": (lambda r, f: r.strobe(Drawing().dot((lambda t: t * np.nan, 0))), "is not finite at t = 0"),
    "no positions": (lambda r, f: r.strobe(Drawing().dot("tip"), 0), "at least one position"),
    "positions": (lambda r, f: r.strobe(Drawing().dot("tip"), "all"), "list of times"),
    "colour": (lambda r, f: r.animate(Drawing().dot("tip", color="bleu"), f), "cannot be drawn: 'bleu'"),
    "filling": (lambda r, f: r.strobe(Drawing().box("tip", 1, 1, color="bleu")), "cannot be drawn"),
    "width": (lambda r, f: r.strobe(Drawing().line("tip", (0, 0), width="thick")), "cannot be drawn"),
    "marker": (lambda r, f: r.strobe(Drawing().line("tip", (0, 0), marker="?")), "cannot be drawn"),
    "position outside": (lambda r, f: r.strobe(Drawing().dot("tip"), [7.0]), "is known from 0"),
}


@pytest.mark.parametrize("call, text", BAD.values(), ids=BAD)
def test_bad_input_is_an_error_and_leaves_no_file(
    result: Result, tmp_path: Path, call: Any, text: str
) -> None:
    with pytest.raises(AcausalError, match=re.escape(text)):
        call(result, tmp_path / "motion.gif")
    assert list(tmp_path.iterdir()) == []


def test_too_many_frames_come_with_a_speed_that_fits(result: Result, tmp_path: Path) -> None:
    drawing = Drawing().dot((0.0, 0.0))
    with pytest.raises(ParameterError) as caught:
        result.animate(drawing, tmp_path / "slow.gif", speed=1e-4)
    match = re.search(r"above ([\d.e-]+)", str(caught.value))
    assert match is not None
    assert float(match[1]) == pytest.approx(TURN / 0.04 / 2000, rel=0.01)


def test_shapes_are_values() -> None:
    assert all(isinstance(s, Shape) for s in Drawing().line((0, 0), (1, 1)).box((0, 0), 1, 1).shapes)
