import mpmath
import numpy as np
from scipy.linalg import expm

from tests.oracles.motor_drive import MotorDrive
from tests.oracles.piecewise import MpAffineFlow

CASE = MotorDrive()


def test_doubles_suffice():
    with mpmath.workdps(30):
        exact = CASE.starts(100, MpAffineFlow)[-1].astype(float)
    np.testing.assert_allclose(CASE.starts(100)[-1], exact, rtol=1e-13)


def test_states_are_those_of_matrix_exponentials():
    A = np.array([[-CASE.R / CASE.L, -CASE.K / CASE.L, 0], [CASE.K / CASE.J, -CASE.b / CASE.J, 0], [0, 0, 0]])
    plus, minus = A.copy(), A.copy()
    plus[0, 2], minus[0, 2] = CASE.V / CASE.L, -CASE.V / CASE.L
    z = expm(plus * 20e-6) @ expm(minus * 12.5e-6) @ expm(plus * 37.5e-6) @ [0, 0, 1]
    np.testing.assert_allclose(CASE.states(np.array([70e-6]))[0], z[:2], rtol=1e-12)
    z = expm(minus * 5e-6) @ expm(plus * 17.5e-6) @ z
    np.testing.assert_allclose(CASE.states(np.array([92.5e-6]))[0], z[:2], rtol=1e-12)
