"""Each check of the doctor, by what is wrong; and that what could not be checked is never well."""

import os
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from rocky.errors import NothingSelected, RockyError
from rocky.ledger import STATE_FILE, open_history_reader, open_ledger
from rocky.operations.health.doctor import CHECKS, DoctorRequest, doctor, examine
from rocky.operations.health.health_checks import Health, Subject
from rocky.operations.workspace import Workspace
from rocky.project import load_project
from tests.ledger.conftest import a_run

CONFIG = '[adapter]\ntype = "spark"\n\n[pipeline.main]\ntype = "transformation"\n'


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "rocky.toml").write_text(CONFIG)
    return tmp_path


def diagnose(folder, name, config=None, environment=None):
    if config is not None:
        (folder / "rocky.toml").write_text(config)
    env = os.environ if environment is None else environment
    subject = Subject(folder / STATE_FILE, env, load_project(folder, env=env))
    (found,) = examine(subject, [name]).checks
    assert (found.health is Health.HEALTHY) == (found.fix is None)
    return found


def test_a_check_that_breaks_off_is_critical(monkeypatch, folder):
    def breaks_off(subject):
        raise RockyError("the disk is on fire")

    monkeypatch.setattr("rocky.operations.health.doctor.CHECKS", {"config": breaks_off})
    (found,) = examine(Subject(None, {}), ["config"]).checks

    assert (Health.CRITICAL, "could not check: the disk is on fire") == (
        found.health,
        found.message,
    )


@pytest.mark.parametrize("name", [each for each in CHECKS if each not in ("java", "spark")])
def test_nothing_is_healthy_that_could_not_be_looked_at(name):
    failure = RockyError("it could not be loaded")
    (found,) = examine(Subject(None, {}, failure=failure), [name]).checks

    assert Health.CRITICAL is found.health
    assert "it could not be loaded" in found.message


def test_an_error_in_the_settings_is_critical_and_one_elsewhere_a_warning(folder):
    (folder / "models").mkdir()
    (folder / "models/a.sql").write_text("SELECT 1 AS a")
    assert Health.HEALTHY is diagnose(folder, "config").health
    (folder / "models/a.toml").write_text("[strategy]\ntype = 'nope'\n")
    assert Health.WARNING is diagnose(folder, "config").health

    found = diagnose(folder, "config", f"{CONFIG}colour = 1\n")
    assert (Health.CRITICAL, "`rocky validate` shows them") == (found.health, found.fix)


def test_the_state_says_how_much_it_has_and_who_is_at_work(folder):
    assert diagnose(folder, "state").message.startswith("no state yet: ")
    with open_ledger(folder / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run())
        found = diagnose(folder, "state")

    assert found.message.endswith(
        f"has 1 runs and 0 watermarks; run `{run_id}` is running (process {os.getpid()})"
    )


