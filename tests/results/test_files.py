"""Tables, saved results, summaries and pictures."""

import csv
import io
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from acausal import ParameterError, Result, UnknownPathError, simulate
from tests.results.models import Buck, Discharge


@pytest.fixture(scope="module")
def buck() -> Result:
    return simulate(Buck(), 1e-4)


# -- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_on_a_grid_has_right_limits(buck: Result) -> None:
    table = buck.table(["load.v", "diode.on"], grid=1e-5)
    np.testing.assert_allclose(table["time"], np.arange(11) * 1e-5, rtol=1e-15)
    np.testing.assert_array_equal(table["load.v"], buck["load.v"].at(table["time"]))
    assert not table["diode.on"].any()


def test_comma_separated_values_keep_all_digits(buck: Result, tmp_path: Path) -> None:
    file = tmp_path / "buck.csv"
    buck.to_csv(file, ["load.v", "diode.on"])
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["time [s]", "load.v [V]", "diode.on"]
    np.testing.assert_array_equal(np.array([r[1] for r in rows[1:]], float), buck["load.v"].values)
    assert {r[2] for r in rows[1:]} == {"0", "1"}
    stream = io.StringIO()
    buck.to_csv(stream, ["load.v"], grid=5e-5)
    assert len(stream.getvalue().splitlines()) == 4


