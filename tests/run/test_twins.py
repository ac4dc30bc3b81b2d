"""Masks at the level `twin`: a clear table in its own schema, a masked one in its place, both in each run."""

import signal
from pathlib import Path

import deltalake
import pyarrow.parquet as pq
import pytest

from rocky.errors import RunRefused
from rocky.ledger.run_records import RunStatus
from rocky.project.configuration.blocks import Adapter
from rocky.run.prepare.resources import RunParameters, announcements_for
from tests.processes import run_process
from tests.run import crash
from tests.run.runs import TABLE, Shop, statuses, verify

pytestmark = pytest.mark.slow

EMAILS = ("anna.smith@example.com", "bert.jones@example.com", "cara.brown@example.com")
CONFIG = """
[pipeline.shop]
models = "models/**"
[resilience]
initial_backoff_ms = 1
[mask]
pii = "redact"
[governance]
enforce = "twin"
restricted_schema = "restricted"
"""
SOURCE = """
[[source]]
name = "raw.people"
format = "csv"
path = "data/people.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
]
"""
FILES = {
    "rocky.toml": CONFIG,
    "sources/raw.toml": SOURCE,
    "data/people.csv": f"id,email\n1,{EMAILS[0]}\n2,{EMAILS[1]}\n",
    "data/orders.csv": "id,country\n1,DE\n",
    "seeds/countries.csv": "code,label\nDE,Germany\n",
    "seeds/staff.csv": f"name,email\nAnna,{EMAILS[0]}\n",
    "seeds/staff.toml": (
        'columns = [ { name = "email", type = "string", classification = "pii" } ]\n'
    ),
    "models/stg_orders.sql": "SELECT 1 AS one",
    "models/large.sql": "SELECT one FROM stg_orders",
    "models/by_country.sql": "SELECT one FROM stg_orders",
    "models/report.sql": "SELECT one FROM by_country",
    "models/people.sql": "SELECT id, email FROM raw.people",
    "models/grown.sql": "SELECT id, email FROM raw.people",
    "models/grown.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n',
    "models/merged.sql": "SELECT id, email FROM default.people",
    "models/merged.toml": '[strategy]\ntype = "merge"\nunique_key = ["email"]\n',
    "models/colleagues.sql": (
        "SELECT s.name, p.id FROM staff s JOIN people p ON p.email = s.email"
    ),
}
MORE = f"id,email\n1,{EMAILS[0]}\n2,{EMAILS[1]}\n3,{EMAILS[2]}\n"


@pytest.fixture
def shop(tmp_path) -> Shop:
    return Shop(tmp_path, FILES)


def rows(shop: Shop, schema: str, table: str) -> list[tuple]:
    folder = shop.root / "warehouse" / "spark_catalog" / schema / table
    found = deltalake.DeltaTable(folder).to_pyarrow_table().to_pylist()
    return sorted(tuple(each.values()) for each in found)


def find_clear(root: Path) -> list[str]:
    """The files outside the restricted schema that hold a clear value, but for what is read."""
    found = []
    for each in sorted(root.rglob("*")):
        inside = each.relative_to(root).parts
        if not each.is_file() or inside[0] in ("data", "seeds") or "restricted" in inside:
            continue
        data = each.read_bytes()
        if data[:4] == b"PAR1":
            data += str(pq.ParquetFile(each).read().to_pylist()).encode()
        found += [f"{each.relative_to(root)}: {text}" for text in EMAILS if text.encode() in data]
    return found


def decisions(report) -> dict[str, str | None]:
    return {each.step.name: each.execution.decision for each in report.outcomes}


def test_a_clear_table_is_restricted_and_a_masked_one_has_its_place(shop):
    report = shop.run()

    assert RunStatus.SUCCESS == report.status, statuses(report)
    clear = [(1, EMAILS[0]), (2, EMAILS[1])]
    for table in ("people", "grown", "merged"):
        assert clear == rows(shop, "restricted", table), table
        assert [(1, "***"), (2, "***")] == rows(shop, "default", table), table
    assert [("Anna", EMAILS[0])] == rows(shop, "restricted", "staff")
    assert [("Anna", "***")] == rows(shop, "default", "staff")
    assert [] == find_clear(shop.root)
    assert [] == verify(shop.root)


