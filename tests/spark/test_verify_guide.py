"""Every command of the auditor's guide is run on a real run, by a shell that knows no Rocky."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from tests.processes import run_command, run_process
from tests.spark.projects import build

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "verify-a-run.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
MARK = "---- next command ----"
# What differs from run to run.
VARIES = re.compile(r"run-\d{8}-\d{6}-\d{3}|[0-9a-f]{12,}|\d{4}-\d\d-\d\dT[\d:.]+Z")
B3SUM = """\
#!{python}
import sys
from blake3 import blake3
*options, = [each for each in sys.argv[1:] if not each.startswith("-")]
for name in options or [0]:
    print(blake3(open(name, "rb").read()).hexdigest())
"""
KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR")
IDENTITY = {"ROCKY_IDENTITY": "data-eng@example.com", "ROCKY_SESSION_SOURCE": "ci", "CI": "true"}


def commands_of(block: str) -> list[str]:
    """The commands of a block; one goes on in the lines that begin with `> `."""
    found: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif line.startswith("> "):
            found[-1] += f"\n{line[2:]}"
    return found


def typed(command: str) -> str:
    first, *rest = command.splitlines()
    return "".join([f"$ {first}\n", *(f"> {line}\n" for line in rest)])


def run_all(commands: list[str], folder: Path, tools: Path) -> list[str]:
    """What each command prints, all in one shell, so that variables last."""
    script = "".join(f"{command}\necho '{MARK}'\n" for command in commands)
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
        },
    )
    assert "" == done.stderr
    said = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    return said.split(f"{MARK}\n")[:-1]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs: `b3sum`, from the package, where the machine has none."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if shutil.which("b3sum") is None:
        (folder / "b3sum").write_text(B3SUM.format(python=sys.executable))
        (folder / "b3sum").chmod(0o755)
    return folder


@pytest.fixture
def shop(tmp_path: Path, spark) -> Path:
    """The playground in a git repository, run three times; the last goes by what the second found."""
    root = tmp_path / "shop"
    CliRunner().invoke(main, ["playground", str(root), "--quiet"], catch_exceptions=False)
    for line in ("init -q -b main", "add -A", "commit -q -m shop"):
        who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"]
        subprocess.run(["git", *who, *line.split()], cwd=root, check=True)
    assert "Success" == build(root, spark, env=IDENTITY).status
    # Nobody goes by a file that was written less than two seconds before it was looked at.
    time.sleep(2.1)
    around = {name: os.environ[name] for name in KEPT if name in os.environ}
    for said in ("nothing had to be built", "nothing had changed since run-"):
        code, out, err = run_process(
            run_command, "-o", "table", "run", cwd=root, env=around | IDENTITY
        )
        assert (0, True) == (code, said in out), err
    shutil.copy(ROOT / "tools" / "verify_run.py", root)
    return root


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs sqlite3")
def test_every_command_of_the_guide_gives_what_the_guide_shows(shop, tools, bless):
    page = PAGE.read_text()
    blocks = BLOCK.findall(page)
    commands = [command for block in blocks for command in commands_of(block)]
    printed = dict(zip(commands, run_all(commands, shop, tools), strict=True))
    happened = BLOCK.sub(
        lambda found: "".join(
            typed(command) + printed[command] for command in commands_of(found.group())
        ),
        page,
    )
    if bless:
        PAGE.write_text(happened)
        page = happened

    assert VARIES.sub("~", happened) == VARIES.sub("~", page)
    # What the page asks its reader to see.
    hashes = {name: VARIES.findall(text) for name, text in printed.items()}
    pairs = [
        ("SELECT value ->> 'sql_hash'", "executed_sql"),
        ("'recipe_hash' FROM", "model_ir_canonical_json' FROM input_provenance WHERE key = '$RUN|fct_revenue'\" | head"),
        ("'skip_hash' FROM", "normalizer_version"),
        ("'input_hash' FROM", "inputs = {"),
        ("basename \"$FILE\" .parquet", "b3sum --no-names \"$FILE\""),
        ("u.value ->> 'upstream_key'", "'$.output_blake3'"),
        ("max(key) + 0", "_rocky/*.json"),
        ("'$.commits'", "b3sum --no-names warehouse"),
        ("SELECT value FROM run_history", "'value_hash' FROM evidence_chain"),
    ]  # fmt: skip
    for one, other in pairs:
        (first,) = [found for name, found in hashes.items() if name.startswith(one) or one in name][
            :1
        ]
        (second,) = [found for name, found in hashes.items() if other in name][:1]
        assert first[-1:] == second[-1:] != []
    (references,) = [
        text for name, text in printed.items() if "SELECT count(*) FROM output" in name
    ]
    assert "2\n" == references
