"""A dbt project is written down whole or not at all, and nothing of it gets out of its folder."""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import rocky
from rocky.errors import ImportRefused, WouldOverwrite
from rocky.operations.migration.import_dbt import ImportDbtRequest, import_dbt
from tests.dbt.dbt_projects import MANIFEST, PROJECTS, copy_project, with_manifest

NOTHING: dict[str, str] = {}
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "coming-from-dbt.md"


def imported(root: Path, to: Path, **given):
    return import_dbt(ImportDbtRequest(root, to, **{"use_dbt": False, **given}), NOTHING)


def things(report, kind):
    return {each.name: each for each in report.things if each.kind == kind}


def files_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".rocky" not in path.name
    }


@pytest.fixture
def bakery(tmp_path):
    return with_manifest(copy_project("bakery", tmp_path))


def test_a_project_is_taken_over_from_its_manifest_and_compiles(bakery, tmp_path):
    report = imported(bakery, tmp_path / "new")

    assert ("bakery", "manifest", 13, 13, 0) == (
        report.project,
        report.read_by,
        report.models,
        report.clean,
        report.errors,
    )
    counts = {each.kind: (each.as_is, each.rewritten, each.needs_hand) for each in report.counts}
    assert {
        "model": (3, 7, 0),
        "snapshot": (0, 1, 0),
        "seed": (3, 0, 0),
        "source": (1, 0, 0),
        "test": (7, 2, 0),
        "unit_test": (1, 0, 0),
    } == counts
    written = files_of(tmp_path / "new")
    assert set(report.files) == set(written)
    assert (
        "from stg_orders o\nleft join payments_by_order p using (order_id)\n"
        in written["models/marts/orders.sql"]
    )
    assert "select * from orders" in written["models/marts/guests.sql"]


def test_what_is_said_of_a_model_is_in_its_sidecar(bakery, tmp_path):
    imported(bakery, tmp_path / "new")
    written = files_of(tmp_path / "new")

    orders = tomllib.loads(written["models/marts/orders.toml"])
    assert ("One row for each order", "Counter") == (orders["description"], orders["owner"])
    assert {"team": "counter", "group": "counter", "exposures": ["morning_board"]} == orders["meta"]
    assert {"schema": "bakery_marts"} == orders["target"]
    assert ["accepted_values", "not_null", "relationships", "unique"] == sorted(
        each["type"] for each in orders["tests"]
    )
    assert "Number of the order" == orders["columns"]["order_id"]["description"]
    guests = tomllib.loads(written["models/marts/guests.toml"])
    assert ["core", "nightly"] == guests["tags"]
    assert {"team": "counter", "reviewed": True} == guests["meta"]
    assert "Everybody who ever ordered, **once**." == guests["description"]
    assert (
        "orders_clean"
        == tomllib.loads(written["models/staging/stg_orders.toml"])["target"]["table"]
    )
    contract = tomllib.loads(written["contracts/orders.contract.toml"])
    assert {"name": "order_id", "type": "bigint"} == contract["columns"][0]
    assert contract["rules"]["strict"]
    visits = tomllib.loads(written["models/staging/stg_visits.toml"])
    assert {"till.visits"} == {each["table"] for each in visits["tests"]}
    unit = tomllib.loads(written["models/staging/payments_by_order.toml"])["test"][0]
    assert ("stg_payments", 2) == (unit["given"][0]["ref"], len(unit["given"][0]["rows"]))


def test_strategies_and_declarations_are_those_of_dbt(bakery, tmp_path):
    imported(bakery, tmp_path / "new")
    written = files_of(tmp_path / "new")

    def strategy(path):
        return tomllib.loads(written[f"models/{path}.toml"]).get("strategy")

    assert {"type": "incremental", "timestamp_column": "came_at"} == strategy("marts/visit_log")
    assert {"type": "delete_insert", "partition_by": ["came_on"]} == strategy("marts/visits_by_day")
    assert {"type": "snapshot", "unique_key": ["guest_id"]} == strategy("snapshots/guests_history")
    assert "view" == strategy("staging/stg_guests")
    assert "ephemeral" == strategy("staging/payments_by_order")
    assert strategy("marts/guests") is None
    (source,) = tomllib.loads(written["sources/till.toml"])["source"]
    assert ("till.visits", "bakery_raw.raw_visits") == (source["name"], source["table"])
    assert "columns" not in source
    seed = tomllib.loads(written["seeds/raw_guests.toml"])
    assert [("guest_id", "bigint"), ("postcode", "string")] == [
        (each["name"], each["type"]) for each in seed["columns"]
    ]
    config = tomllib.loads(written["rocky.toml"])
    assert "unknown" == config["compile"]["undeclared"]
    assert "bakery" == config["pipeline"]["bakery"]["target"]["schema"]


