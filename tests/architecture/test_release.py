"""What a release contains and promises: the archives, the lock, the version, the checks around it."""

import importlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from rocky.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

USES_ROCKY = """\
import rocky

result = rocky.check_sql("SELECT a FROM t", tables={"t": "a INT"})
names: list[str] = [column.name for column in result.columns]
wrong: int = result.columns[0].name
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """The wheel in an environment of its own."""

    folder: Path

    def run(self, *command: str, cwd: Path) -> str:
        """What a program of the environment prints, when nothing of this checkout is in reach."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env=kept | {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert 0 == done.returncode, done.stdout + done.stderr
        return done.stdout


def python(*arguments: str, cwd: Path = ROOT) -> str:
    """What this Python prints for some arguments."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> tuple[Path, Path]:
    """The source archive and the wheel, as `make dist` makes them."""
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installation(archives, tmp_path_factory) -> Installation:
    """An empty environment with the wheel and nothing else, and a line that names the dependencies here.

    To fetch them would be 500 MB. The line makes their folder importable but not what its own `.pth` files add,
    so that the Rocky of this checkout is not in reach.
    """
    folder = tmp_path_factory.mktemp("installed") / "env"
    python("-m", "venv", "--without-pip", str(folder))
    packages = Path(
        sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    )
    here = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (packages / "dependencies.pth").write_text("\n".join(here) + "\n")
    wheel = str(archives[1])
    python(
        "-m", "pip", "--python", str(folder), "install", "--quiet", "--no-deps", "--no-index", wheel
    )
    return Installation(folder)


@pytest.mark.slow
def test_both_archives_have_every_file_of_the_package(archives):
    package = ROOT / "src" / "rocky"
    files = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with tarfile.open(archives[0]) as source, zipfile.ZipFile(archives[1]) as wheel:
        in_source = {name.partition("/src/")[2] for name in source.getnames()}
        in_wheel = set(wheel.namelist())

    assert "rocky/py.typed" in files
    assert set() == files - in_source
    assert set() == files - in_wheel


@pytest.mark.slow
def test_an_installed_wheel_compiles_the_playground(installation, tmp_path):
    assert f"rocky {__version__}\n" == installation.run("rocky", "--version", cwd=tmp_path)
    home = installation.run("python", "-c", "import rocky; print(rocky.__file__)", cwd=tmp_path)
    assert Path(home.strip()).is_relative_to(installation.folder)
    for template in ("shop", "replication"):
        made = ("playground", template, "--template", template, "--quiet")
        installation.run("rocky", *made, cwd=tmp_path)
        answer = installation.run("rocky", "compile", "-o", "json", cwd=tmp_path / template)
        assert [] == json.loads(answer)["diagnostics"]
    installation.run("rocky", "init", "mine", cwd=tmp_path)
    assert "E003" in installation.run("rocky", "explain", "E003", cwd=tmp_path)


@pytest.mark.exhaustive
def test_a_consumer_of_the_installed_wheel_sees_its_types(installation, tmp_path):
    (tmp_path / "consumer.py").write_text(USES_ROCKY)
    interpreter = str(installation.folder / "bin" / "python")
    # By content: what the last wheel had too is not analysed again.
    cache = str(ROOT / ".mypy_cache" / "wheel")
    options = ("--strict", "--follow-imports=silent", "--cache-dir", cache)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--python-executable", interpreter, "consumer.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    (finding, _) = done.stdout.splitlines()
    assert finding.startswith("consumer.py:5: error: Incompatible types in assignment"), done.stdout


def requirements(declared: Sequence[str]) -> list[Requirement]:
    found = [Requirement(each) for each in declared]
    return [each for each in found if each.name != PROJECT["name"]]


def test_the_lock_has_a_fitting_version_of_every_declared_dependency():
    lines = [
        line for line in (ROOT / "requirements.lock").read_text().splitlines() if line[0] != "#"
    ]
    locked = {each.name: str(each.specifier).removeprefix("==") for each in map(Requirement, lines)}
    extras = PROJECT["optional-dependencies"].values()
    declared = requirements(
        [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    )

    assert [] == [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==\S+( ; .*)?", line)]
    assert [] == [
        f"{each}: {locked.get(each.name)}"
        for each in declared
        if each.name not in locked or locked[each.name] not in each.specifier
    ]


def test_the_changelog_begins_with_the_release_that_this_is():
    text = (ROOT / "CHANGELOG.md").read_text()
    releases = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)$", text, re.MULTILINE
    )

    assert __version__ == releases[0][0]
    assert re.findall(r"^## .*", text, re.MULTILINE) == [f"## [{a}] - {b}" for a, b in releases]
    assert [] == [name for name, date in releases[1:] if date == "unreleased"]


def test_the_versions_of_files_are_those_that_the_decision_lists():
    page = (ROOT / "docs/decisions/0024-version-numbers.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| (\d+) \| `([\w.]+)\.(\w+)` \|", page, re.MULTILINE)

    assert len(rows) > 1
    assert [int(number) for number, _, _ in rows] == [
        getattr(importlib.import_module(module), name) for _, module, name in rows
    ]


def test_every_target_of_the_makefile_is_in_its_help():
    text = (ROOT / "Makefile").read_text()
    (targets,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    helped = re.findall(r'^\t@echo "make (\S+) ', text, re.MULTILINE)

    assert sorted(set(targets.split()) - {"help"}) == sorted(helped)


def test_every_hook_is_a_tool_of_the_environment():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())

    assert ["local"] == [each["repo"] for each in config["repos"]]
    for hook in config["repos"][0]["hooks"]:
        assert "system" == hook["language"]
        assert hook["entry"].startswith(".venv/bin/")


def test_the_workflow_runs_what_ci_runs_on_every_python_that_is_promised():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    promised = {
        each.rpartition(" ")[2]
        for each in PROJECT["classifiers"]
        if each.startswith("Programming Language :: Python :: 3.")
    }

    assert ".ci/run" in [step.get("run") for step in jobs["run"]["steps"]]
    assert "make check" in [step.get("run") for step in jobs["check"]["steps"]]
    # `.ci/run` is on Debian 12, whose Python is 3.11.
    assert promised == {"3.11", *jobs["check"]["strategy"]["matrix"]["python"]}


def test_every_template_for_issues_says_what_it_is_for():
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert {"name", "description", "body"} <= set(yaml.safe_load(form.read_text())), form.name
