"""Arrays of symbols, which are tuples."""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex

from ..errors import ExpressionError


def _refused(what: str) -> Any:
    """A method for what a tuple does otherwise than an array, or not at all."""

    def method(self: SymbolArray, *_: Any) -> NoReturn:
        raise ExpressionError(
            f"{what} cannot be applied to `{self}`, an array",
            hint="write it for each element: `A[i][j]`, sum(a * b for a, b in zip(p, q, strict=True)), [2 * a for a in p]",
        )

    return method


class SymbolArray(tuple[Any, ...]):
    """The symbols of an array: a tuple, with which nothing can be calculated as a whole."""

    __slots__ = ()

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        if isinstance(key, tuple):
            self._indexed()
        return super().__getitem__(key)

    _indexed = _refused("an index of several dimensions")
    __add__ = __radd__ = _refused("`+`")
    __sub__ = __rsub__ = __neg__ = _refused("`-`")
    __mul__ = __rmul__ = _refused("`*`")
    __truediv__ = __rtruediv__ = _refused("`/`")
    __pow__ = __rpow__ = _refused("`**`")
    __matmul__ = __rmatmul__ = _refused("`@`")
    __lt__ = __le__ = __gt__ = __ge__ = _refused("a comparison")
    __abs__ = _refused("`abs()`")
