"""What the commands of `rocky branch` print with `-o json` fits the checked-in schema."""

import json

import pytest

from tests.branches.shops import BranchShop, Template
from tests.cli.test_schemas import check

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("documents"), lambda shop: shop.do("run"))


@pytest.mark.slow
def test_every_document_fits_and_names_its_command(built, monkeypatch):
    shop: BranchShop = built.put_back(monkeypatch)
    shop.do("branch", "create", "b1", "-m", "more")
    shop.do("branch", "rebase", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")
    for line in (
        "create b2",
        "list",
        "show b1",
        "delete b2",
        "list --all",
        "promote b1",
        "list --promotions",
        "revert b1",
        "recover",
    ):
        answer = shop.rocky("branch", *line.split(), "-o", "json")
        document = json.loads(answer.out)
        assert (line, 0, []) == (line, answer.code, check(document, "branch"))
        assert f"branch {line.split()[0]}" == document["command"]
