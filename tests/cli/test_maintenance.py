"""What `compact`, `retention`, `erase` and `backfill` print; what they do is tested with their operations."""

import json

import pytest
from click.testing import CliRunner, Result

from rocky.cli.app import main
from tests.maintenance.erasures import SUBJECT, WHERE, PeopleShop
from tests.maintenance.shops import AppendedShop, Template, VisitShop

pytestmark = pytest.mark.slow


def type_line(shop: AppendedShop, line: str) -> Result:
    return CliRunner().invoke(main, [*line.split(), "-c", str(shop.root)])


def test_compacting_says_what_became_of_each_table(tmp_path, monkeypatch):
    shop = Template(tmp_path, AppendedShop).reopen(monkeypatch)

    foreseen = type_line(shop, "compact --dry-run")
    done = type_line(shop, "compact")
    again = json.loads(type_line(shop, "compact -o json").output)

    assert (0, 0) == (foreseen.exit_code, done.exit_code)
    assert "4 files to rewrite\n4 files of 1 table would become 1\n" in foreseen.output
    run_id = shop.records()[0].run_id
    assert (
        f"version 4\n4 files of 1 table became 1, with the same rows, in {run_id}\n" in done.output
    )
    assert ["unchanged"] == [each["status"] for each in again["tables"]]
    assert "no small files\nnothing to compact\n" in type_line(shop, "compact").output
    assert "1 compacted" in type_line(shop, "history").output


def test_retention_says_what_went(tmp_path, monkeypatch):
    shop = Template(tmp_path, VisitShop).reopen(monkeypatch)

    foreseen = type_line(shop, "retention --dry-run")
    done = type_line(shop, "retention")

    assert (0, 0) == (foreseen.exit_code, done.exit_code)
    assert "0 to 30 rows would go\n1 table would lose rows\n" in foreseen.output
    run_id = shop.records()[0].run_id
    assert f"15 rows deleted, version 3\n15 rows of 1 table deleted in {run_id}\n" in done.output
    shop.write("models/events.toml", "")
    assert "nothing to delete: no model that has been built" in type_line(shop, "retention").output


def test_erasing_says_what_holds_rows_what_went_and_never_whose(tmp_path, monkeypatch):
    shop = Template(tmp_path, PeopleShop).reopen(monkeypatch)

    def type_words(*words: str, **more: str) -> Result:
        return CliRunner().invoke(main, ["erase", *words, "-c", str(shop.root)], **more)

    foreseen = type_words("--where", WHERE)
    unsaid = type_words("--where", WHERE, "--apply")
    wrong = type_words("--where", f"person_id > {SUBJECT}")
    done = type_words("--where", "-", "--apply", "--reason", "request 17", input=f"{WHERE}\n")
    again = json.loads(type_words("--where", WHERE, "-o", "json").output)

    assert (0, 1, 1, 0) == (
        foreseen.exit_code,
        unsaid.exit_code,
        wrong.exit_code,
        done.exit_code,
    )
    assert "in versions 1-2, 1 commit without statistics" in foreseen.output
    assert "raw.people: it is only read: delete the rows there first" in foreseen.output
    assert "4 rows of 2 tables and 3 files would go" in foreseen.output
    run_id = shop.records()[0].run_id
    assert f"4 rows and 3 files erased; the certificate is that of {run_id}\n" in done.output
    assert "receipt " in done.output
    assert ["clean", "clean"] == [each["status"] for each in again["tables"]]
    assert (
        "nothing to erase: no table that carries the key holds such rows"
        in type_words("--where", WHERE).output
    )
    assert (
        "no erasure was interrupted, no table was built anew since" in type_words("--resume").output
    )
    for each in (foreseen, unsaid, wrong, done):
        assert str(SUBJECT) not in each.output
    assert "2 erased" in type_line(shop, "history").output


def test_a_model_without_intervals_cannot_be_backfilled(tmp_path, monkeypatch):
    shop = AppendedShop(tmp_path, monkeypatch)

    answer = type_line(shop, "backfill events --from 2026-01-01")

    assert 1 == answer.exit_code
    assert "model `events` has no time intervals" in answer.output
