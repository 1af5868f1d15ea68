"""A result is a mapping from paths to signals, and names what is not a number."""

from __future__ import annotations

import numpy as np
import pytest

from acausal import Component, Eq, Result, UnknownPathError, Variable, der, simulate, sqrt
from tests.results.models import Buck


@pytest.fixture(scope="module")
def buck() -> Result:
    return simulate(Buck(), 2e-5)


def test_keys(buck: Result) -> None:
    assert list(buck) == list(buck.keys()) == buck.paths
    assert len(buck) == len(buck.paths)
    assert "load.v" in buck and "der(capacitor.v)" in buck and "load.R" in buck
    assert "load.w" not in buck and 3 not in buck
    assert buck._ipython_key_completions_() == list(buck)
    path, signal = next(iter(buck.items()))
    assert signal.path == path == next(iter(buck.values())).path
    assert bool(buck) and buck == buck and hash(buck) == hash(buck)


def test_several_names(buck: Result) -> None:
    v, i = buck["load.v", "inductor.i"]
    assert (v.path, i.path) == ("load.v", "inductor.i")
    assert [s.path for s in buck[["load.v", "inductor.i"]]] == ["load.v", "inductor.i"]
    with pytest.raises(UnknownPathError, match=r"load\.v"):
        buck["load.v", "load.w"]


class Root(Component):
    """Falls below zero, where its output equation has no value."""

    x: Variable = Variable(start=1.0, fixed=True)
    y: Variable = Variable()

    def equations(self):
        yield Eq(der(self.x), -1.0)
        yield Eq(self.y, sqrt(self.x))


def test_what_is_not_a_number_is_named() -> None:
    result = simulate(Root(), 2.0)
    assert result["y"].at(0.75) == pytest.approx(0.5)
    with pytest.warns(
        UserWarning, match=r"`y` is not a number at .* first at t = 1\.\d*.*sqrt\(x\).*test_mapping\.py:\d+"
    ):
        values = result["y"].values
    assert np.isnan(values[result.t > 1.0]).all()
    with pytest.warns(UserWarning, match=r"`y` is not a number at 1 point"):
        result["y"].at(1.5)
    assert not result.check(20).ok
