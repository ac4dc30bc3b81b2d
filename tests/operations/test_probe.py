"""The probe of compliance: what is in tables is looked at, and masked is only said of what was seen."""

import json
import os

import pytest

from tests.branches.shops import BranchShop, Template
from tests.operations.test_twins import prepare as prepare_twins
from tests.run.runs import write
from tests.run.test_twins import CONFIG, EMAILS

pytestmark = pytest.mark.slow

WRITE = CONFIG.replace('"twin"', '"write"')
PEOPLE = "spark_catalog.default.people"
BY_ID = '[strategy]\ntype = "merge"\nunique_key = ["id"]\n'
"""By an address that is redacted nothing can be merged."""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("probed"), prepare_twins)


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def probed(shop: BranchShop, *options: str) -> tuple[int, dict]:
    answer = shop.rocky("compliance", "--probe", "-o", "json", *options)
    assert not any(each in answer.out + answer.err for each in EMAILS)
    return answer.code, json.loads(answer.out)


def saw(report: dict, table: str = PEOPLE) -> list[str]:
    return [each["saw"] for each in report["probed"] if each["table"] == table]


def test_a_twin_is_seen_masked_and_what_is_restricted_clear(shop):
    code, report = probed(shop, "--fail-on", "exception")

    assert 0 == code
    assert [] == report["exceptions"]
    assert ["masked"] == saw(report)
    (clear,) = [each for each in report["probed"] if each["table"].endswith("restricted.people")]
    assert ("clear", True, "files", 2) == (
        clear["saw"],
        clear["restricted"],
        clear["through"],
        clear["rows"],
    )
    assert "masked" in shop.do("compliance", "--probe")


def test_a_table_that_is_clear_although_a_mask_is_declared_fails(shop):
    unmasked = {"rocky.toml": WRITE.replace('pii = "redact"', 'pii = "none"')}
    write(shop.root, unmasked | {"models/merged.toml": BY_ID})
    shop.do("run", "people", "--full-refresh")
    write(shop.root, {"rocky.toml": WRITE})

    code, report = probed(shop, "--fail-on", "exception")

    assert 1 == code
    assert ["clear"] == saw(report)
    (found,) = report["exceptions"]
    assert ("people", "email") == (found["model"], found["column"])
    assert f"the files of `{PEOPLE}` show clear values" == found["reason"]
    assert 1 == report["summary"]["total_exceptions"]


def test_what_was_made_from_values_before_they_were_masked_is_clear(shop):
    write(shop.root, {"models/mails.sql": "SELECT id, lower(email) AS mail FROM people"})
    write(shop.root, {"models/merged.toml": BY_ID})
    write(shop.root, {"rocky.toml": WRITE.replace('pii = "redact"', 'pii = "none"')})
    shop.do("run", "people", "mails", "--full-refresh")
    write(shop.root, {"rocky.toml": WRITE})
    shop.do("run", "people")

    code, report = probed(shop, "--fail-on", "exception")

    assert 1 == code
    assert ["masked"] == saw(report)
    assert ["clear"] == saw(report, "spark_catalog.default.mails")
    shop.do("run", "mails")
    assert 0 == probed(shop, "--fail-on", "exception")[0]


def test_without_records_nobody_says_that_what_a_table_is_made_from_was_masked(shop):
    write(shop.root, {"models/mails.sql": "SELECT id, left(email, 1) AS mail FROM people"})
    write(shop.root, {"rocky.toml": WRITE})
    shop.do("run", "people", "mails")
    before = {each["table"]: each for each in probed(shop)[1]["probed"]}
    (shop.root / ".rocky-state.db").unlink()

    after = {each["table"]: each for each in probed(shop)[1]["probed"]}

    mails = "spark_catalog.default.mails"
    assert ("undecided", "undecided") == (before[mails]["saw"], after[mails]["saw"])
    assert "masked before" in before[mails]["reason"]
    assert "no record tells" in after[mails]["reason"]


def test_what_another_mask_wrote_is_not_called_masked(shop):
    # `redact` leaves three characters, which `truncate(3)` would leave too.
    write(shop.root, {"rocky.toml": CONFIG.replace('"redact"', '"truncate(3)"')})

    _, report = probed(shop)

    assert ["undecided"] == saw(report)
    assert any("other masks" in str(each["reason"]) for each in report["probed"])


def test_no_table_no_rows_and_no_access_are_told_apart(shop):
    write(shop.root, {"models/later.sql": "SELECT id, email FROM people"})
    write(shop.root, {"data/people.csv": "id,email\n"})
    shop.do("run", "people")

    _, report = probed(shop)
    assert ["absent"] == saw(report, "spark_catalog.default.later")
    assert ["empty"] == saw(report)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_refused(shop):
    folder = shop.root / "warehouse/spark_catalog/restricted/people"
    folder.chmod(0)
    try:
        _, report = probed(shop)
    finally:
        folder.chmod(0o755)

    assert ["refused"] == saw(report, "spark_catalog.restricted.people")


def test_a_file_that_cannot_be_read_is_refused_and_not_empty(shop):
    folder = shop.root / "warehouse/spark_catalog/default/people"
    for each in folder.glob("*.parquet"):
        each.unlink()

    _, report = probed(shop)

    assert ["refused"] == saw(report)


def test_what_was_declassified_is_not_probed(shop):
    answer = shop.rocky("compliance", "--probe", "--declassified")

    assert 1 == answer.code
    assert "leave it or `--probe` out" in answer.err
