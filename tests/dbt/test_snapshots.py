"""A snapshot of dbt's says how its versions come about here."""

from rocky.dbt.settings import snapshot_strategy


def test_a_snapshot_by_time_keeps_its_time():
    config = {"unique_key": "id", "strategy": "timestamp", "updated_at": "at"}
    setting, said = snapshot_strategy({**config, "hard_deletes": "invalidate"})

    assert {
        "type": "snapshot",
        "unique_key": ["id"],
        "updated_at": "at",
        "invalidate_hard_deletes": True,
    } == setting
    assert 1 == len(said)


def test_a_snapshot_of_some_columns_says_that_all_columns_count_and_what_to_do():
    config = {"unique_key": ["id"], "strategy": "check", "check_cols": ["price", "size"]}
    setting, (_, said) = snapshot_strategy(config)

    assert {"type": "snapshot", "unique_key": ["id"]} == setting
    assert "in dbt when one of `check_cols` has: `price`, `size`." in said.text
    assert "Leave columns out of the query that should not count" in said.text


def test_a_snapshot_of_all_columns_is_the_same():
    _, said = snapshot_strategy({"unique_key": "id", "strategy": "check", "check_cols": "all"})

    assert 1 == len(said)
