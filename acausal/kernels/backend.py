"""Build backend of the project: that of setuptools, which also compiles the kernels.

numba compiles them and is asked for only where a wheel of it exists, so that no source install breaks; without it, or where it
fails, the package is installed without compiled kernels and runs them interpreted. See PEP 517 and 660 for the hooks.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
COMPILER = "numba>=0.61"
MACHINES = {
    "linux": ("x86_64", "aarch64"),
    "darwin": ("arm64",),
    "win32": ("AMD64",),
}
"""Where wheels of the compiler exist."""
NEWEST = (3, 14)


def _compiler() -> list[str]:
    known = platform.machine() in MACHINES.get(sys.platform, ()) and sys.version_info[:2] <= NEWEST
    return [COMPILER] if known and sys.implementation.name == "cpython" else []


def _compile() -> None:
    if not _compiler():
        return
    # Another process: what is compiled has no part in what builds.
    run = subprocess.run(
        [sys.executable, str(HERE / "build.py")], capture_output=True, text=True, check=False
    )
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:] or ["no reason given"]
        print(f"the kernels are not compiled and will run interpreted: {last[0]}", file=sys.stderr)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Requirements of a wheel."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Requirements of an editable install."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_compiler()]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """A wheel with compiled kernels, for this platform; one without is for any."""
    _compile()
    compiled = any(HERE.glob("compiled-*"))
    before = Distribution.has_ext_modules
    Distribution.has_ext_modules = lambda self: compiled or before(self)
    try:
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    finally:
        Distribution.has_ext_modules = before


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """An editable install with compiled kernels beside their source."""
    _compile()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
