"""Publishing and importing from Python: nothing is written past a gate."""

import pytest

from rocky.errors import InterfaceRefused, InvalidRequest, NothingSelected
from rocky.operations.check.ci import CiRequest, ci
from rocky.operations.check.compile import CompileRequest, compile_models
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


TAGGED = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": """
[[source]]
name = "raw.people"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
]
""",
    "models/people.sql": "SELECT id, lower(email) AS login FROM raw.people\n",
    "models/counted.sql": "SELECT count(email) AS people FROM raw.people\n",
}
MASK = '[mask]\npii = "redact"\n'


def tagged(root, more="") -> Workspace:
    return Workspace(write(root, {**TAGGED, "rocky.toml": TAGGED["rocky.toml"] + more}))


def codes(workspace) -> list[str]:
    found = compile_models(workspace, CompileRequest()).found
    assert found == ci(workspace, CiRequest()).found
    return [each.code.value for each in found if each.severity == "error"]


def test_a_column_with_a_tag_is_not_published_in_clear(tmp_path):
    workspace = tagged(tmp_path)
    with pytest.raises(PublicationRefused, match="1 error: nothing was published") as refused:
        publish(workspace, PublishRequest())

    (found,) = refused.value.findings
    assert "E061" == found.code
    assert "`people.login` has the tag `pii`, and is published in clear" == found.message
    assert ("models/people.sql", "login") == (found.path, found.labels and "login")
    assert not (tmp_path / "interface.json").exists()
    assert publish(workspace, PublishRequest(("counted",))).written


@pytest.mark.parametrize(
    "more",
    [
        MASK,
        '[publish]\nallow_tags = ["pii"]\n',
        '[classifications]\nallow_unmasked = ["pii"]\n',
        '[publish]\nmodels = ["counted"]\n',
    ],
)
def test_a_tag_that_is_masked_allowed_or_not_published_is_no_finding(tmp_path, more):
    workspace = tagged(tmp_path, more)

    assert publish(workspace, PublishRequest()).written
    assert [] == codes(workspace)


def test_a_compile_says_what_publishing_would_refuse_where_the_project_publishes(tmp_path):
    assert [] == codes(tagged(tmp_path / "a"))
    assert ["E061"] == codes(tagged(tmp_path / "b", '[publish]\nname = "shop"\n'))
    # Clear by decision in its own project is no word about others.
    none = '[mask]\npii = "none"\n[publish]\nname = "shop"\n'
    assert ["E061"] == codes(tagged(tmp_path / "c", none))


def test_a_tag_that_may_be_published_is_a_declared_one(tmp_path):
    said = '[classifications.tags.pii]\n[publish]\nallow_tags = ["pli"]\n'

    assert ["E018", "E061"] == sorted(codes(tagged(tmp_path, said)))