def test_data_frames_need_pandas(buck: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        buck.to_pandas()


def test_data_frames(buck: Result) -> None:
    pytest.importorskip("pandas")
    frame = buck.to_pandas(["load.v"])
    assert frame.index.name == "time"
    assert frame["load.v"].iloc[-1] == buck["load.v"].final


def test_the_summary_lists_the_states(buck: Result) -> None:
    html = buck._repr_html_()
    assert "capacitor.v" in html
    assert "<script" not in html


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_saved_result_reads_the_same(buck: Result, tmp_path: Path) -> None:
    file = tmp_path / "buck.npz"
    buck.save(file)
    loaded = Result.load(file)
    for path in ("load.v", "inductor.i", "diode.on", "pwm.y"):
        np.testing.assert_array_equal(loaded[path].values, buck[path].values)
        assert loaded[path].values.dtype == buck[path].values.dtype
        assert loaded[path].unit == buck[path].unit
    t = np.random.default_rng(2).uniform(0, 1e-4, 500)
    np.testing.assert_allclose(
        loaded["inductor.i"].at(t), buck["inductor.i"].at(t), atol=1e-3 * np.ptp(buck["inductor.i"])
    )
    np.testing.assert_array_equal(loaded["diode.on"].at(t), buck["diode.on"].at(t))
    for side in ("left", "right"):
        np.testing.assert_array_equal(
            loaded["diode.i"].at(buck.events.times, side), buck["diode.i"].at(buck.events.times, side)
        )
    assert loaded["load.v"].mean() == pytest.approx(buck["load.v"].mean(), rel=1e-3)
    assert loaded["load.v"].rms() == pytest.approx(buck["load.v"].rms(), rel=1e-3)
    assert loaded["diode.on"].mean() == pytest.approx(buck["diode.on"].mean(), rel=1e-9)
    assert list(loaded.events) == list(buck.events)
    assert list(loaded.modes) == list(buck.modes)
    assert (loaded.status, loaded.stats, loaded.initial) == (buck.status, buck.stats, buck.initial)
    assert loaded.final == buck.final
    assert loaded["load.v"].final == buck["load.v"].final


def test_a_saved_selection_knows_no_other_paths(tmp_path: Path) -> None:
    file = tmp_path / "d.npz"
    model = Discharge()
    simulate(model, 1e-3).save(file, [model.capacitor.v, "der(capacitor.v)"])
    loaded = Result.load(file)
    assert loaded.paths == ["capacitor.v", "der(capacitor.v)"]
    with pytest.raises(UnknownPathError, match=r"not in the file(.|\n)*capacitor\.v"):
        loaded["capacitor.i"]
    with pytest.raises(UnknownPathError, match="not handles"):
        loaded[model.capacitor.v]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04broken"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.npz"
    file.write_bytes(content)
    with pytest.raises(ParameterError, match="no saved result"):
        Result.load(file)


def test_pickled_objects_in_a_file_are_not_run(tmp_path: Path) -> None:
    file = tmp_path / "evil.npz"
    np.savez(file, about=np.array([print], dtype=object), t=np.zeros(1))
    with pytest.raises(ParameterError, match="no saved result"):
        Result.load(file)


# -- pictures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def pyplot() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib.pyplot as plt
    yield plt
    plt.close("all")


def test_one_axis_per_unit(buck: Result, pyplot: object) -> None:
    figure = buck.plot("load.v", "source.v", "inductor.i", "diode.on")
    assert [
        len([line for line in ax.lines if not line.get_label().startswith("_")]) for ax in figure.axes
    ] == [2, 1, 1]
    assert figure.axes[0].get_ylabel() == "[V]"
    assert figure.axes[1].get_ylabel() == "inductor.i [A]"
    assert figure.axes[-1].get_xlabel() == "time [us]"
    assert figure.axes[-1].get_xlim() == pytest.approx((0.0, 100.0))


def test_lists_are_panels(buck: Result, pyplot: object) -> None:
    figure = buck.plot(["load.v", "inductor.i"], "load.v", [buck["source.v"], "load.v"])
    assert [ax.get_ylabel() for ax in figure.axes] == ["", "load.v [V]", "[V]"]
    legends = [ax.get_legend() for ax in figure.axes]
    texts = [[text.get_text() for text in legend.get_texts()] if legend else [] for legend in legends]
    assert texts == [["load.v [V]", "inductor.i [A]"], [], ["source.v", "load.v"]]
    with pytest.raises(ParameterError, match="panel of the plot is empty"):
        buck.plot("load.v", [])


def test_events_are_marked(buck: Result, pyplot: object) -> None:
    figure = buck.plot("load.v", t=(0.0, 1.5e-5))
    assert len(figure.axes[0].lines) == 1 + 3
    assert figure.axes[0].get_xlim() == pytest.approx((0.0, 15.0))


def test_the_vertical_axis_fits_the_window(buck: Result, pyplot: object) -> None:
    a, b = 3.05e-5, 3.35e-5
    shown = buck.plot("inductor.i", t=(a, b)).axes[0].lines[0]
    np.testing.assert_array_equal(shown.get_xdata()[[0, -1]], np.array([a, b]) / 1e-6)
    # Between two edges the current of the inductor is monotone: its extremes are at the ends.
    ends = buck["inductor.i"].at([a, b])
    assert (shown.get_ydata().min(), shown.get_ydata().max()) == pytest.approx((ends.min(), ends.max()))


def test_a_narrow_window_is_drawn_smoothly(buck: Result, pyplot: object) -> None:
    """Straight lines between the points miss the ripple by a thousandth of it, not of the whole run."""
    a, b = 9e-5, 1e-4
    shown = buck.plot("load.v", t=(a, b)).axes[0].lines[0]
    t = np.linspace(a, b, 3001)
    drawn, exact = np.interp(t, shown.get_xdata() * 1e-6, shown.get_ydata()), buck["load.v"].at(t)
    np.testing.assert_allclose(drawn, exact, rtol=0, atol=1e-3 * np.ptp(exact))


def test_a_plot_without_names_shows_the_states(buck: Result, pyplot: object) -> None:
    labels = [ax.get_ylabel() for ax in buck.plot().axes]
    assert labels == ["inductor.i [A]", "capacitor.v [V]"]
    assert len(buck["load.v"].plot().axes) == 1


@pytest.mark.parametrize("where", ["", "none/run", "file/run"])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    path = f"{tmp_path}/{where}"
    with pytest.raises(OSError, match="irectory") as caught:
        simulate(Discharge(), 1e-3).save(path)
    assert caught.value.filename == path and caught.value.filename2 is None
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