def test_a_state_that_is_locked_is_a_warning(folder, monkeypatch):
    with open_ledger(folder / STATE_FILE):
        pass
    hasty = partial(open_history_reader, patience=0.05)
    monkeypatch.setattr("rocky.operations.health.health_checks.open_history_reader", hasty)
    with closing(sqlite3.connect(folder / STATE_FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        found = diagnose(folder, "state")

    assert Health.WARNING is found.health
    assert "is locked by another process" in found.message


@pytest.mark.parametrize(
    ("version", "health"), [(1, Health.HEALTHY), (3, Health.HEALTHY), (99, Health.CRITICAL)]
)
def test_only_a_newer_schema_is_critical(folder, version, health):
    with open_ledger(folder / STATE_FILE) as ledger, ledger.transaction() as rows:
        rows.put("metadata", "schema_version", str(version))
    found = diagnose(folder, "state_schema")

    assert (health, True) == (found.health, f"schema {version}" in found.message)


def test_a_folder_that_cannot_be_written_is_critical(folder, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    found = diagnose(folder, "state_rw")

    assert (Health.CRITICAL, True) == (found.health, "permission denied" in found.message)


def test_a_remote_state_that_cannot_be_reached_is_critical_and_hides_the_password(folder):
    config = (
        f'{CONFIG}[state]\nbackend = "valkey"\nvalkey_url = "redis://:hunter2@127.0.0.1:1/0"\n'
        "transfer_timeout_seconds = 1\n[state.retry]\nmax_retries = 0\n"
    )
    for name in ("state_sync", "state_rw"):
        found = diagnose(folder, name, config)
        assert Health.CRITICAL is found.health
        assert "hunter2" not in f"{found.message} {found.fix}"


def test_a_warehouse_that_is_a_file_or_cannot_be_made_is_critical(folder):
    assert Health.HEALTHY is diagnose(folder, "adapters").health
    (folder / "warehouse").write_text("")
    found = diagnose(folder, "adapters")

    assert Health.CRITICAL is found.health
    assert found.message.startswith("adapter `default`: ")


def test_a_warehouse_that_even_root_cannot_write_is_critical(folder):
    config = CONFIG.replace('"spark"', '"spark"\nwarehouse = "/proc/rocky"')
    found = diagnose(folder, "adapters", config)

    assert Health.CRITICAL is found.health
    assert found.message.startswith("adapter `default`: `/proc` cannot be written: ")


@pytest.mark.slow
def test_an_object_store_that_cannot_be_reached_is_critical(folder):
    config = CONFIG.replace('"spark"', '"spark"\nwarehouse = "s3://nowhere/x"')
    environment = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    found = diagnose(folder, "adapters", config, environment)

    assert Health.CRITICAL is found.health
    assert "hunter2" not in f"{found.message} {found.fix}"


def test_a_project_without_a_pipeline_is_a_warning(folder):
    assert Health.WARNING is diagnose(folder, "pipelines", '[adapter]\ntype = "spark"\n').health


def test_a_lake_that_is_not_there_is_critical_and_names_the_pipeline(folder):
    config = (
        '[adapter]\ntype = "spark"\n[pipeline.bronze]\ntype = "replication"\n'
        'strategy = "full_refresh"\n'
        '[pipeline.bronze.source]\npath = "lake"\n'
        '[pipeline.bronze.source.schema_pattern]\nprefix = "src__"\nseparator = "__"\n'
        'components = ["tenant"]\n'
        '[pipeline.bronze.target]\ncatalog_template = "c"\nschema_template = "{tenant}"\n'
    )
    found = diagnose(folder, "pipelines", config)
    assert Health.CRITICAL is found.health
    assert found.message.startswith("pipeline `bronze`: ")

    (folder / "lake").mkdir()
    assert Health.HEALTHY is diagnose(folder, "pipelines", config).health


def test_no_java_is_critical_with_how_to_install_one(folder, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(folder))
    monkeypatch.setattr("rocky.spark.java.java_of_wheel", lambda: None)
    found = diagnose(folder, "java")

    assert (Health.CRITICAL, True) == (found.health, found.fix.startswith("install Java 17"))


def test_no_java_is_needed_where_spark_runs_elsewhere(folder, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(folder))
    config = CONFIG.replace('"spark"', '"spark"\nremote = "sc://localhost"')

    assert Health.HEALTHY is diagnose(folder, "java", config).health


def test_a_folder_without_a_project_is_a_report_and_not_a_failure(tmp_path):
    found = doctor(Workspace(tmp_path), DoctorRequest(("config", "adapters")))

    assert Health.CRITICAL is found.health
    assert ["config"] == [each.name for each in found.checks]
    assert (0, 0, 1) == (found.summary.healthy, found.summary.warning, found.summary.critical)


def test_the_environment_of_the_workspace_is_the_one_that_counts(folder):
    (folder / "rocky.toml").write_text(CONFIG.replace('"spark"', '"spark"\nwarehouse = "${PLACE}"'))
    environment = {"PLACE": str(folder / "tables")}
    found = doctor(Workspace(folder, environment=environment), DoctorRequest(("adapters",)))

    assert [f"`{folder / 'tables'}` can be written"] == [each.message for each in found.checks]


def test_a_check_that_is_not_there_is_refused(folder):
    with pytest.raises(NothingSelected, match="no check `stat`; did you mean `state`"):
        doctor(Workspace(folder), DoctorRequest(("stat",)))


def test_the_cache_is_said_to_be_where_it_is(folder, tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    found = diagnose(folder, "cache")

    assert Health.HEALTHY is found.health
    assert found.message.startswith(f"in `{home}/rocky/projects/")
    assert [] == list(home.iterdir())


@pytest.mark.parametrize(
    ("home", "why"),
    [("/dev/null", "cannot be written"), ("", "lies in the repository of the project")],
)
def test_a_cache_that_cannot_be_is_a_warning(folder, monkeypatch, home, why):
    monkeypatch.setenv("XDG_CACHE_HOME", home or str(folder / ".cache"))
    found = diagnose(folder, "cache")

    assert Health.WARNING is found.health
    assert found.message.startswith("there is no cache: `")
    assert why in found.message


def test_secrets_on_a_spark_that_others_started_are_a_warning(folder):
    conf = '\n[adapter.conf]\n"spark.hadoop.my.place" = "${PLACE}"\n"spark.app.name" = "x"\n'
    remote = CONFIG.replace('"spark"\n', '"spark"\nremote = "sc://localhost"\n' + conf)
    found = diagnose(folder, "spark", remote, {"PLACE": "secret-value"})
    own = diagnose(folder, "spark", CONFIG.replace('"spark"\n', '"spark"\n' + conf), {"PLACE": "x"})

    assert Health.WARNING is found.health
    assert "`spark.hadoop.my.place`" in found.message
    assert "spark.redaction.regex" in found.fix
    assert "secret-value" not in found.message + found.fix
    assert Health.HEALTHY is own.health


def test_a_source_whose_path_is_not_there_is_critical_unless_a_run_may_make_it(folder):
    source = '[[source]]\nname = "raw.{0}"\nformat = "csv"\npath = "{1}"\n' + (
        'columns = [ {{ name = "id", type = "int" }} ]\n'
    )
    (folder / "sources").mkdir()
    (folder / "data").mkdir()
    (folder / "data/there.csv").write_text("id\n1\n")
    (folder / "sources/a.toml").write_text(source.format("there", "data/there.csv"))
    assert "1 source with a path is there" == diagnose(folder, "sources").message

    (folder / "sources/b.toml").write_text(source.format("gone", "data/gone.csv"))
    (folder / "sources/c.toml").write_text(source.format("made", "warehouse/made"))
    found = diagnose(folder, "sources")
    assert Health.CRITICAL is found.health
    assert (
        "source `raw.gone`: there is no data at `data/gone.csv` (`sources/b.toml:4:8`)"
        == found.message
    )