def test_a_test_of_ones_own_is_a_view_that_must_be_empty(bakery, tmp_path):
    imported(bakery, tmp_path / "new")
    written = files_of(tmp_path / "new")

    assert (
        "select *\nfrom orders\nwhere amount < 0\n"
        == written["models/tests/never_negative_orders_amount.sql"]
    )
    sidecar = tomllib.loads(written["models/tests/returned_orders_were_paid.toml"])
    assert "view" == sidecar["strategy"]
    assert [{"type": "row_count_range", "max": 0}] == sidecar["tests"]


@pytest.mark.slow
def test_the_files_alone_say_the_same_but_for_what_only_a_database_knows(bakery, tmp_path):
    imported(bakery, tmp_path / "by_manifest")
    (bakery / "target" / "manifest.json").unlink()
    report = imported(bakery, tmp_path / "by_files")

    assert "files" == report.read_by
    one, other = files_of(tmp_path / "by_manifest"), files_of(tmp_path / "by_files")
    asked = "models/marts/columns_of_till.sql"
    assert "select visit_id, guest_id, came_at\nfrom till.visits\n" == one.pop(asked)
    assert "{%- set found" in other.pop(asked)

    def parsed(path, text):
        data = tomllib.loads(text) if path.endswith(".toml") else {"text": text}
        return {**data, "tests": sorted(map(str, data.get("tests", [])))}

    assert set(one) == set(other)
    assert {p: parsed(p, t) for p, t in one.items()} == {p: parsed(p, t) for p, t in other.items()}
    (hand,) = [each for each in report.things if each.verdict == "needs_hand"]
    assert ("columns_of_till", 1) == (hand.name, hand.remarks[0].line)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECTS)
def test_every_model_is_accounted_for(tmp_path, name):
    root = copy_project(name, tmp_path)
    report = imported(root, tmp_path / "new")

    on_disk = {path.stem for path in (root / "models").rglob("*.sql")}
    disabled = {"stg_team"} & on_disk
    assert on_disk - disabled == set(things(report, "model"))
    for each in report.things:
        assert each.verdict != "needs_hand" or any(remark.needs_hand for remark in each.remarks)
        assert each.written is None or (tmp_path / "new" / each.written).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECTS)
def test_the_guide_says_how_much_of_a_project_is_taken_over(tmp_path, name):
    report = imported(copy_project(name, tmp_path), tmp_path / "new")
    models = things(report, "model")
    by_verdict = [
        sum(each.verdict == verdict for each in models.values())
        for verdict in ("as_is", "rewritten", "needs_hand")
    ]
    clean = len(models) - (report.models - report.clean)

    row = re.search(rf"^\| `{name}` \|.*$", GUIDE.read_text(), re.MULTILINE)
    told = [int(cell) for cell in row.group().split("|")[3:-1]]
    assert [len(models), *by_verdict, clean] == told


