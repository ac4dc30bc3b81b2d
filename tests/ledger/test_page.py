"""What the page about the ledger says can be done with it."""

import re
import sqlite3
from contextlib import closing

from rocky.ledger.run_records import ArtifactRecord, RunStatus
from rocky.ledger.schema import TABLES
from rocky.ledger.writer import ModelRecords
from tests.ledger.conftest import START, a_model, a_run


def page(repository):
    return (repository / "docs/concepts/ledger.md").read_text()


def test_every_query_on_the_page_finds_something(repository, ledger, path):
    run_id = ledger.begin_run(a_run())
    artifact = ArtifactRecord("ab", run_id, "fct_revenue", "t/ab.parquet", 1, 806, START)
    ledger.record_models(run_id, [ModelRecords(a_model(), [artifact])])
    ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    queries = re.findall(r'^sqlite3 \.rocky-state\.db "(.+)"$', page(repository), re.MULTILINE)
    with closing(sqlite3.connect(path)) as connection:
        found = [connection.execute(query).fetchall() for query in queries]

    assert [
        [(run_id, "Success")],
        [("ab", "t/ab.parquet")],
        [(run_id, "fct_revenue", 14820)],
        [(f"{ledger.head().seq:012d}", ledger.head().entry_hash)],
    ] == found


def test_the_page_names_every_table(repository):
    text = page(repository)

    assert [] == [name for name in TABLES if f"`{name}`" not in text]
