"""What people and programs are told of the checks of a pipeline."""

from rocky.cli.render.checks import describe_findings, render_check_counts, render_checks
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome
from rocky.operations.execution.pipeline_report import report_checks
from rocky.operations.report import encode_report
from rocky.pipelines.report import ChecksResult, Sample

T = "lake.acme.orders"
OUTCOMES = (
    CheckOutcome(T, "row_count", "row_count", True, observed="3", expected="3"),
    CheckOutcome(T, "row_count", "row_count", False, observed="3", expected="4"),
    CheckOutcome(T, "c", "custom", False, severity="warning", expected="at most 0", error="no such column"),
    CheckOutcome(T, "not_null:id", "not_null", False, failing_rows=1),
    CheckOutcome(T, "freshness", "freshness", False, observed="no newest row", error="no row has a timestamp"),
)  # fmt: skip
ANOMALIES = (AnomalyRecord(T, "drop", 1, 100.0, 99.0, "1 rows, 99 % below the average"),)
SAMPLES = {(T, "not_null:id"): Sample(("id", "text"), ((None, "a\nb"),))}


def test_what_fails_is_a_line_and_what_passes_is_counted():
    assert """\
FAIL  lake.acme.orders  row_count: found 3, expected 4
WARN  lake.acme.orders  c: could not be answered, no such column
FAIL  lake.acme.orders  not_null:id: 1 failing row
      id    text
      NULL  a\\nb
FAIL  lake.acme.orders  freshness: found no newest row (no row has a timestamp)
WARN  lake.acme.orders  drop: 1 rows, 99 % below the average
checks: 3 failed, 1 warning, 1 anomaly, 1 passed""" == render_checks(OUTCOMES, ANOMALIES, SAMPLES)


def test_nothing_checked_is_nothing_said():
    assert ("", "") == (render_checks((), ()), render_check_counts((), ()))
    assert {"check_results": [], "anomalies": []} == encode_report(report_checks(ChecksResult()))


def test_one_of_a_kind_is_told_as_one():
    assert ["3 checks failed", "1 warning", "1 anomaly"] == describe_findings(OUTCOMES, ANOMALIES)
    assert ["1 check failed", "2 anomalies"] == describe_findings(OUTCOMES[:2], 2 * ANOMALIES)
    assert [] == describe_findings(OUTCOMES[:1], ())


def test_json_has_the_checks_by_table():
    found = encode_report(report_checks(ChecksResult(OUTCOMES[3:4], ANOMALIES, samples=SAMPLES)))

    assert {
        "check_results": [
            {
                "table": T,
                "checks": [
                    {
                        "name": "not_null:id",
                        "kind": "not_null",
                        "passed": False,
                        "severity": "error",
                        "observed": None,
                        "expected": None,
                        "failing_rows": 1,
                        "error": None,
                        "sample": {"columns": ["id", "text"], "rows": [[None, "a\nb"]]},
                    }
                ],
            }
        ],
        "anomalies": [
            {
                "table": T,
                "kind": "drop",
                "current_count": 1,
                "baseline_avg": 100.0,
                "deviation_pct": 99.0,
                "reason": "1 rows, 99 % below the average",
                "severity": "warning",
            }
        ],
    } == found


def test_what_a_check_is_about_is_under_it_when_it_fails():
    said = CheckOutcome(T, "c", "expression", False, failing_rows=1, description="nobody owes us")

    assert (
        "FAIL  lake.acme.orders  c: 1 failing row\n      nobody owes us\nchecks: 1 failed, 0 passed"
    ) == render_checks([said], ())
    (table,) = encode_report(report_checks(ChecksResult((said,))))["check_results"]
    assert "nobody owes us" == table["checks"][0]["description"]
