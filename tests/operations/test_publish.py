"""Publishing and importing from Python: nothing is written past a gate."""

import pytest

from rocky.errors import InterfaceRefused, InvalidRequest, NothingSelected
from rocky.operations.interfaces.imports import UpdateImportsRequest, update_imports
from rocky.operations.interfaces.publish import PublicationRefused, PublishRequest, publish
from rocky.operations.workspace import Workspace
from tests.analysis.imports.projects import SHOP, write

FINANCE = {
    "rocky.toml": '[pipeline.finance]\n\n[imports.shop]\npath = "../shop"\n',
    "models/revenue.sql": "SELECT id, amount FROM shop.orders\n",
}


@pytest.fixture
def shop(tmp_path) -> Workspace:
    return Workspace(write(tmp_path / "shop", SHOP))


@pytest.fixture
def finance(shop, tmp_path) -> Workspace:
    """A project that imports a shop which has published."""
    publish(shop, PublishRequest())
    return Workspace(write(tmp_path / "finance", FINANCE))


def test_an_interface_is_written_once(shop):
    checked = publish(shop, PublishRequest(check=True))
    first, second = publish(shop, PublishRequest()), publish(shop, PublishRequest(check=True))

    assert (True, False) == (checked.failed, checked.written)
    assert (True, True) == (first.written, (shop.config / "interface.json").is_file())
    assert (False, True) == (second.failed, second.up_to_date)


def test_a_project_with_errors_is_not_published(shop):
    write(shop.config, {"models/orders.sql": "SELECT nope FROM raw.orders\n"})
    with pytest.raises(PublicationRefused, match="nothing was published") as refused:
        publish(shop, PublishRequest())

    assert ("InterfaceRefused", 1) == (refused.value.kind, len(refused.value.findings))
    assert not (shop.config / "interface.json").exists()


def test_a_file_that_is_no_interface_is_not_written_over(shop):
    write(shop.config, {"notes.json": "mine\n"})
    with pytest.raises(InterfaceRefused, match="is not an interface"):
        publish(shop, PublishRequest(out=shop.config / "notes.json"))

    assert "mine\n" == (shop.config / "notes.json").read_text()


@pytest.mark.parametrize(
    "asked",
    [
        {"check": True, "fetch_only": True},
        {"check": True, "write_pin": True},
        {"fetch_only": True, "write_pin": True},
    ],
)
def test_ways_to_update_that_exclude_each_other_are_refused(finance, asked):
    with pytest.raises(InvalidRequest):
        update_imports(finance, UpdateImportsRequest(**asked))

    assert not (finance.config / "imports").exists()


def test_what_is_accepted_is_compared_with_from_then_on(shop, finance):
    checked = update_imports(finance, UpdateImportsRequest(check=True))
    accepted = update_imports(finance, UpdateImportsRequest())
    write(shop.config, {"models/orders.sql": "SELECT id FROM raw.orders\n"})
    publish(shop, PublishRequest())
    found = update_imports(finance, UpdateImportsRequest(("shop",), check=True))
    changes = {each.column: each.read_by for each in found.imports[0].changes}

    assert (True, "accepted") == (checked.failed, accepted.done)
    assert (True, ("revenue",)) == (found.failed, changes["amount"])
    with pytest.raises(NothingSelected, match="no import `shp`"):
        update_imports(finance, UpdateImportsRequest(("shp",)))


@pytest.mark.parametrize("name", ["../x.json", "sub/../../x.json", "link/x.json", "linked.json"])
def test_an_interface_is_not_written_outside_its_project(shop, tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (shop.config / "link").symlink_to(outside)
    (shop.config / "linked.json").symlink_to(outside / "x.json")

    for check in (False, True):
        with pytest.raises(InterfaceRefused, match="is not in the project's folder"):
            publish(shop, PublishRequest(out=shop.config / name, check=check))

    assert [] == list(outside.iterdir())
    assert not (tmp_path / "x.json").exists()


def test_an_import_is_not_kept_outside_its_project(finance, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (finance.config / "imports").symlink_to(outside)

    with pytest.raises(InterfaceRefused, match="leads out of the project through a link"):
        update_imports(finance, UpdateImportsRequest())
    assert [] == list(outside.iterdir())
