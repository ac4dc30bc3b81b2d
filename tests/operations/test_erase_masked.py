"""Erasing from tables whose key was masked once, or is now: no version may go on holding it."""

import hashlib
import hmac
from contextlib import suppress

import duckdb
import pyarrow as pa
import pytest

from rocky.errors import RunRefused
from rocky.maintenance.erasure.subject import parse_subject
from rocky.spark.keyed_hashes import _hashes
from tests.maintenance.erasures import FIRST, PEOPLE, MaskedShop
from tests.maintenance.shops import Template
from tests.run import memory_engine
from tests.run.memory_engine import MemoryEngine

pytestmark = pytest.mark.slow

MAIL = f"mail = '{FIRST}'"


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[MaskedShop]:
    return Template(tmp_path_factory.mktemp("masked"), MaskedShop)


@pytest.fixture
def shop(template, monkeypatch) -> MaskedShop:
    return template.reopen(monkeypatch)


def test_versions_in_which_the_key_was_masked_go_whole(shop):
    shop.write("rocky.toml", shop.unmasked)
    assert 0 == shop.build().exit_code
    masked = {name: shop.names_at(name, 3) for name in ("people", "contacts", "mails")}
    assert all(shop.on_disk(name) & names for name, names in masked.items())

    report = shop.erase(MAIL)

    assert {"pending"} == {each.status for each in report.tables}
    assert {1} == {each.unasked for each in report.tables}
    shop.apply(MAIL)
    # What was masked has no such value, and the same rows.
    assert {name: set() for name in masked} == {
        name: shop.on_disk(name) & names for name, names in masked.items()
    }
    assert 31 == len(shop.rows_of("people"))
    assert set() == shop.findings()
    assert {"clean"} == {each.status for each in shop.erase(MAIL).tables}


def test_a_newest_version_in_which_the_key_is_masked_still_is_in_the_way(shop):
    shop.write("rocky.toml", shop.unmasked)

    report = shop.erase(MAIL)

    assert {"refused"} == {each.status for each in report.tables}
    with pytest.raises(RunRefused, match="run its model first"):
        shop.apply(MAIL)
    assert () == shop.certificates


def test_what_is_named_as_it_stands_in_a_masked_table_leaves_its_clear_versions_too(shop):
    clear = shop.names_at("people", 2)

    shop.apply("mail = '***'", sources=("people",))

    assert set() == shop.on_disk("people") & clear
    assert set() == shop.places_of(FIRST, besides=("data/",))
    assert set() == shop.findings()


def test_a_mask_of_another_column_takes_no_version_away(shop):
    report = shop.erase()

    people = next(each for each in report.tables if each.table == PEOPLE)
    assert (0, (1, 2, 3)) == (people.unasked, people.versions)


KEY = "a-key-that-nobody-is-told"


class HashedShop(MaskedShop):
    """The mask is `hash`: of the mail, and as a number of the person."""

    def __init__(self, root, monkeypatch) -> None:
        super().__init__(root, monkeypatch)
        settings = self.masked.replace('"redact"', '"hash"')
        self.masked = f'{settings}\n[governance]\nhash_key = "${{MASK_KEY}}"\n'
        self.workspace = self.on(environment={"MASK_KEY": KEY})
        if self.has_run:
            self.write("rocky.toml", self.masked)

        def digest(text: str) -> str:
            return hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()

        class Hashes:
            def hold(self, key: str) -> None:
                assert key == KEY

        database = memory_engine._database()
        with suppress(duckdb.Error):
            database.create_function("rocky_keyed_hash", digest, ["VARCHAR"], "VARCHAR")
        monkeypatch.setattr(MemoryEngine, "hashes", Hashes(), raising=False)


@pytest.fixture(scope="module")
def hashed_template(tmp_path_factory) -> Template[HashedShop]:
    return Template(tmp_path_factory.mktemp("hashed"), HashedShop)


def test_a_key_that_is_hashed_now_is_found_by_its_hash(hashed_template, monkeypatch):
    shop = hashed_template.reopen(monkeypatch)
    digest = hmac.new(KEY.encode(), FIRST.encode(), hashlib.sha256).hexdigest()
    assert digest in str(shop.rows_of("people"))
    clear = shop.names_at("people", 2)

    report = shop.apply(MAIL)

    assert {"erased"} == {each.status for each in report.tables}
    assert {1} == {each.rows for each in report.tables}
    assert 31 == len(shop.rows_of("people"))
    # The versions from before the mask cannot be asked for a hash.
    assert set() == shop.on_disk("people") & clear
    assert set() == shop.places_of(FIRST, digest, besides=("data/",))
    assert set() == shop.findings()
    assert {"clean"} == {each.status for each in shop.erase(MAIL).tables}


def test_without_the_key_of_hashes_such_a_table_is_in_the_way(hashed_template, monkeypatch):
    shop = hashed_template.reopen(monkeypatch)
    shop.write("rocky.toml", shop.masked.replace('"hash"', '"sha2"'))

    with pytest.raises(RunRefused, match="masked by `sha2`"):
        shop.apply(MAIL)


def test_a_number_is_hashed_as_runs_hash_it():
    (clear, hashed) = parse_subject("person_id = 42").hashed_by(KEY).values
    code = _hashes(KEY.encode(), "bigint", arrays=False)

    assert [hashed] == code(pa.array([clear], pa.int64())).to_pylist()


def test_a_text_is_hashed_as_runs_hash_it():
    (clear, hashed) = parse_subject("mail = 'a'").hashed_by(KEY).values
    code = _hashes(KEY.encode(), "string", arrays=False)

    assert [hashed] == code(pa.array([clear])).to_pylist()
