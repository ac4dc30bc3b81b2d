"""Erasing from tables whose key was masked once, or is now: no version may go on holding it."""

import pytest

from rocky.errors import RunRefused
from tests.maintenance.erasures import FIRST, PEOPLE, MaskedShop
from tests.maintenance.shops import Template

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
