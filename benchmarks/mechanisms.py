"""How long do mechanisms with dry friction, constraints and sampled controllers take, and how exact are they?"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import Row, external_error, finish, median
from machines import Arm, CartesianPendulum, Links, SixBar, StickSlip

from acausal import Component, Program, compile_model

ANGLE = np.pi / 4.0


def timed(program: Program, t_end: float, repeat: int = 5, **options: Any) -> tuple[float, Any]:
    """Median time of a warm run, and its result."""
    result = program.simulate(t_end, **options)
    return median(lambda: program.simulate(t_end, **options), repeat), result


def belt() -> list[Row]:
    """Stick-slip in closed form and in steps."""
    program, rows = compile_model(StickSlip()), []
    for name, options, allowed in (
        ("closed form", {}, 1e-6),
        ("steps, rtol 1e-6", {"method": "explicit"}, 1e-4),
    ):
        figure, result = timed(program, 100.0, **options)
        error = external_error("B6", result["mass.s"])
        rows.append(
            Row(f"stick-slip 100 s, 98 events, {name}", figure, error=error, allowed=error and allowed)
        )
    return rows


def pendulum(name: str, case: str, model: Component, rtol: float) -> Row:
    """A pendulum of index 3 with a global error of about 1e-6."""
    figure, result = timed(compile_model(model), 10.0, rtol=rtol)
    times = result.t
    drift = float(np.abs(result["x"].at(times) ** 2 + result["y"].at(times) ** 2 - 1.0).max())
    error = external_error(case, result["x"], result["y"])
    question = f"pendulum, index 3, 10 s, {name}, rtol {rtol:g}"
    return Row(question, figure, error=error, allowed=error and 1e-6, note=f"drift {drift:.0e}")


def arm() -> Row:
    """A robot arm for a second."""
    program = compile_model(Arm())
    tight = program.simulate(1.0, rtol=1e-9)
    figure, result = timed(program, 1.0, 3)
    names = ("joints[0].phi", "joints[1].phi")
    error = max(abs(float(result[name].final) / float(tight[name].final) - 1.0) for name in names)
    note = f"{figure * 1e3:.0f} us a sample; error against rtol 1e-9"
    return Row(
        "arm of two links, friction, control at 1 kHz, 1 s", figure, error=error, allowed=1e-5, note=note
    )


def links() -> Row:
    """A chain that falls: its energy stays what it is."""
    program, count = compile_model(Links()), 30
    start = {"joints[0].phi": 0.3}
    figure, result = timed(program, 5.0, 1, initial=start)

    def energy(t: float) -> float:
        total = 0.0
        for k in range(count):
            v2 = sum(float(result[f"bodies[{k}].{v}"].at(t)) ** 2 for v in ("vx", "vy"))
            total += 0.5 * v2 + 0.05 * float(result[f"bodies[{k}].w"].at(t)) ** 2
            total += 9.80665 * float(result[f"bodies[{k}].frame_a.y"].at(t))
        return total

    scale = 9.80665 * count * (count + 1) / 2.0
    error = abs(energy(5.0) - energy(0.0)) / scale
    return Row(
        "chain of 30 links, 5 s, rtol 1e-6", figure, error=error, allowed=1e-4, note="error of the energy"
    )


def six_bar() -> Row:
    """A driven mechanism that bounces on its stop until it rests there."""
    program = compile_model(SixBar())
    tight = [event.t for event in program.simulate(1.2, rtol=1e-9, initial=SixBar.START).events]
    figure, result = timed(program, 1.2, 3, initial=SixBar.START)
    found = [event.t for event in result.events]
    error = float(np.abs(np.subtract(found[:6], tight[:6])).max()) / 1.2
    note = f"{len(found) - 1} impacts, with all that it takes to rest; error of the first five"
    return Row("six-bar with motor and stop, 1.2 s", figure, error=error, allowed=1e-5, note=note)


def main() -> None:
    """Measure all."""
    swing = CartesianPendulum(x=np.sin(ANGLE), y=-np.cos(ANGLE))
    turns = CartesianPendulum(x=1.0, y=0.0, vx=0.0, vy=-5.0)
    finish(
        [
            *belt(),
            pendulum("swinging", "B7a", swing, 5e-7),
            pendulum("turning", "B7b", turns, 5e-9),
            arm(),
            six_bar(),
            links(),
        ]
    )


if __name__ == "__main__":
    main()
