"""The guide says what to type and what is printed: typed here, and compared."""

import re
from pathlib import Path

from click.testing import CliRunner

from rocky.cli.app import main

GUIDE = Path(__file__).parents[3] / "docs/guides/contracts-across-teams.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^(shop|finance)\$ rocky (.*)\n", re.MULTILINE)


def typed(block: str, root: Path, monkeypatch) -> str:
    """A console block with what the commands really print."""
    shown = ""
    for found in PROMPT.finditer(block):
        monkeypatch.chdir(root / found[1])
        answer = CliRunner().invoke(main, [*found[2].split(), "-o", "table"])
        shown += found[0] + answer.stdout
    return shown


def test_the_guide_prints_what_it_says(tmp_path, monkeypatch, bless):
    text = GUIDE.read_text()
    real = text
    for kind, path, content in BLOCK.findall(text):
        if kind == "console":
            real = real.replace(content, typed(content, tmp_path, monkeypatch), 1)
        elif path:
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
    if bless:
        GUIDE.write_text(real)

    assert real == text
