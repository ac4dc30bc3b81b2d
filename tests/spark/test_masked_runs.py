"""Masks at the level `write`: no file of a run holds a clear value, or the key of hashes."""

import hmac
import json
import os
import subprocess
import sys
from pathlib import Path

import deltalake
import pyarrow.parquet as pq
import pytest

import rocky
from tests.spark.scripts import OWN_SPARK

pytestmark = pytest.mark.spark

KEY = "key-of-hashes-2f6c0e1b7d"
EMAILS = ("anna.smith@example.com", "bert.jones@example.com", "cara.brown@example.com")
STREETS = ("Privet Drive", "Baker Street", "Elm Row")
CLEAR = (*EMAILS, *STREETS, "1987-06-15", "1990-01-02", "1975-12-24", "+41 79 555")

CONFIG = """
[pipeline.shop]
type = "transformation"
[pipeline.shop.target]
schema = "shop"

[mask]
pii = "hash"
birth = "date_trunc(year)"
phone = "redact"

[mask.dev]
pii = "partial"

[governance]
hash_key = "${MASK_KEY}"
"""
SOURCE = """
[[source]]
name = "people"
path = "data/people.json"
format = "json"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "born", type = "date", classification = "birth" },
  { name = "phone", type = "string", classification = "phone" },
  { name = "address", type = "struct<street:string,city:string>" },
  { name = "mails", type = "array<string>", classification = "pii" },
  { name = "seen", type = "timestamp", nullable = false },
  { name = "day", type = "date", nullable = false },
]

[[source]]
name = "contacts"
path = "data/contacts.json"
format = "json"
columns = [ { name = "email", type = "string", classification = "pii" } ]
"""
COLUMNS = "id, email, born, phone, address, mails, seen, day"
MODELS = {
    "stage.sql": '---toml\n[strategy]\ntype = "ephemeral"\n---\n'
    "SELECT id, lower(email) AS email, born, phone, address, mails, seen, day FROM people\n",
    "whole.sql": f"SELECT {COLUMNS} FROM stage\n",
    "whole.toml": '[classification]\n"address.street" = "pii"\n',
    "merged.sql": '---toml\n[strategy]\ntype = "merge"\nunique_key = ["email"]\n---\n'
    "SELECT email, born, phone FROM stage\n",
    "grown.sql": '---toml\n[strategy]\ntype = "incremental"\ntimestamp_column = "seen"\n---\n'
    "SELECT id, email, seen FROM stage\n",
    "history.sql": '---toml\n[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n---\n'
    "SELECT id, email, phone FROM stage\n",
    "parts.sql": '---toml\n[strategy]\ntype = "delete_insert"\npartition_by = ["day"]\n---\n'
    "SELECT id, email, day FROM stage\n",
    "days.sql": '---toml\n[strategy]\ntype = "time_interval"\ntime_column = "day"\n'
    'granularity = "day"\nfirst_partition = "2026-11-10"\n---\n'
    "SELECT id, email, day FROM stage WHERE day >= @start_date AND day < @end_date\n",
    "batches.sql": '---toml\n[strategy]\ntype = "microbatch"\ntimestamp_column = "seen"\n'
    'granularity = "day"\n---\n'
    "SELECT id, email, seen FROM stage WHERE seen >= @start_date AND seen < @end_date\n",
    "again.sql": "SELECT w.id, w.email, m.phone FROM whole w JOIN merged m ON m.email = w.email\n",
    "coded.py": "def model(contacts):\n    return contacts.select('email')\n",
    "coded.toml": "[skip]\ndeterministic = true\n[inputs]\ncontacts = 'contacts'\n\n"
    '[[output]]\nname = "email"\ntype = "string"\n',
}


def row(number, email=None):
    return {
        "id": number,
        "email": email or EMAILS[number],
        "born": ("1987-06-15", "1990-01-02", "1975-12-24")[number],
        "phone": f"+41 79 555 0{number}",
        "address": {"street": STREETS[number], "city": "Bern"},
        "mails": [EMAILS[number], None],
        "seen": f"2026-11-1{number}T08:00:00Z",
        "day": f"2026-11-1{number}",
    }


