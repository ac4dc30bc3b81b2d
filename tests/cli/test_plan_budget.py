"""Budgets at the plan and at the run: E027 when the estimate or what was used exceeds one."""

import pytest

from tests.cli.kept_plans import KeptPlans
from tests.cli.test_schemas import check

ERROR = '[budget]\nmax_bytes_scanned = 10\non_breach = "error"\n'
WARN = "[budget]\nmax_bytes_scanned = 10\n"


@pytest.fixture
def kept(tmp_path, rocky, monkeypatch) -> KeptPlans:
    """A shop whose engine says that every build reads a gigabyte."""
    return KeptPlans(tmp_path, rocky, monkeypatch)


@pytest.mark.slow
def test_an_estimate_is_the_mean_of_the_last_builds_and_says_of_how_many(kept):
    for _ in range(3):
        kept.rocky("run", "alone", "--force-rebuild")
    kept.rocky("run", "alone")
    built = [run.models_executed[0].duration_ms for run in kept.records()[1:]]

    estimate = kept.rocky("plan", "alone", "--force-rebuild", "-o", "json").json["estimate"]

    mean = round(sum(built) / 3)
    assert {"duration_ms": mean, "bytes_scanned": 10**9, "from_runs": 3} == (
        estimate["models"]["alone"]
    )
    assert (mean, 10**9) == (estimate["duration_ms"], estimate["bytes_scanned"])


@pytest.mark.slow
def test_only_as_many_builds_count_as_the_settings_say(kept):
    kept.append("rocky.toml", "[cost]\nmin_history_runs = 2\n")
    for _ in range(3):
        kept.rocky("run", "alone", "--force-rebuild")

    estimate = kept.rocky("plan", "alone", "--force-rebuild", "-o", "json").json["estimate"]

    assert 2 == estimate["models"]["alone"]["from_runs"]


def test_what_was_never_built_has_no_estimate_and_is_not_taken_for_nothing(kept):
    kept.append("rocky.toml", ERROR)
    kept.write("models/alone.toml", "[budget]\nmax_bytes_scanned = 1\n")

    answer = kept.rocky("plan", "alone", "-o", "json")

    assert 0 == answer.code
    assert {"without": ["alone"], "models": {}} == answer.json["estimate"]
    assert [
        "`max_bytes_scanned` of the run was not estimated: nothing is known of `alone`;"
        " no build of it is recorded",
        "`max_bytes_scanned` of `alone` was not estimated: no build of it is recorded",
    ] == answer.json["budget_unchecked"]
    assert "note: `max_bytes_scanned` of the run was not estimated" in answer.err


def test_a_run_that_is_estimated_in_part_says_without_which(kept):
    kept.append("rocky.toml", "[budget]\nmax_bytes_scanned = 10000000000\n")
    kept.rocky("run", "alone")

    answer = kept.rocky("plan", "--force-rebuild", "-o", "json")

    (said,) = answer.json["budget_unchecked"]
    assert "`max_bytes_scanned` of the run was estimated in part: nothing is known of" in said


@pytest.mark.slow
def test_an_estimate_over_budget_fails_the_plan_which_is_kept_and_not_applied(kept):
    kept.rocky("run", "stg_orders")
    kept.append("rocky.toml", ERROR)

    answer = kept.rocky("plan", "stg_orders", "--force-rebuild", "-o", "json")
    shown = kept.rocky("plan", "stg_orders", "--force-rebuild", "-o", "table")
    applied = kept.rocky("apply", answer.json["plan_id"])

    (found,) = answer.json["budget_diagnostics"]
    assert (1, True) == (answer.code, answer.json["has_budget_errors"])
    assert ("E027", "error", "max_bytes_scanned") == tuple(
        found[each] for each in ("code", "severity", "limit_type")
    )
    assert [] == check(answer.json, "plan")
    assert "error[E027]: the run is estimated to exceed `max_bytes_scanned` = 10: " in shown.err
    assert "it is over budget, and `rocky apply` refuses it" in shown.err
    assert kept.kept(answer.json["plan_id"])["outlook"]["has_budget_errors"]
    assert 1 == applied.code
    assert "is over budget (E027), so nothing was run" in applied.err
    assert 1 == len(kept.records())


