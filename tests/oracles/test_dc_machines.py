import numpy as np

from tests.oracles.dc_machines import ConstantExcitation, separately_excited


def test_the_step_response_satisfies_its_equations():
    case = ConstantExcitation(V=10.0, R=0.5, L=2e-3, k=0.1, J=1e-3, load=0.3)
    t, h = np.linspace(1e-3, 0.4, 50), 1e-6
    w, i = case.speed_and_current(t)
    (w1, i1), (w0, i0) = case.speed_and_current(t + h), case.speed_and_current(t - h)
    np.testing.assert_allclose(case.L * (i1 - i0) / (2 * h), 10.0 - 0.5 * i - 0.1 * w, atol=1e-6)
    np.testing.assert_allclose(case.J * (w1 - w0) / (2 * h), 0.1 * i - 0.3, atol=1e-6)
    start_w, start_i = case.speed_and_current(0.0)
    np.testing.assert_allclose([start_w[0], start_i[0]], 0.0, atol=1e-12)


def test_with_an_excitation_that_is_there_at_once_the_machines_agree():
    t = np.linspace(0.1, 1.0, 10)
    ia, _, w = separately_excited(100.0, 100.0, 0.05, 1.5e-3, 100.0, 1e-3, 0.6, 0.15, 0.0, t)
    exact = ConstantExcitation(V=100.0, R=0.05, L=1.5e-3, k=0.6, J=0.15).speed_and_current(t)
    np.testing.assert_allclose(w, exact[0], rtol=1e-4)
    np.testing.assert_allclose(ia, exact[1], atol=1e-2 * np.abs(exact[1]).max())