def write_people(root, rows):
    (root / "data").mkdir(exist_ok=True)
    text = "".join(json.dumps(each) + "\n" for each in rows)
    (root / "data" / "people.json").write_text(text)
    contacts = "".join(json.dumps({"email": each["email"]}) + "\n" for each in rows)
    (root / "data" / "contacts.json").write_text(contacts)


@pytest.fixture
def shop(tmp_path):
    files = {"rocky.toml": CONFIG, "sources/people.toml": SOURCE}
    files |= {f"models/{name}": text for name, text in MODELS.items()}
    files["seeds/staff.csv"] = f"name,email\nAnna,{EMAILS[0]}\n"
    files["seeds/staff.toml"] = (
        'columns = [ { name = "email", type = "string", classification = "pii" } ]\n'
    )
    files["models/colleagues.sql"] = (
        "SELECT s.name, w.id FROM staff s JOIN whole w ON w.email = s.email\n"
    )
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    write_people(tmp_path, [row(0), row(1)])
    return tmp_path


def opened(root, spark, **others):
    return rocky.open(
        root, env={**os.environ, "MASK_KEY": KEY}, spark=spark, progress=False, **others
    )


def written_rows(root: Path, table: str) -> list[dict]:
    """Every row of every file of a table, those of earlier versions too."""
    folder = root / "warehouse" / "spark_catalog" / "shop" / table
    files = [each for each in folder.rglob("*.parquet") if not each.name.startswith("0-read")]
    return [row for each in files for row in pq.ParquetFile(each).read().to_pylist()]


def rows_now(root: Path, table: str) -> list[dict]:
    """The rows of a table's last version, as another reader sees them: `show` would hide values."""
    folder = root / "warehouse" / "spark_catalog" / "shop" / table
    return deltalake.DeltaTable(folder).to_pyarrow_table().to_pylist()


def find_clear(root: Path) -> list[str]:
    """The files of a project that hold a clear value or the key, but for what it reads."""
    found = []
    for each in sorted(root.rglob("*")):
        inside = each.relative_to(root).parts
        if not each.is_file() or inside[0] in ("data", "seeds", "models", "sources"):
            continue
        data = each.read_bytes()
        if each.suffix == ".parquet" and data[:4] == b"PAR1":
            data += str(pq.ParquetFile(each).read().to_pylist()).encode()
            data += str(pq.ParquetFile(each).metadata.to_dict()).encode()
        shown = [text for text in (*CLEAR, KEY) if text.encode() in data]
        if shown:
            found.append(f"{each.relative_to(root)}: {shown}")
    return found


def hashed(text):
    return hmac.new(KEY.encode(), text.encode(), "sha256").hexdigest()


def test_no_file_of_a_run_holds_a_clear_value_or_the_key(shop, spark):
    work = opened(shop, spark)
    first = work.run()
    assert first.succeeded, first
    assert work.run("days", full_refresh=True).succeeded
    write_people(shop, [row(0), row(1, "dora.white@example.com"), row(2)])
    second = work.run()
    assert second.succeeded, second

    assert [] == find_clear(shop)
    for table in (
        "whole",
        "merged",
        "grown",
        "history",
        "parts",
        "days",
        "batches",
        "again",
        "coded",
    ):
        emails = {each["email"] for each in written_rows(shop, table)}
        assert hashed(EMAILS[0]) in emails, table
        assert emails <= {hashed(each) for each in (*EMAILS, "dora.white@example.com")}, table
    (whole,) = [each for each in written_rows(shop, "whole") if each["id"] == 2]
    assert hashed(EMAILS[2]) == whole["mails"][0]
    assert whole["mails"][1] is None
    assert {"street": hashed(STREETS[2]), "city": "Bern"} == whole["address"]
    assert "1975-01-01" == str(whole["born"])
    assert "***" == whole["phone"]


