"""The first tutorial is run, and what it shows is what comes out."""

import re

import pytest

from tests.architecture.console import BLOCK, README, ROOT, replay

TUTORIAL = ROOT / "docs" / "tutorial" / "first-project.md"
TOUR = re.compile(r"(?<=<!-- tour -->\n).*?(?=<!-- end of tour -->)", re.DOTALL)


@pytest.mark.slow
def test_what_the_first_tutorial_shows_is_what_happens(tmp_path, bless):
    page = TUTORIAL.read_text()
    folder = tmp_path

    def replayed(found: re.Match[str]) -> str:
        nonlocal folder
        text, folder = replay(found.group(), folder)
        return text

    expected = TOUR.sub(lambda tour: BLOCK.sub(replayed, tour.group()), page)
    if bless:
        TUTORIAL.write_text(expected)

    assert expected == TUTORIAL.read_text()


def test_the_python_in_the_readme_gives_what_it_says():
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    *code, last, expected = block.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(code), names)

    assert expected == f"# {eval(last, names)}"