def test_a_folder_that_holds_something_is_refused(bakery, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").write_text("mine")

    with pytest.raises(WouldOverwrite, match="is not empty"):
        imported(bakery, tmp_path / "new")
    assert {"mine.txt": "mine"} == files_of(tmp_path / "new")
    (tmp_path / "new" / "mine.txt").unlink()
    imported(bakery, tmp_path / "new")


def test_nothing_is_left_of_an_import_that_fails(bakery, tmp_path):
    # A file stands where a folder is needed: one model is called as the folder of another.
    def clash(data):
        node = data["nodes"]["model.bakery.guests"]
        node["original_file_path"] = "models/marts/orders.sql/guests.sql"

    with_manifest(bakery, clash)
    with pytest.raises(OSError, match=r"exists|directory"):
        imported(bakery, tmp_path / "new")
    assert ["bakery"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_manifest_names_no_file_outside_the_project(bakery, tmp_path):
    (tmp_path / "secret.csv").write_text("password\nhunter2\n")

    def outside(data):
        for key, path in (
            ("raw_guests", "../secret.csv"),
            ("raw_orders", str(tmp_path / "secret.csv")),
        ):
            data["nodes"][f"seed.bakery.{key}"]["original_file_path"] = path
        (bakery / "seeds" / "raw_payments.csv").unlink()
        (bakery / "seeds" / "raw_payments.csv").symlink_to(tmp_path / "secret.csv")
        data["nodes"]["model.bakery.guests"]["original_file_path"] = "models/../../../../guests.sql"
        data["nodes"]["model.bakery.orders"]["name"] = "../../orders"
        data["sources"]["source.bakery.till.visits"]["source_name"] = "../../till"

    with_manifest(bakery, outside)
    report = imported(bakery, tmp_path / "deep" / "new")

    assert all(each.verdict == "needs_hand" for each in things(report, "seed").values())
    assert "needs_hand" == things(report, "model")["../../orders"].verdict
    assert not any("hunter2" in text for text in files_of(tmp_path / "deep").values())
    assert {"bakery", "secret.csv", "deep"} == {path.name for path in tmp_path.iterdir()}
    assert ["new"] == [path.name for path in (tmp_path / "deep").iterdir()]


@pytest.mark.slow
def test_values_of_the_environment_and_of_profiles_are_not_read(bakery, tmp_path, monkeypatch):
    monkeypatch.setenv("BAKERY_PASSWORD", "hunter2")
    (bakery / "profiles.yml").write_text("bakery:\n  outputs: {dev: {password: hunter2}}\n")
    (bakery / "models" / "marts" / "guests.sql").write_text(
        "select '{{ env_var(\"BAKERY_PASSWORD\", \"none\") }}' as a, '${BAKERY_PASSWORD}' as b"
    )
    (bakery / "models" / "marts" / "guests.yml").write_text(
        "models: [{name: guests, description: 'Costs ${BAKERY_PASSWORD}'}]"
    )
    (bakery / "target" / "manifest.json").unlink()
    imported(bakery, tmp_path / "new")

    written = files_of(tmp_path / "new")
    assert not any("hunter2" in text for text in written.values())
    assert "select 'none' as a" in written["models/marts/guests.sql"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read as a manifest"),
        ("[]", "names no version"),
        ('{"metadata": {"dbt_schema_version": "https://x/v4.json"}}', "v4"),
        ("[" * 100_000, "cannot be read as a manifest"),
    ],
)
def test_what_is_no_manifest_is_refused(bakery, tmp_path, text, why):
    (bakery / "target" / "manifest.json").write_text(text)

    with pytest.raises(ImportRefused, match=why):
        imported(bakery, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_without_a_dbt_project_is_refused(tmp_path):
    with pytest.raises(ImportRefused, match=r"no `dbt_project.yml`"):
        imported(tmp_path, tmp_path / "new")


def test_a_file_that_changed_after_dbt_compiled_it_needs_a_hand(bakery, tmp_path):
    path = bakery / "models" / "marts" / "guests.sql"
    path.write_text(path.read_text().replace("first_name", "given_name"))

    guests = things(imported(bakery, tmp_path / "new"), "model")["guests"]
    assert "needs_hand" == guests.verdict
    assert "run `dbt compile`" in guests.remarks[0].text


def test_a_constraint_becomes_a_test_and_no_promise_that_nobody_can_prove(bakery, tmp_path):
    def constrain(data):
        data["nodes"]["model.bakery.orders"]["columns"]["state"]["constraints"] = [
            {"type": "not_null"}
        ]

    with_manifest(bakery, constrain)
    assert 0 == imported(bakery, tmp_path / "new").errors
    written = files_of(tmp_path / "new")
    tests = tomllib.loads(written["models/marts/orders.toml"])["tests"]
    assert {"type": "not_null", "column": "state"} in tests


def test_what_dbt_rendered_otherwise_is_taken_from_dbt(bakery, tmp_path):
    def other(data):
        node = data["nodes"]["model.bakery.stg_guests"]
        node["compiled_code"] = node["compiled_code"].replace("joined_on", "joined_on as since")

    with_manifest(bakery, other)
    found = things(imported(bakery, tmp_path / "new"), "model")["stg_guests"]
    assert "rewritten" == found.verdict
    assert "rendered by dbt" in found.remarks[0].text
    assert "select * from raw_guests" in files_of(tmp_path / "new")["models/staging/stg_guests.sql"]


def test_the_installed_dbt_gets_a_profile_of_ours_and_no_secrets(bakery, tmp_path):
    """A program in the place of dbt, which writes down what it is given."""
    (bakery / "target" / "manifest.json").unlink()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "dbt").write_text(
        "#!/bin/sh\n"
        f"env > {tmp_path}/environment\n"
        f'echo "$@" > {tmp_path}/arguments\n'
        'while [ "$1" != --profiles-dir ]; do shift; done\n'
        f'cp "$2/profiles.yml" {tmp_path}/profiles\n'
        'while [ "$1" != --target-path ]; do shift; done\n'
        f'mkdir -p "$2" && cp {MANIFEST} "$2/manifest.json"\n'
    )
    (programs / "dbt").chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "TOKEN": "hunter2"}
    report = import_dbt(ImportDbtRequest(bakery, tmp_path / "new"), environment)

    assert ("dbt", 13) == (report.read_by, report.clean)
    assert "hunter2" not in (tmp_path / "environment").read_text()
    profile = json.loads((tmp_path / "profiles").read_text())
    assert {"type": "spark", "method": "session"}.items() <= profile["rocky"]["outputs"][
        "prod"
    ].items()
    assert "parse" in (tmp_path / "arguments").read_text().split()
    assert not (bakery / "target" / "manifest.json").exists()