def test_masked_columns_join_as_clear_ones_do(shop, spark):
    assert opened(shop, spark).run().succeeded

    assert {0, 1} == {each["id"] for each in written_rows(shop, "again")}
    assert [{"name": "Anna", "id": 0}] == written_rows(shop, "colleagues")


def test_another_mask_or_key_builds_again_and_the_same_does_not(shop, spark):
    names = ("whole", "grown")
    opened(shop, spark).run(*names)
    versions = len(written_rows(shop, "whole"))
    opened(shop, spark).run(*names)
    assert versions == len(written_rows(shop, "whole"))

    assert opened(shop, spark, mask_env="dev").run(*names).succeeded
    assert "an***om" in {each["email"] for each in written_rows(shop, "whole")}
    assert {"an***om", "be***om"} == {each["email"] for each in rows_now(shop, "grown")}


def test_a_table_that_was_written_clear_is_not_taken_for_masked(shop, spark):
    clear = CONFIG.replace('pii = "hash"', 'pii = "none"').replace(
        'pii = "partial"', 'pii = "none"'
    )
    (shop / "rocky.toml").write_text(clear)
    assert opened(shop, spark).run("whole", "merged").succeeded
    (shop / "rocky.toml").write_text(CONFIG)

    with pytest.raises(rocky.RockyError, match="written with other masks"):
        opened(shop, spark).run("again")


def test_rows_that_a_table_keeps_are_masked_too_when_the_mask_is_new(shop, spark):
    (shop / "rocky.toml").write_text(CONFIG.replace('pii = "hash"', 'pii = "none"'))
    assert opened(shop, spark).run("grown").succeeded
    (shop / "rocky.toml").write_text(CONFIG)
    assert opened(shop, spark).run("grown").succeeded

    now = rows_now(shop, "grown")
    assert {hashed(EMAILS[0]), hashed(EMAILS[1])} == {each["email"] for each in now}


def test_a_history_is_not_thrown_away_for_a_new_mask(shop, spark):
    (shop / "rocky.toml").write_text(CONFIG.replace('phone = "redact"', 'phone = "none"'))
    assert opened(shop, spark).run("history").succeeded
    (shop / "rocky.toml").write_text(CONFIG)

    with pytest.raises(rocky.RockyError, match="the masks of `history` changed"):
        opened(shop, spark).run("history")


def test_a_masked_run_can_be_replayed(shop, spark):
    assert opened(shop, spark).run("whole", "grown", "merged", "coded").succeeded
    report = opened(shop, spark).replay(execute=True)
    verdicts = {each.model: (str(each.verdict), each.reason) for each in report.models}
    assert {"bit_exact"} == {verdict for verdict, _ in verdicts.values()}, verdicts


def test_a_run_is_not_replayed_with_another_key(shop, spark):
    assert opened(shop, spark).run("whole").succeeded
    other = rocky.open(
        shop, env={**os.environ, "MASK_KEY": f"{KEY} too"}, spark=spark, progress=False
    )
    (model,) = other.replay(execute=True).models
    assert "hashed with a key" in str(model.reason)


@pytest.mark.slow
@pytest.mark.sampled(OWN_SPARK)
def test_event_logs_and_output_hold_no_clear_value_and_no_key(shop):
    (shop / "events").mkdir()
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (shop / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.ui.explainMode": "extended",
    }
    said = "".join(f'"{name}" = "{value}"\n' for name, value in conf.items())
    (shop / "rocky.toml").write_text(f"{CONFIG}\n[adapter.conf]\n{said}")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rocky.cli",
            "run",
            "whole",
            "merged",
            "history",
            "coded",
            "colleagues",
        ],
        cwd=shop,
        env={**os.environ, "MASK_KEY": KEY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    logs = [each for each in (shop / "events").rglob("*") if each.is_file()]
    assert any(b"rocky_keyed_hash" in each.read_bytes() for each in logs)

    assert [] == find_clear(shop)
    assert not any(text in done.stdout + done.stderr for text in (*CLEAR, KEY))