def test_models_read_the_clear_table_whichever_of_its_names_they_say(shop):
    shop.run()

    # `redact` would make every two people the same to a join or a key.
    assert [("Anna", 1)] == rows(shop, "default", "colleagues")
    assert 2 == len(rows(shop, "restricted", "merged"))
    assert not (shop.root / "warehouse/spark_catalog/restricted/colleagues").exists()


def test_what_is_unchanged_builds_neither_and_another_mask_only_the_twin(shop):
    shop.run()

    assert {"skip", "reuse"} >= {*decisions(shop.run()).values()} - {None}
    opened = shop.opened
    shop.run()
    assert opened == shop.opened

    shop.write("rocky.toml", CONFIG.replace('"redact"', '"truncate(2)"'))
    built = [name for name, how in decisions(shop.run()).items() if how == "build"]

    assert {"people__masked", "grown__masked", "merged__masked", "staff__masked"} == set(built)
    assert [(1, "an"), (2, "be")] == rows(shop, "default", "people")
    assert [] == verify(shop.root)


def test_a_selected_model_brings_its_twin(shop):
    shop.run()
    shop.write("data/people.csv", MORE)

    assert {"grown", "grown__masked"} == set(statuses(shop.run("grown")))
    assert 3 == len(rows(shop, "default", "grown"))
    shop.write("seeds/staff.csv", f"name,email\nBert,{EMAILS[1]}\n")
    # A seed that a model reads is loaded with it, and shown masked with it.
    assert {"colleagues", "staff", "staff__masked"} == set(statuses(shop.run("colleagues")))
    assert [("Bert", "***")] == rows(shop, "default", "staff")