@pytest.mark.slow
def test_a_plan_over_budget_is_refused_also_when_its_mark_was_rubbed_out(kept):
    kept.rocky("run", "stg_orders")
    kept.append("rocky.toml", ERROR)
    plan_id = kept.rocky("plan", "stg_orders", "--force-rebuild", "-o", "json").json["plan_id"]
    kept.edit(plan_id, lambda document: document.update(outlook={}))

    assert "is over budget (E027)" in kept.rocky("apply", plan_id).err


@pytest.mark.slow
def test_an_estimate_over_a_budget_that_warns_warns(kept):
    kept.rocky("run", "stg_orders")
    kept.append("rocky.toml", WARN)

    answer = kept.rocky("plan", "stg_orders", "--force-rebuild", "-o", "json")

    assert (0, False) == (answer.code, answer.json["has_budget_errors"])
    assert "warning[E027]: the run is estimated to exceed" in answer.err
    assert 0 == kept.rocky("apply", answer.json["plan_id"]).code


def test_a_models_own_budget_is_held_against_its_estimate(kept):
    kept.write("models/stg_orders.toml", '[budget]\nmax_bytes_scanned = 10\non_breach = "error"\n')
    kept.rocky("run", "stg_orders")

    answer = kept.rocky("plan", "stg_orders", "--force-rebuild", "-o", "json")

    (found,) = answer.json["budget_diagnostics"]
    assert (1, "stg_orders", 1) == (answer.code, found["model"], found["from_runs"])
    assert "`stg_orders` is estimated to exceed `max_bytes_scanned` = 10" in found["message"]
    assert "its last build" in found["message"]


def test_what_would_be_reused_costs_nothing(kept):
    kept.rocky("run", "stg_orders")
    kept.append("rocky.toml", ERROR)

    answer = kept.rocky("plan", "stg_orders", "-o", "json")

    assert (0, 0) == (answer.code, answer.json["estimate"]["bytes_scanned"])


def test_a_run_over_budget_says_e027_and_fails(kept):
    kept.append("rocky.toml", ERROR)

    answer = kept.rocky("run", "stg_orders", "-o", "json")

    (found,) = answer.json["budget_breaches"]
    assert 1 == answer.code
    assert [] == check(answer.json, "run")
    assert ("E027", "error") == (found["code"], found["severity"])
    assert "error[E027]: the run exceeded `max_bytes_scanned` = 10: " in answer.err


def test_only_a_breach_that_is_an_error_is_called_one(kept):
    kept.append("rocky.toml", WARN)
    kept.write("models/stg_orders.toml", '[budget]\nmax_bytes_scanned = 10\non_breach = "error"\n')

    answer = kept.rocky("run", "stg_orders")

    assert 1 == answer.code
    assert "warning[E027]: the run exceeded" in answer.err
    assert "error[E027]: `stg_orders` exceeded" in answer.err


def test_e027_is_explained_for_the_plan_and_for_the_run(kept):
    said = kept.rocky("explain", "E027", "-o", "table").out

    assert "`rocky plan` reports it for an estimate" in said
    assert "`rocky run` for what was used" in said


@pytest.mark.slow
def test_what_a_plan_cannot_estimate_is_counted_in_its_last_line(kept):
    kept.rocky("run", "alone")

    one = kept.rocky("plan", "alone", "stg_orders", "--force-rebuild", "-o", "table").out
    more = kept.rocky(
        "plan", "alone", "stg_orders", "by_country", "--force-rebuild", "-o", "table"
    ).out

    assert "; 1 of them has no estimate\n" in one
    assert "; 3 of them have no estimate\n" in more
