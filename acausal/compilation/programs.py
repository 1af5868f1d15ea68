"""CasADi functions as programs that a kernel executes."""

from __future__ import annotations

from contextlib import suppress

import casadi as ca
import numpy as np

from ..kernels import programs as p
from ..kernels.programs import Arithmetic

OPERATIONS = {
    ca.OP_ASSIGN: p.ASSIGN, ca.OP_ADD: p.ADD, ca.OP_SUB: p.SUBTRACT, ca.OP_MUL: p.MULTIPLY, ca.OP_DIV: p.DIVIDE,
    ca.OP_NEG: p.NEGATE, ca.OP_SQ: p.SQUARE, ca.OP_TWICE: p.TWICE, ca.OP_INV: p.INVERT, ca.OP_LT: p.LESS,
    ca.OP_LE: p.LESS_OR_SAME, ca.OP_EQ: p.SAME, ca.OP_NE: p.DIFFERENT, ca.OP_NOT: p.NOT, ca.OP_AND: p.AND, ca.OP_OR: p.OR,
    ca.OP_IF_ELSE_ZERO: p.IF_ELSE_ZERO, ca.OP_FLOOR: p.FLOOR, ca.OP_CEIL: p.CEIL, ca.OP_FABS: p.MAGNITUDE,
    ca.OP_SIGN: p.SIGN, ca.OP_FMIN: p.MINIMUM, ca.OP_FMAX: p.MAXIMUM, ca.OP_SQRT: p.SQUARE_ROOT, ca.OP_EXP: p.EXPONENTIAL,
    ca.OP_LOG: p.LOGARITHM, ca.OP_SIN: p.SINE, ca.OP_COS: p.COSINE, ca.OP_TAN: p.TANGENT, ca.OP_ASIN: p.ARCSINE,
    ca.OP_ACOS: p.ARCCOSINE, ca.OP_ATAN: p.ARCTANGENT, ca.OP_SINH: p.HYPERBOLIC_SINE, ca.OP_COSH: p.HYPERBOLIC_COSINE,
    ca.OP_TANH: p.HYPERBOLIC_TANGENT, ca.OP_ATAN2: p.ANGLE, ca.OP_POW: p.POWER, ca.OP_CONSTPOW: p.POWER,
}  # fmt: skip
"""What kernels can do, by CasADi's names."""


def ends_of(sizes: list[int]) -> np.ndarray:
    """Where arguments or results of these sizes begin behind each other, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def program_of(function: ca.Function) -> Arithmetic | None:
    """The program of a function, its arguments one behind the other, and its results; None where kernels cannot execute it."""
    if not function.is_a("SXFunction"):
        try:
            function = function.expand()
        except RuntimeError:
            return None
    known = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, *OPERATIONS}
    operations = [function.instruction_id(k) for k in range(function.n_instructions())]
    dense = all(function.sparsity_out(k).is_dense() for k in range(function.n_out()))
    if not dense or not known.issuperset(operations):
        return None
    into = ends_of([function.numel_in(k) for k in range(function.n_in())])
    out = ends_of([function.numel_out(k) for k in range(function.n_out())])
    made, work = _Operations(int(into[-1]), int(out[-1])), dict[int, int]()
    for k, op in enumerate(operations):
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_INPUT:
            work[writes[0]] = int(into[reads[0]]) + reads[1]
        elif op == ca.OP_OUTPUT:
            made.results[int(out[writes[0]]) + writes[1]] = work[reads[0]]
        elif op == ca.OP_CONST:
            work[writes[0]] = made.constant(function.instruction_constant(k))
        else:
            work[writes[0]] = made.result(OPERATIONS[op], work[reads[0]], work[reads[-1]])
    return made.program()


class _Operations:
    """Operations with a number for every quantity: those of inputs come first, others as they are made."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.inputs, self.results = inputs, [-1] * outputs
        """Numbers of the outputs."""
        self._values: list[float | None] = [None] * inputs
        """Those of constants."""
        self._code: list[tuple[int, int, int, int]] = []
        self._constants: dict[bytes, int] = {}

    def _number(self, value: float | None) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def constant(self, value: float) -> int:
        """The number of a constant, the same for the same bits."""
        bits = np.float64(value).tobytes()
        if bits not in self._constants:
            self._constants[bits] = self._number(value)
        return self._constants[bits]

    def result(self, what: int, first: int, second: int) -> int:
        """The number of what an operation gives: a constant, if its arguments are."""
        if what == p.ASSIGN:
            return first
        x, y = self._values[first], self._values[second]
        if x is not None and y is not None:
            # What overflows by rounding is left to the kernel.
            with np.errstate(all="ignore"), suppress(OverflowError):
                return self.constant(float(p.applied(what, np.float64(x), np.float64(y))))
        found = self._number(None)
        self._code.append((what, first, second, found))
        return found

    def program(self) -> Arithmetic:
        """The operations that outputs need, which write these where they can."""
        needed = np.zeros(len(self._values), bool)
        needed[self.results] = True
        code = []
        for operation in reversed(self._code):
            if needed[operation[3]]:
                needed[list(operation[1:3])] = True
                code.append(operation)
        begin, place = self.inputs, np.full(len(self._values), -1)
        place[:begin] = np.arange(begin)
        read = {k for operation in code for k in operation[1:3]}
        needed[[k for k, value in enumerate(self._values) if value is not None and k not in read]] = False
        end = begin + len(self.results)
        made = {operation[3] for operation in code}
        numbers, copies = np.zeros(end + np.count_nonzero(needed[begin:])), []
        for k, result in enumerate(self.results, begin):
            value = self._values[result]
            if value is not None:
                numbers[k] = value
            elif result in made and place[result] < 0:
                place[result] = k
            else:
                copies.append((p.ASSIGN, result, result, k))
        for j in (j for j in np.flatnonzero(needed).tolist() if place[j] < 0):
            value, place[j] = self._values[j], end
            numbers[end] = 0.0 if value is None else value
            end += 1
        lines = [(what, place[a], place[b], place[to]) for what, a, b, to in reversed(code)]
        lines += [(what, place[a], place[b], to) for what, a, b, to in copies]
        return _own(np.array(lines, np.int64).reshape(-1, 4), numbers[:end], begin, len(self.results))


def _own(code: np.ndarray, numbers: np.ndarray, inputs: int, outputs: int) -> Arithmetic:
    return Arithmetic(code, numbers, numbers[:inputs], numbers[inputs : inputs + outputs])


def with_own_numbers(program: Arithmetic) -> Arithmetic:
    """The same program, which another run cannot disturb."""
    return _own(program.code, program.numbers.copy(), len(program.inputs), len(program.outputs))
