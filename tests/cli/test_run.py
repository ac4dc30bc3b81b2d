"""What `rocky run` refuses or warns of before Spark starts. Whole runs are in tests/spark."""

import pytest


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run nosuch", "no model `nosuch`"),
        ("run --pipeline shopp", "did you mean `shop`?"),
        ("run --target other", "no adapter `other`"),
        ("run --partition 2025-01-01 --latest", "cannot be used together"),
        ("run --full-refresh --partition 2025-01-01", "builds every time interval"),
        ("run --from 2025-01-01", "no selected model has the strategy `time_interval`"),
        ("run --parallel 0", "not in the range"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_nothing_is_written(rocky, shop, line, said):
    answer = rocky(*line.split(), "-o", "table")

    assert 1 == answer.code
    assert said in answer.err
    assert not (shop / "warehouse").exists()


def test_an_error_in_the_selection_is_shown_and_nothing_is_written(rocky, shop):
    (shop / "models/staging/stg_orders.sql").write_text("SELECT nope FROM raw.orders\n")

    answer = rocky("run", "fct_revenue", "-o", "table")

    assert 1 == answer.code
    assert "E003" in answer.err
    assert "nothing was run, nothing was written" in answer.err
    assert not (shop / ".rocky-state.db").exists()


def test_a_state_that_cannot_be_fetched_stops_a_strict_run_before_spark_starts(rocky, shop):
    config = shop / "rocky.toml"
    config.write_text(
        config.read_text()
        + '\n[state]\nbackend = "valkey"\nvalkey_url = "redis://127.0.0.1:1"\n'
        + 'on_upload_failure = "fail"\ntransfer_timeout_seconds = 1\nretry = { max_retries = 0 }\n'
    )

    answer = rocky("run", "-o", "table")

    assert 1 == answer.code
    assert "remote state" in answer.err
    assert not (shop / ".rocky-state.db").exists()


def test_a_time_interval_that_is_none_is_refused_before_spark_starts(rocky, shop):
    (shop / "models/days.sql").write_text(
        "SELECT ordered_at AS at FROM raw.orders"
        " WHERE ordered_at >= @start_date AND ordered_at < @end_date\n"
    )
    (shop / "models/days.toml").write_text(
        '[strategy]\ntype = "time_interval"\ntime_column = "at"\ngranularity = "day"\n'
        'first_partition = "2025-01-01"\n'
    )
    reversed_range = rocky("run", "days", "--from", "2025-02-01", "--to", "2025-01-01")
    no_day = rocky("run", "days", "--partition", "2025-13-01")

    assert (1, 1) == (reversed_range.code, no_day.code)
    assert "the end comes first" in reversed_range.err
    assert "is not a partition of one day" in no_day.err


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("rocky.toml", '\n[governance]\nenforce = "catalog"\n', "`catalog` needs a catalogue"),
        ("models/staging/stg_orders.toml", "\n[governance]\n", "`[governance]` is not supported"),
    ],
)
@pytest.mark.parametrize("line", ["run stg_orders", "plan stg_orders", "compile", "validate"])
def test_a_setting_that_no_run_acts_on_is_refused(rocky, shop, line, file, text, said):
    path = shop / file
    path.write_text(path.read_text() + text)

    answer = rocky(*line.split(), "-o", "table")

    assert 1 == answer.code
    assert said in answer.out + answer.err
