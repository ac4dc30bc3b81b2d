"""The commands that the playground's README asks for work, on the session that all tests share."""

import pytest
from click.testing import CliRunner

from rocky.cli.app import main

pytestmark = pytest.mark.spark


def test_the_commands_of_the_readme_work(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["playground", "shop", "--quiet"], catch_exceptions=False)
    monkeypatch.chdir(tmp_path / "shop")
    page = (tmp_path / "shop/README.md").read_text()
    lines = [line[2:].partition("#")[0].split() for line in page.splitlines() if line[:2] == "$ "]

    codes = [CliRunner().invoke(main, line[1:], catch_exceptions=False).exit_code for line in lines]

    assert lines
    assert [0] * len(lines) == codes