@pytest.mark.parametrize("point", ["after commit", "after record", "after write"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_run_that_dies_between_the_two_commits_is_repaired_by_the_next(shop, point, times):
    shop.run()
    shop.write("data/people.csv", MORE)
    before = rows(shop, "default", "people")

    code, _, said = run_process(_die, str(shop.root), point, times)
    assert -signal.SIGKILL == code, said
    # Whatever was committed, what is open is masked, and not newer than what is clear.
    assert [] == find_clear(shop.root)
    assert len(before) <= len(rows(shop, "default", "people"))
    assert len(rows(shop, "default", "people")) <= len(rows(shop, "restricted", "people"))
    report = shop.run()

    assert RunStatus.SUCCESS == report.status, statuses(report)
    for table in ("people", "grown", "merged"):
        assert [(each, "***") for each in (1, 2, 3)] == rows(shop, "default", table), table
        assert 3 == len(rows(shop, "restricted", table)), table
    assert [] == verify(shop.root)


def _die(root: str, point: str, times: int) -> None:
    data = Path(root, "data/people.csv").read_text()
    when, _, name = point.partition(" ")
    owner, attribute = crash.POINTS[name]
    function = getattr(owner, attribute)
    setattr(owner, attribute, crash.dying(function, times, before=when == "before"))
    Shop(Path(root), FILES | {"data/people.csv": data}).run("people", "grown", "merged")


def test_a_table_that_was_written_masked_is_moved_and_its_place_shown_by_a_twin(shop):
    shop.write("rocky.toml", CONFIG.replace('"twin"', '"write"'))
    assert RunStatus.SUCCESS == shop.run("people", "grown").status
    assert [(1, "***"), (2, "***")] == rows(shop, "default", "grown")

    shop.write("rocky.toml", CONFIG)
    assert RunStatus.SUCCESS == shop.run("people", "grown").status

    assert [(1, EMAILS[0]), (2, EMAILS[1])] == rows(shop, "restricted", "grown")
    assert [(1, "***"), (2, "***")] == rows(shop, "default", "grown")
    assert [] == verify(shop.root)


def test_a_history_is_not_replaced_by_a_twin_unasked(shop):
    shop.write("models/history.sql", "SELECT id, email FROM raw.people")
    shop.write("models/history.toml", '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n')
    shop.write("rocky.toml", CONFIG.replace('"twin"', '"write"'))
    shop.run("history")
    shop.write("rocky.toml", CONFIG)

    with pytest.raises(RunRefused, match="rows of `history` that cannot be made again"):
        shop.run("history")
    assert not (shop.root / "warehouse/spark_catalog/restricted/history").exists()

    refreshed = shop.run("history", options=RunParameters(parallel=1, full_refresh=True))
    assert RunStatus.SUCCESS == refreshed.status
    assert EMAILS[:2] == tuple(each[1] for each in rows(shop, "restricted", "history"))
    assert {"***"} == {each[1] for each in rows(shop, "default", "history")}


VIEWS = CONFIG.replace('"twin"', '"view"') + "[adapter]\nregister = true\n"


@pytest.fixture
def shown(tmp_path) -> Shop:
    """The same, shown by views of a catalogue."""
    shop = Shop(tmp_path, FILES | {"rocky.toml": VIEWS})
    shop.announce = announcements_for(Adapter(type="spark", register=True))
    return shop


def test_a_masked_view_of_the_catalogue_has_the_place_of_a_clear_table(shown):
    report = shown.run()

    assert RunStatus.SUCCESS == report.status, statuses(report)
    assert 2 == len(rows(shown, "restricted", "people"))
    assert not (shown.root / "warehouse/spark_catalog/default/people").exists()
    for table in ("people", "grown", "merged", "staff"):
        found = " ".join(shown.engine.catalogue.registered[f"{TABLE}{table}"].split())
        assert f"FROM `spark_catalog`.`restricted`.`{table}`" in found
        assert found.startswith("SELECT `id`" if table != "staff" else "SELECT `name`")
        assert "'***'" in found.partition(" AS `email` FROM (")[0]


def test_another_mask_makes_another_view_and_builds_no_table(shown):
    shown.run()
    shown.write("rocky.toml", VIEWS.replace('"redact"', '"truncate(2)"'))

    report = shown.run()

    found = shown.engine.catalogue.registered[f"{TABLE}people"]
    assert "left(`email`, 2) AS `email`" in found
    built = {name for name, how in decisions(report).items() if how == "build"}
    assert not built & {"people", "grown", "merged"}


def test_a_view_that_cannot_be_put_in_place_fails_the_run(shown, monkeypatch):
    refused = lambda *_: "the catalogue `spark_catalog` holds no views"  # noqa: E731
    monkeypatch.setattr(type(shown.engine.catalogue), "register_view", refused)

    report = shown.run("people")

    assert {"people": "success", "people__masked": "failed"} == statuses(report)
    assert any("would not show" in str(each.execution.error) for each in report.outcomes)


VISITS = """
[[source]]
name = "raw.visits"
format = "csv"
path = "data/visits.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "day", type = "date", nullable = false },
  { name = "seen", type = "timestamp", nullable = false },
]
"""
STRATEGIES = {
    "parts": ('type = "delete_insert"\npartition_by = ["id"]', ""),
    "days": (
        'type = "time_interval"\ntime_column = "day"\ngranularity = "day"\n'
        'first_partition = "2026-01-28"',
        " WHERE day >= @start_date AND day < @end_date",
    ),
    "batches": (
        'type = "microbatch"\ntimestamp_column = "seen"\ngranularity = "day"',
        " WHERE seen >= @start_date AND seen < @end_date",
    ),
    "history": ('type = "snapshot"\nunique_key = ["id"]', ""),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_table_of_any_strategy_is_shown_as_it_grows(shop, name):
    settings, bounds = STRATEGIES[name]
    shop.write("sources/visits.toml", VISITS)
    shop.write(f"models/{name}.sql", f"SELECT id, email, day, seen FROM raw.visits{bounds}")
    shop.write(f"models/{name}.toml", f"[strategy]\n{settings}\n")
    lines = [
        f"{number},{email},2026-01-{29 + number},2026-01-{29 + number}T08:00:00\n"
        for number, email in enumerate(EMAILS)
    ]
    for many in (2, 3):
        shop.write("data/visits.csv", "id,email,day,seen\n" + "".join(lines[:many]))
        report = shop.run(name)
        assert RunStatus.SUCCESS == report.status, statuses(report)

    clear = rows(shop, "restricted", name)
    assert set(EMAILS) >= {each[1] for each in clear} != set()
    assert [(each[0], "***", *each[2:]) for each in clear] == rows(shop, "default", name)
    assert [] == find_clear(shop.root)
    assert [] == verify(shop.root)
