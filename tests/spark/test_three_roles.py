"""The part of the tutorial with three roles that runs: masked tables, people, and one who is forgotten."""

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from tests.cli.test_three_roles import FENCE, PAGE, SPARK, command_of, write_block

pytestmark = pytest.mark.spark


def test_the_commands_of_the_tutorial_that_run_do_what_it_says(spark, tmp_path, monkeypatch):
    page = PAGE.read_text()
    (running,) = SPARK.findall(page)
    for block in FENCE.finditer(page.replace(running, "")):
        if block["kind"] != "console":
            write_block(tmp_path, block["name"], block["text"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROCKY_OUTPUT", "table")
    said = {}
    for block in FENCE.finditer(running):
        if block["kind"] != "console":
            write_block(tmp_path, block["name"], block["text"])
            continue
        for line in block["text"].splitlines():
            if line.startswith("$ "):
                who, words = command_of(line)
                monkeypatch.setenv("ROCKY_IDENTITY", who or "eve@shop.example")
                done = CliRunner().invoke(main, words, catch_exceptions=False)
                assert 0 == done.exit_code, (line, done.output)
                said.setdefault(line, []).append(done.output)
                lines = done.output.splitlines()
            else:
                assert line in lines

    clear = {line for line, output in said.items() if "ada@" in "".join(output)}
    assert {"$ ROCKY_IDENTITY=dpo@shop.example rocky show crm.people"} == clear
    assert [] == [path for path in tmp_path.rglob("*.parquet") if b"ada@" in path.read_bytes()]
