"""Erasing from tables that are partitioned: the partition of a file is a value in the log too."""

import json

import pytest

from rocky.operations.governance.erase import EraseRequest, erase
from tests.maintenance.erasures import FIRST, LAST, SUBJECT, PeopleShop
from tests.maintenance.shops import Template
from tests.run.memory_engine import MemoryEngine

pytestmark = pytest.mark.slow

SOURCES = ("data/",)


class PartitionedShop(PeopleShop):
    """`contacts` is partitioned by the key, `mails` by what it says of a person."""

    def __init__(self, root, monkeypatch) -> None:
        super().__init__(root, monkeypatch)
        monkeypatch.setattr(MemoryEngine, "cuts_partitions", True)
        self.write("models/contacts.toml", '[format_options]\npartition_by = ["who"]\n')
        self.write("models/mails.toml", '[format_options]\npartition_by = ["mail"]\n')


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[PartitionedShop]:
    return Template(tmp_path_factory.mktemp("parts"), PartitionedShop)


@pytest.fixture
def shop(template, monkeypatch) -> PartitionedShop:
    return template.reopen(monkeypatch)


def log_of(shop: PartitionedShop, name: str) -> str:
    folder = shop.root / f"warehouse/spark_catalog/default/{name}/_delta_log"
    return "".join(path.read_text() for path in sorted(folder.glob("*.json")))


def test_the_key_leaves_the_partitions_of_logs_and_the_commit_that_erases(shop):
    shop.write_people(3, subject=False)
    assert str(SUBJECT) in log_of(shop, "contacts")

    report = shop.apply()

    assert 2 == shop.table(report, "contacts").rows
    assert 30 == len(shop.rows_of("contacts"))
    assert str(SUBJECT) not in log_of(shop, "contacts")
    derived = ("warehouse/spark_catalog/default/mails", "warehouse/spark_catalog/default/counts")
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=(*SOURCES, *derived))
    assert set() == shop.findings()
    # Of other files nothing is taken away.
    added = [json.loads(each) for each in log_of(shop, "contacts").splitlines()]
    others = [each["add"]["partitionValues"] for each in added if "add" in each]
    assert {"who": "101"} in others


def test_what_was_built_anew_loses_partitions_of_its_past_as_well(shop):
    shop.write_people(3, subject=False)
    shop.apply()
    assert 0 == shop.build().exit_code
    assert FIRST in log_of(shop, "mails")

    report = erase(shop.workspace, EraseRequest(resume=True))

    assert "mails" in {each.table.rpartition(".")[2] for each in report.tables}
    assert FIRST not in log_of(shop, "mails")
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=SOURCES)
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code


def test_partitions_of_files_that_were_collected_before_are_redacted(shop):
    shop.write_people(3, subject=False)
    assert 0 == shop.build().exit_code
    log = [json.loads(each) for each in log_of(shop, "contacts").splitlines()]
    folder = shop.root / "warehouse/spark_catalog/default/contacts"
    for each in log:
        if each.get("add", {}).get("partitionValues") == {"who": str(SUBJECT)}:
            (folder / each["add"]["path"]).unlink(missing_ok=True)

    shop.apply()

    assert str(SUBJECT) not in log_of(shop, "contacts")
