from rocky.ledger.run_records import BudgetBreach
from rocky.plan.budget import BudgetVerdict, Usage, check_budgets, inherit_action
from rocky.project.configuration.model import Budget


def used(budget: Budget, usd=None, duration_ms=None, bytes_scanned=None, model=None) -> Usage:
    return Usage(budget, model, usd, duration_ms, bytes_scanned)


def test_a_ceiling_that_is_reached_exactly_is_kept():
    budget = Budget(max_usd=1.0, max_duration_ms=100, max_bytes_scanned=10)

    assert BudgetVerdict() == check_budgets([used(budget, 1.0, 100, 10)])


def test_every_ceiling_that_is_exceeded_is_a_breach():
    budget = Budget(max_usd=1.0, max_duration_ms=100, max_bytes_scanned=10)

    verdict = check_budgets([used(budget, 1.5, 101, 11, "m")])

    assert (
        BudgetBreach("max_usd", 1.0, 1.5, "m"),
        BudgetBreach("max_duration_ms", 100, 101, "m"),
        BudgetBreach("max_bytes_scanned", 10, 11, "m"),
    ) == verdict.breaches
    assert not verdict.fails


def test_a_breach_fails_the_run_where_the_budget_says_so():
    verdict = check_budgets([used(Budget(max_duration_ms=1, on_breach="error"), duration_ms=2)])

    assert verdict.fails


def test_what_was_not_measured_is_no_breach_but_is_said():
    budget = Budget(max_usd=1.0, max_bytes_scanned=10, on_breach="error")

    verdict = check_budgets([used(budget), used(budget, model="m")])

    assert not verdict.fails
    assert (
        "`max_usd` of the run was not checked: set `compute_cost_per_core_hour` or "
        "`scan_cost_per_tb` in `[cost]`",
        "`max_bytes_scanned` of the run was not checked: Spark did not say what was used",
    ) == verdict.unchecked[:2]
    assert "of `m` was" in verdict.unchecked[2]


def test_a_model_takes_the_projects_action_unless_it_chooses_one():
    project = Budget(on_breach="error")

    assert "error" == inherit_action(Budget(max_usd=1), project).on_breach
    assert "warn" == inherit_action(Budget(on_breach="warn"), project).on_breach
