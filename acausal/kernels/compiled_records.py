"""Records as kernels have them when they are compiled: addresses of their parts of a table.

Handed from function to function as the tuples of arrays that they are, they would be hundreds of arguments. What a table says
does not change while a kernel runs, so it is read once. Imported by the build alone, which has numba.
"""

from __future__ import annotations

from typing import Any

from kernels.dialect import NESTED, chosen, width_of_part  # type: ignore[import-not-found]
from llvmlite import ir  # type: ignore[import-not-found]
from numba import types  # type: ignore[import-not-found]
from numba.core.imputils import lower_getattr_generic  # type: ignore[import-not-found]
from numba.core.typing.templates import (  # type: ignore[import-not-found]
    AttributeTemplate,
    infer_getattr,
)
from numba.extending import intrinsic, models, overload, register_model  # type: ignore[import-not-found]
from numba.np.arrayobj import make_array, populate_array  # type: ignore[import-not-found]

WORD = ir.IntType(64)
BYTES = 8
KINDS = {"f": types.float64, "i": types.int64}


class Address(types.Type):  # type: ignore[misc]
    """Type of a record of some class, or of ``many`` of them by number."""

    def __init__(self, record: Any, many: bool) -> None:
        self.record, self.many = record, many
        super().__init__(name=f"{'many ' if many else ''}{record.__name__}")


@register_model(Address)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD)


def _number(builder: Any, address: Any, place: int) -> Any:
    """Load a number of a table."""
    pointer = builder.inttoptr(builder.add(address, WORD(BYTES * place)), WORD.as_pointer())
    found = builder.load(pointer)
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def _part(record: Any, name: str) -> Any:
    """Type of a part of a record."""
    k = record._fields.index(name)
    kind = record.layout.split()[k]
    if kind == NESTED:
        return Address(record.of[k], many=False)
    return types.Array(KINDS[kind[0]], int(kind[1]), "C")


@infer_getattr
class _PartsOfRecords(AttributeTemplate):  # type: ignore[misc]
    key = Address

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return None if kind.many or name not in kind.record._fields else _part(kind.record, name)


@lower_getattr_generic(Address)
def _read_part(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    """An array of a record, or a record in it."""
    k, made = kind.record._fields.index(name), _part(kind.record, name)
    first = sum(width_of_part(kind.record, before) for before in range(k))
    if isinstance(made, Address):
        return builder.add(address, WORD(BYTES * first))
    shape = [_number(builder, address, first + 1 + axis) for axis in range(made.ndim)]
    strides = [WORD(BYTES)]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    pointer = context.get_data_type(made.dtype).as_pointer()
    found = make_array(made)(context, builder)
    populate_array(
        found, data=builder.inttoptr(_number(builder, address, first), pointer), shape=shape, strides=strides,
        itemsize=WORD(BYTES), meminfo=None,
    )  # fmt: skip
    return found._getvalue()


@intrinsic
def _row(context: Any, records: Any, k: Any) -> Any:
    """One of many records."""

    def find(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first, size = (_number(builder, given[0], place) for place in (0, 2))
        return builder.add(first, builder.mul(builder.mul(given[1], size), WORD(BYTES)))

    return Address(records.record, many=False)(records, types.int64), find


@overload(chosen)
def _choose(records, k):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    # The compiler gives the context.
    return (lambda records, k: _row(records, k)) if isinstance(records, Address) else None  # type: ignore[call-arg]


def at(record: Any, many: bool) -> Any:
    """What makes a record, or many of them, of a table and the place in it where they begin."""
    kind = Address(record, many)

    @intrinsic
    def made(context: Any, table: Any, place: Any) -> Any:
        def find(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.add(builder.ptrtoint(given[0], WORD), builder.mul(given[1], WORD(BYTES)))

        return kind(table, types.int64), find

    return made
