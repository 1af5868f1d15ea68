"""Animations of drawings as GIF or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from .drawing import Drawing, Shape, Signals, positive
from .plotting import two_times
from .scenes import artist_of, limits_of, move, prepare, shapes_of, size_in_inches
from .segments import window

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_FRAMES = 2000
SHORTEST_DELAY = 2
"""Hundredths of a second for which browsers show a frame at least."""
COLORS = 64
FINE = 6
"""Points of a trace per frame."""


def animate(
    result: Signals,
    drawing: Drawing,
    file: Any,
    t: tuple[float, float] | None,
    fps: float,
    speed: float,
) -> None:
    """Write an animation; see `Result.animate`."""
    path, shapes = Path(file), shapes_of(drawing)
    writers = {".gif": _write_gif, ".html": _write_html}
    if path.suffix.lower() not in writers:
        raise ParameterError(
            f"an animation is written as .gif or .html, got {path.name!r}",
            hint='name the file "motion.gif", for example',
        )
    delay = max(SHORTEST_DELAY, round(100.0 / positive(fps, "fps")))
    run = window(*((None, None) if t is None else two_times(t)), result.t_start, result.t_end)
    times = _frame_times(run, delay, positive(speed, "speed"))
    writers[path.suffix.lower()](path, list(_frames(result, shapes, times)), 10 * delay)


def _frame_times(run: tuple[float, float], delay: int, speed: float) -> np.ndarray:
    """Times of the frames, from the begin of the window on."""
    step = 0.01 * delay * speed
    count = int((run[1] - run[0]) / step * (1.0 + 1e-9)) + 1
    if count > MOST_FRAMES:
        raise ParameterError(
            f"the animation would have {count} frames, more than {MOST_FRAMES}",
            hint=f"choose a window `t`, or a `speed` above {speed * count / MOST_FRAMES:.3g}",
        )
    return np.minimum(run[0] + step * np.arange(count), run[1])


def _frames(result: Signals, shapes: Sequence[Shape], times: np.ndarray) -> Iterator[Image]:
    """Draw one picture per time, all with the same limits."""
    fine = np.interp(np.arange(FINE * (len(times) - 1) + 1) / FINE, np.arange(len(times)), times)
    corners = [s.corners(result, fine if s.kind == "trace" else times) for s in shapes]
    stage = _Stage(result, shapes, limits_of(corners))
    digits = max(0, int(np.ceil(-np.log10(times[1] - times[0])))) if len(times) > 1 else 2
    for k, time in enumerate(times):
        first = [int(np.searchsorted(fine, time - s.seconds)) for s in shapes]
        yield stage.picture(
            [
                found[begin : FINE * k + 1, 0] if shape.kind == "trace" else found[k]
                for shape, found, begin in zip(shapes, corners, first, strict=True)
            ],
            f"t = {time:.{digits}f} s",
        )


class _Stage:
    """Axes of which all that does not move is drawn once."""

    def __init__(self, result: Signals, shapes: Sequence[Shape], limits: np.ndarray) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        # Not by pyplot: no window opens, and pixels can be read whatever its backend is.
        figure = Figure(figsize=size_in_inches(limits), layout="constrained")
        self.canvas, self.ax = FigureCanvasAgg(figure), figure.subplots()
        prepare(self.ax, result, shapes, limits)
        self.artists = [artist_of(self.ax, s) for s in shapes]
        self.batch = self.ax.set_title("t", loc="left", fontsize="medium")
        self.canvas.draw()
        figure.set_layout_engine("none")
        for artist in (*self.artists, self.batch):
            artist.set_animated(True)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(figure.bbox)

    def picture(self, corners: Sequence[np.ndarray], batch: str) -> Image:
        """Return the picture of one time."""
        from PIL import Image

        self.canvas.restore_region(self.background)
        for artist, found in zip(self.artists, corners, strict=True):
            move(artist, found)
            self.ax.draw_artist(artist)
        self.batch.set_text(batch)
        self.ax.draw_artist(self.batch)
        pixels = Image.fromarray(np.array(self.canvas.buffer_rgba())).convert("RGB")
        return pixels.quantize(COLORS, method=Image.Quantize.FASTOCTREE)


# -- files ---------------------------------------------------------------------------------------------------------


def _write_gif(path: Path, frames: list[Image], milliseconds: int) -> None:
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0)


def _write_html(path: Path, frames: list[Image], milliseconds: int) -> None:
    """Write a page that needs nothing but itself: the frames as PNG, a button and a slider."""
    import json
    from base64 import b64encode

    pictures = []
    for frame in frames:
        buffer = BytesIO()
        frame.save(buffer, format="png")
        pictures.append("data:image/png;base64," + b64encode(buffer.getvalue()).decode())
    values = {"@frames@": json.dumps(pictures), "@last@": str(len(frames) - 1), "@delay@": str(milliseconds)}
    text = PAGE
    for mark, value in values.items():
        text = text.replace(mark, value)
    path.write_text(text, encoding="utf-8")


PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Animation</title></head>
<body>
<img id="picture" alt="moving picture"><br>
<button id="button">pause</button>
<input id="slider" type="range" min="0" max="@last@" value="0" style="width: 24em">
<script>
const frames = @frames@, delay = @delay@;
const picture = document.getElementById("picture"), button = document.getElementById("button");
const slider = document.getElementById("slider");
let playing = true;
function show() { picture.src = frames[slider.value]; }
function pause(stop) { playing = !stop; button.textContent = stop ? "play" : "pause"; }
button.onclick = () => pause(playing);
slider.oninput = () => { pause(true); show(); };
setInterval(() => { if (playing) { slider.value = (+slider.value + 1) % frames.length; show(); } }, delay);
show();
</script>
</body></html>
"""
