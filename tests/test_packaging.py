"""What is installed: the package list, the wheel built from the sdist, and the cost of the import."""

import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]

BUILD = "import sys; sys.path.insert(0, 'acausal/kernels'); import backend; getattr(backend, sys.argv[1])(sys.argv[2])"
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path[:0] = sys.argv[1:]
import acausal.components as library
names = [m.name for m in pkgutil.walk_packages(library.__path__, "acausal.components.", onerror=print)]
for name in ["acausal.components", *names]:
    print(name, importlib.import_module(name).__file__, sep="\\t")
"""


def packages_on_disk() -> set[str]:
    """Dotted names of all folders with Python modules, as they are installed."""
    folders = {
        path.parent.relative_to(ROOT).parts
        for top in ("acausal", "components")
        for path in (ROOT / top).rglob("*.py")
    }
    return {".".join(("acausal", *parts) if parts[0] == "components" else parts) for parts in folders}


def library_modules() -> set[str]:
    """Dotted names of all modules of the component library."""
    files = [path.relative_to(ROOT).with_suffix("").parts for path in (ROOT / "components").rglob("*.py")]
    return {".".join(("acausal", *parts)).removesuffix(".__init__") for parts in files}


def test_the_package_list_equals_the_folders_on_disk() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(packages_on_disk())


def test_every_package_folder_has_an_init() -> None:
    folders = {path.parent for top in ("acausal", "components") for path in (ROOT / top).rglob("*.py")}
    bare = [folder.relative_to(ROOT) for folder in folders if not (folder / "__init__.py").is_file()]
    assert sorted(map(str, bare)) == []


def test_component_packages_are_mapped_to_their_folders() -> None:
    library = [name for name in SETUPTOOLS["packages"] if name.startswith("acausal.components")]
    folders = {name: name.removeprefix("acausal.").replace(".", "/") for name in library}
    assert SETUPTOOLS["package-dir"] == {"acausal": "acausal", **folders}


def test_no_package_outside_acausal_is_installed() -> None:
    assert [name for name in SETUPTOOLS["packages"] if name.split(".")[0] != "acausal"] == []


def test_the_type_checker_finds_every_package_under_its_installed_name() -> None:
    links = sorted((ROOT / "typings" / "acausal").iterdir())
    modules = [path.name for path in (ROOT / "acausal").glob("*.py")]
    packages = [path.parent.name for path in (ROOT / "acausal").glob("*/*.py")]
    assert [link.name for link in links] == sorted({*modules, *packages, "components"})
    assert [link.name for link in links if not link.exists()] == []


def test_importing_the_package_loads_casadi_and_numpy_only() -> None:
    heavy = {"scipy", "networkx", "matplotlib", "llvmlite", "numba"}
    code = f"import acausal, sys; print(*sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def copy_of_the_project(target: Path) -> Path:
    for name in ("acausal", "components"):
        copytree(ROOT / name, target / name, ignore=ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "MANIFEST.in"):
        copy(ROOT / name, target / name)
    return target


def build(hook: str, project: Path, out: Path) -> Path:
    """Run a hook of the build backend in ``project`` and return the one file it writes to ``out``."""
    out.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, hook, str(out)], cwd=project, capture_output=True, check=True
    )
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel built from the sdist."""
    installed = metadata.version("setuptools") if metadata.packages_distributions().get("setuptools") else "0"
    if int(installed.split(".")[0]) < 77:
        pytest.skip("building needs setuptools 77 or newer")
    folder = tmp_path_factory.mktemp("dist")
    project = folder / "project"
    project.mkdir()
    sdist = build("build_sdist", copy_of_the_project(project), folder / "sdist")
    # The command line of tarfile is the same in all versions; the arguments of extractall are not.
    subprocess.run([sys.executable, "-m", "tarfile", "-e", str(sdist), str(folder)], check=True)
    source = folder / sdist.name.removesuffix(".tar.gz")
    kernels = source / "acausal" / "kernels"
    assert list(kernels.glob("compiled-*")) == [], "what is compiled is no source"
    for compiled in (ROOT / "acausal" / "kernels").glob("compiled-*"):
        copy(compiled, kernels)  # As the compiler makes it there, half a minute later.
    return build("build_wheel", source, folder / "wheel")


@pytest.mark.slow
def test_a_wheel_with_compiled_kernels_is_for_one_platform(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        compiled = [name for name in archive.namelist() if name.startswith("acausal/kernels/compiled-")]
    assert wheel.name.endswith("-any.whl") == (not compiled)
    assert sorted(Path(name).suffix for name in compiled) in ([], [".sha256", ".so"], [".o", ".sha256"])


@pytest.mark.slow
def test_the_wheel_holds_one_top_level_package(wheel: Path) -> None:
    version = PROJECT["project"]["version"]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"acausal", f"acausal-{version}.dist-info"}
    assert "acausal/py.typed" in names
    for text in ("LICENSE", "NOTICE"):
        assert f"acausal-{version}.dist-info/licenses/{text}" in names


@pytest.mark.slow
def test_the_wheel_imports_every_component_module(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # -I and -S: neither the working folder nor an editable installation can stand in for the wheel.
    dependencies = [entry for entry in sys.path if entry.endswith("-packages")]
    command = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(site), *dependencies]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = dict(line.split("\t") for line in run.stdout.splitlines())
    assert set(found) == library_modules()
    assert [name for name, file in found.items() if not Path(file).is_relative_to(site)] == []


def test_the_import_leaves_out_what_only_files_and_tables_need() -> None:
    script = "import sys, acausal, acausal.components.electrical; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    rare = {"numpy.ma", "zipfile", "tempfile", "csv", "html", "scipy", "matplotlib"}
    assert rare & set(run.stdout.split()) == set()
