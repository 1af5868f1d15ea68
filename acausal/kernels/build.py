"""Compile the kernels, when the package is built: numba makes machine code of them, which needs neither numba nor a compiler.

Run as a script, it compiles those beside it where that has not been done. It imports nothing of the package around it, whose
other requirements a build does not have.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ENTRY = """
def entry(table):
    return function({records})
"""
MANY = 3
"""Numbers of a table that many records take: the address of their own, its rows and their length."""
FAST = 3
"""Level of optimisation."""


STEP_KERNELS = (
    "find_point", "find_changes", "follow_stages", "follow_points", "follow_steps", "follow_quiet_instants",
)  # fmt: skip
"""Kernels that one process compiles while another one compiles all others: both take about as long."""


def compile_kernels() -> Path | None:
    """Compile what is not compiled yet; return the new file, None where there is none to make."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from kernels.identity import DIGEST, compiled  # type: ignore[import-not-found]

    path: Path = compiled()
    if path.with_suffix(DIGEST).exists():
        return None
    for old in path.parent.glob("compiled-*"):
        old.unlink()
    command = [sys.executable, __file__, "steps"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        own = optimised(steps=False)
        steps, _ = other.communicate()
    if other.returncode:
        raise subprocess.CalledProcessError(other.returncode, command)
    return written(machine_code([own, steps]), path)


def optimised(*, steps: bool) -> bytes:
    """Optimised code of the kernels that are steps of integration, or of all others, as LLVM has it in files."""
    import llvmlite.binding as llvm  # type: ignore[import-not-found]
    from kernels import dialect  # type: ignore[import-not-found]
    from numba import njit  # type: ignore[import-not-found]
    from numba.core.codegen import CPUCodeLibrary  # type: ignore[import-not-found]

    # Every kernel would be optimised again with all that call it; here all of them are, once.
    CPUCodeLibrary._optimize_final_module = lambda self: None
    options: Any = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dialect.compiler.append(njit(**options))
    from kernels.entries import ENTRIES  # type: ignore[import-not-found]

    first, *others = [
        compiled_ir(name, entry) for name, entry in ENTRIES.items() if (name in STEP_KERNELS) == steps
    ]
    for other in others:
        first.link_in(other)
    passes = llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=FAST))
    passes.getModulePassManager().run(first, passes)
    return first.as_bitcode()


def compiled_ir(name: str, entry: Any) -> Any:
    """Module of one entry, which takes the address of a table: that of every array, followed by the lengths of its axes."""
    import llvmlite.binding as llvm  # type: ignore[import-not-found]
    from kernels.compiled_records import at  # type: ignore[import-not-found]
    from kernels.dialect import width  # type: ignore[import-not-found]
    from numba import cfunc, types  # type: ignore[import-not-found]

    scope, records, place = {"function": entry.function}, list[str](), 0
    for r, record in enumerate(entry.records):
        many = hasattr(record, "record")
        scope[f"record{r}"] = at(record.record if many else record, many)
        records.append(f"record{r}(table, {place})")
        place += MANY if many else width(record)
    exec(ENTRY.format(records=", ".join(records)), scope)
    found = cfunc(types.int64(types.CPointer(types.int64)), error_model="numpy")(scope["entry"])
    module = llvm.parse_assembly(found.inspect_llvm())
    for each in module.functions:
        if not each.is_declaration and each.name != found.native_name:
            each.linkage = "internal"
    module.get_function(found.native_name).name = f"acausal_{name}"
    return module


def target_machine() -> Any:
    """Any machine of this kind."""
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(opt=FAST, reloc="pic", codemodel="small")


def machine_code(parts: list[bytes]) -> bytes:
    """One object of what was optimised."""
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    machine = target_machine()
    first, *others = map(llvm.parse_bitcode, parts)
    for other in others:
        first.link_in(other)
    return machine.emit_object(first)


def written(code: bytes, path: Path) -> Path:
    """The file of an object, linked to a shared library where there is a linker; its checksum tells that it is complete."""
    from kernels.identity import DIGEST, checksum  # type: ignore[import-not-found]

    made = path.with_suffix(f".{os.getpid()}.o")
    made.write_bytes(code)
    linker, library = shutil.which("cc"), made.with_suffix(".so")
    if linker is not None and sys.platform != "win32":
        command = [linker, "-shared", "-o", str(library), str(made), "-lm"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            made.unlink()
            made = library
    found = path.with_suffix(made.suffix)
    made.replace(found)
    path.with_suffix(DIGEST).write_text(checksum(found), encoding="ascii")
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["steps"]:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        sys.stdout.buffer.write(optimised(steps=True))
    else:
        print(compile_kernels())
