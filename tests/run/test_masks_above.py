"""Tables behind a masked one: their values were masked there, so another mask there is another here."""

import pytest

from rocky.errors import InputNotBuilt, RunRefused
from rocky.ledger.run_records import RunStatus
from tests.run.runs import Shop, statuses, verify
from tests.run.test_twins import EMAILS, FILES, find_clear, rows

pytestmark = pytest.mark.slow

CLEAR = '[pipeline.shop]\nmodels = "models/**"\n'
MASKED = f'{CLEAR}[mask]\npii = "redact"\n'
LATER = f"id,email\n3,{EMAILS[2]}\n"
STRATEGIES = {
    "incremental": 'type = "incremental"\ntimestamp_column = "id"',
    "merge": 'type = "merge"\nunique_key = ["id"]',
}


@pytest.fixture
def shop(tmp_path) -> Shop:
    """`down` takes its addresses from the table `people`, through a query without a table."""
    files = {
        "models/stage.sql": "SELECT id, email FROM people",
        "models/stage.toml": '[strategy]\ntype = "ephemeral"\n',
        "models/down.sql": "SELECT id, email FROM stage",
        "models/down.toml": f"[strategy]\n{STRATEGIES['merge']}\n",
    }
    return Shop(tmp_path, {**FILES, **files, "rocky.toml": CLEAR})


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("runs", [[("people", "down")], [("people",), ("down",)]])
def test_rows_from_before_a_mask_do_not_stay_behind_the_table_that_masks(shop, strategy, runs):
    shop.write("models/down.toml", f"[strategy]\n{STRATEGIES[strategy]}\n")
    shop.run("people", "down")
    assert [(1, EMAILS[0]), (2, EMAILS[1])] == rows(shop, "default", "down")

    shop.write("rocky.toml", MASKED)
    shop.write("data/people.csv", LATER)
    for selected in runs:
        report = shop.run(*selected)
        assert RunStatus.SUCCESS == report.status, statuses(report)

    assert [(3, "***")] == rows(shop, "default", "down")
    shop.write("data/people.csv", "id,email\n4,x@example.com\n")
    shop.run("people", "down")
    # Masked as it is now, it keeps its rows.
    assert [(3, "***"), (4, "***")] == rows(shop, "default", "down")
    assert [] == verify(shop.root)


def test_a_table_that_is_clear_because_what_it_read_was_is_not_read_as_masked(shop):
    shop.run("people", "down")
    shop.write("rocky.toml", MASKED)
    shop.run("people")
    shop.write("models/last.sql", "SELECT email FROM down")

    with pytest.raises(InputNotBuilt, match="`down` was written with other masks"):
        shop.run("last")

    assert RunStatus.SUCCESS == shop.run("down", "last").status
    assert [("***",), ("***",)] == rows(shop, "default", "last")
    assert RunStatus.SUCCESS == shop.run("last").status


def test_a_mask_of_equal_rows_leaves_nothing_that_only_a_refresh_would_mend(shop):
    shop.write("data/people.csv", "id,email\n1,\n")
    shop.write("models/last.sql", "SELECT email FROM down")
    shop.write("rocky.toml", MASKED)
    shop.run("people", "down", "last")
    shop.write("rocky.toml", MASKED.replace("redact", "truncate(2)"))

    assert RunStatus.SUCCESS == shop.run("people").status
    assert RunStatus.SUCCESS == shop.run("down").status
    assert RunStatus.SUCCESS == shop.run("last").status


def test_a_history_behind_a_table_that_is_masked_otherwise_is_not_loaded_anew_unasked(shop):
    shop.write("models/down.toml", '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n')
    shop.run("people", "down")
    shop.write("rocky.toml", MASKED)

    with pytest.raises(RunRefused, match="the masks of `down` changed"):
        shop.run("people", "down")


def test_a_history_behind_a_masked_table_takes_new_columns(shop):
    shop.write("rocky.toml", MASKED)
    shop.write("models/down.toml", '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n')
    shop.run("people", "down")
    shop.write("models/down.sql", "SELECT id, email, lower(email) AS login FROM stage")

    report = shop.run("people", "down")

    assert RunStatus.SUCCESS == report.status, statuses(report)
    assert [] == find_clear(shop.root)


def test_a_mask_that_is_taken_away_above_leaves_no_masked_rows_behind_it(shop):
    shop.write("rocky.toml", MASKED)
    shop.run("people", "down")
    shop.write("rocky.toml", CLEAR)

    shop.run("people", "down")

    assert [(1, EMAILS[0]), (2, EMAILS[1])] == rows(shop, "default", "down")