@pytest.mark.slow
def test_a_dbt_that_fails_is_not_the_end(bakery, tmp_path):
    (bakery / "target" / "manifest.json").unlink()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "dbt").write_text(
        "#!/bin/sh\necho '10:00:00  Runtime Error'\necho '  no adapter'\nexit 2\n"
    )
    (programs / "dbt").chmod(0o755)
    request = ImportDbtRequest(bakery, tmp_path / "new")
    report = import_dbt(request, {"PATH": f"{programs}:{os.environ['PATH']}"})

    assert "files" == report.read_by
    assert "dbt could not parse it: Runtime Error no adapter" in report.remarks[0]


def test_the_request_holds_all_that_can_be_asked():
    assert ["folder", "to", "manifest", "use_dbt"] == [
        each.name for each in fields(ImportDbtRequest)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["jinja2", "yaml"])
def test_without_its_extra_an_import_says_what_to_install(tmp_path, library):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "import rocky\n"
        "try:\n    rocky.import_dbt('.', 'new')\n"
        "except rocky.RockyError as error:\n    print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(rocky.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert f"`{library}` is not installed; run `pip install 'rocky-spark[dbt]'`\n" == done.stdout


@pytest.mark.parametrize("with_a_manifest", [True, False])
def test_hooks_of_the_project_are_named(tmp_path, with_a_manifest):
    root = copy_project("bakery", tmp_path)
    if with_a_manifest:
        root = with_manifest(root)
    settings = root / "dbt_project.yml"
    settings.write_text(settings.read_text() + '\non-run-start: ["create function f"]\n')
    report = imported(root, tmp_path / "new")

    (said,) = [each for each in report.remarks if "on-run-start" in each]
    assert "needs a hand" in said
    assert "declare the function in `functions/f.sql`" in said


def test_a_template_that_is_left_says_why_and_does_not_lead_back_to_the_import(tmp_path):
    root = copy_project("gym", tmp_path)
    (root / "models" / "asks.sql").write_text("select {{ adapter.get_relation('x') }} as a\n")
    imported(root, tmp_path / "new")
    left = (tmp_path / "new" / "models" / "asks.sql").read_text()

    assert left.startswith("-- A template of dbt's, as it was: `adapter.get_relation` ")
    found = rocky.open(tmp_path / "new").compile().diagnostics
    (wrong,) = [each for each in found if each.code == "E009"]
    assert "import-dbt" not in f"{wrong.message} {wrong.help}"


@pytest.mark.slow
def test_the_age_that_sources_may_have_is_taken_over(tmp_path):
    root = copy_project("bakery", tmp_path)
    (root / "models" / "fresh.yml").write_text(
        "sources:\n  - name: lake\n    loaded_at_field: at\n"
        "    freshness: {error_after: {count: 2, period: day}}\n    tables: [{name: visits}]\n"
    )
    report = imported(root, tmp_path / "new")

    assert 'freshness = { time_column = "at", error_after = "2 days" }' in (
        (tmp_path / "new" / "sources" / "lake.toml").read_text()
    )
    assert any("holds its readers back, which `dbt build` does not do" in x for x in report.remarks)
