"""The views of a project that has a past: what they say of drift, checks, sizes, runs and branches."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocky.operations.workspace import Workspace
from rocky.web.server import PageServer
from tests.branches.shops import BranchShop, enter_shop
from tests.servers.browser import Page, open_browser
from tests.web.pasts import ORDERS, make_past
from tests.web.servers import ask, serving
from tests.web.test_page import AUDIT, AXE, show, visit

pytestmark = [pytest.mark.slow, pytest.mark.server]

WEEK_AND_A_BIT = 8 * 24 * 3600 * 1000


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[PageServer]:
    root = tmp_path_factory.mktemp("past") / "shop"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        enter_shop(root, patch)
        patch.setenv("UNITY_TOKEN", "none")
        make_past(BranchShop(root))
        with serving(Workspace(root, environment=os.environ)) as found:
            yield found


@pytest.fixture(scope="module")
def page(server, tmp_path_factory) -> Iterator[Page]:
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield visit(browser, server, width=1280)


def answer(server: PageServer, question: str) -> Any:
    found = ask(server, f"/api/v1/{question}")
    assert 200 == found.status, found.body
    return found.document


def rows(page: Page, label: str) -> list[list[str]]:
    """The cells of a table on the page, as they are read."""
    return page.ask(
        f"[...document.querySelectorAll('table[aria-label=\"{label}\"] tbody tr')].map((row) =>"
        " [...row.cells].map((cell) => cell.innerText.trim().replace(/\\s+/g, ' ')))"
    )


def text(page: Page, selector: str = "main") -> str:
    return page.ask(f"document.querySelector('{selector}').innerText")


def runs_of(server: PageServer, pipeline: str) -> list[Any]:
    return [run for run in answer(server, "history")["runs"] if run.get("pipeline") == pipeline]


# ------------------------------------------------------------------ what the views stand on


def test_history_says_how_the_source_of_a_copy_differed(server):
    drift = [
        (each["column"], each["grade"])
        for run in runs_of(server, "bronze")
        for model in run["models"]
        for each in model.get("drift", ())
    ]

    assert [("device", "add"), ("channel", "add")] == drift


def test_counts_are_told_oldest_first(server):
    found = answer(server, f"counts?tables={ORDERS}")["tables"]

    assert [(ORDERS, [100, 120, 140, 540])] == [
        (each["table"], [one["count"] for one in each["counts"]]) for each in found
    ]


def test_a_branch_says_what_a_promotion_does_to_columns(server):
    found = answer(server, "branch?branch=totals")["tables"]

    assert {
        "by_country": [("cities", "column_added", "info")],
        "revenue": [("city", "column_removed", "breaking")],
    } == {
        each["target"].rpartition(".")[2]: [
            (one["column"], one["rule"], one["impact"]) for one in each["columns"]
        ]
        for each in found
        if each.get("columns")
    }


def test_approvals_name_what_breaks_readers(server):
    found = answer(server, "approvals?branch=totals")

    assert ["revenue.city: column_removed"] == found["breaking"]
    assert ["bad_signature"] == [each["reason"] for each in found["rejected"]]


def test_no_replay_is_promised_of_a_table_that_its_last_run_held(server):
    found = answer(server, "overlay?name=replay")
    tables = [each["name"] for each in answer(server, "project")["tables"]]
    told = {
        tables[place]: (found["states"][state]["name"], words)
        for place, state, words, *_ in found["tables"]
    }

    last, built = runs_of(server, "shop")[0]["run_id"], runs_of(server, "shop")[-1]["run_id"]
    held = f"held in {last}, built by {built}"
    assert ("not built by its last run", held) == told["stg_orders"]
    assert "can be built again" == told["contacts"][0]


# ------------------------------------------------------------------ what people see


def test_checks_of_the_last_week_are_told_with_warnings_apart(page):
    show(page, "checks")

    failed = rows(page, "Failed in the last week")
    assert [
        (ORDERS, "null_rate:note", "failed"),
        ("stg_orders", "not_null:country only warns", "warning 2 times"),
    ] == [(table, check, result) for table, check, result, *_ in failed]
    verdict = text(page, "main .verdict")
    assert "1 time a check failed, 2 times one warned" in verdict
    assert [
        ["device", "new, string", "add column"],
        ["channel", "new, string", "add column"],
    ] == [row[2:5] for row in rows(page, "Changes of sources")]
    sizes = page.ask("document.querySelector('main .charts [role=img]').ariaLabel")
    assert f"{ORDERS}, oldest first: 100 rows, 120 rows, 140 rows, 540 rows (spike)" == sizes


def test_a_check_that_failed_longer_ago_than_a_week_is_not_of_it(page):
    page.ask(f"Date.now = ((now) => () => now() + {WEEK_AND_A_BIT})(Date.now), true")
    show(page, "checks")

    assert "Nothing has run." == text(page, "main .verdict")
    assert [] == rows(page, "Failed in the last week")
    page.ask(f"Date.now = ((now) => () => now() - {WEEK_AND_A_BIT})(Date.now), true")


def test_the_last_runs_of_the_overview_lead_to_what_each_was(page, server):
    show(page, "")

    last = answer(server, "history")["runs"][:6]
    found = rows(page, "Runs")
    kinds = ["shop", "revert", "promotion", "erasure", "shop", "shop"]
    assert [[run["run_id"], kind] for run, kind in zip(last, kinds, strict=True)] == [
        row[:2] for row in found
    ]
    assert "success 1 check warned" == found[4][2]
    links = page.ask(
        "[...document.querySelectorAll('main a')].map((each) => each.getAttribute('href'))"
    )
    assert {f"#/run/{last[0]['run_id']}", "#/findings"} <= set(links)
    told = page.ask("document.querySelector('main td time').title")
    assert f"{last[0]['started_at'][11:19]} UTC" in told, "with seconds"
    assert "`" not in text(page)


def test_findings_list_errors_before_warnings(page):
    said = page.ask(
        "(() => { const kept = Rocky.store.index.findings;"
        " const one = (severity) => ({ code: 'X', severity, message: 'a `b`', place: '' });"
        " Rocky.store.index.findings = [one('warning'), one('error'), one('info')];"
        " const made = Rocky.lists.findings(); Rocky.store.index.findings = kept;"
        " return [...Rocky.h('div', {}, made).querySelectorAll('.finding p:first-child')]"
        ".map((each) => each.innerHTML.replace(/<.?span[^>]*>/g, '')); })()"
    )

    assert [
        "error X a <code>b</code>",
        "warning X a <code>b</code>",
        "info X a <code>b</code>",
    ] == said


def test_a_run_is_compared_with_the_one_before_of_its_pipeline(page, server):
    show(page, "runs")

    first, second = (each["run_id"] for each in runs_of(server, "bronze")[:2])
    links = page.ask(
        "[...document.querySelectorAll('main a')].map((each) => each.getAttribute('href'))"
    )
    assert f"#/compare/{second}/{first}" in links
    kinds = [row[1] for row in rows(page, "Runs")]
    assert {"shop", "bronze", "promotion", "revert", "erasure"} == set(kinds)
    show(page, f"compare/{second}/{first}")
    turned = [row[1:4] for row in rows(page, "Checks that changed")]
    assert [["null_rate:note", "passed", "failed"]] == turned


def test_two_runs_differ_by_what_is_recorded_of_both(page, server):
    second, first = (each["run_id"] for each in runs_of(server, "shop")[:2])
    show(page, f"compare/{first}/{second}")

    found = {row[0]: row[5:] for row in rows(page, "Models of both runs")}
    # The code was other between the two runs: that is why, and no difference of these.
    assert ["inputs", "its logic or settings changed"] == found["by_country"]
    assert "nothing" == found["contacts"][0]


def test_evidence_names_no_run_as_the_builder_of_what_was_held(page, server):
    show(page, f"evidence/{runs_of(server, 'shop')[0]['run_id']}")

    said = page.ask(
        "[...document.querySelectorAll('main section')].find((each) =>"
        " each.querySelector('h2').innerText === 'stg_orders').innerText"
    )
    assert "Built by" not in said
    assert "held: reverted by" in said


def test_bars_of_cost_measure_money_alone(page, server):
    run = runs_of(server, "shop")[0]["run_id"]
    show(page, f"run/{run}")

    bars = page.ask(
        "[...document.querySelectorAll('main .bars li')].map((each) =>"
        " [each.querySelector('.right').textContent, each.querySelector('i').style.width])"
    )
    assert {("$0.09", "100%"), ("reused", "0%")} <= {tuple(each) for each in bars}
    assert all(width == "0%" for words, width in bars if not words.startswith("$"))


def test_a_promotion_names_who_signed_and_a_revert_needs_nobody(page):
    show(page, "branches")

    revert, promotion = rows(page, "Promotions")
    assert "revert labels" == revert[1]
    assert "a revert needs no approval" == revert[3]
    assert "the report wants them as they were" == revert[6]
    assert ["signed", "ann@example.com", "signed", "bob@example.com"] == [
        word for word in promotion[3].split() if not word.startswith("SHA256")
    ]


def test_who_signs_for_breaking_readers_is_not_told_as_one_who_approved(page):
    said = page.ask(
        "Rocky.live.promoted({ kind: 'promote', branch: 'b', by: 'eve', approvals: ["
        "{ kind: 'approval', approver: 'ann', key_fingerprint: 'SHA256:a' },"
        "{ kind: 'allow_breaking', approver: 'eve', key_fingerprint: 'SHA256:e' }] })"
        ".querySelector('.hops').innerText"
    )

    assert "ann SHA256:a" in said
    assert "eve to break readers SHA256:e" in said


def test_a_branch_says_what_a_promotion_would_refuse_and_change(page):
    show(page, "branch/totals")

    said = text(page)
    assert "A promotion would be refused." in said
    assert "2 approvals must count, 1 does." in said
    assert "The code breaks readers of production (revenue.city: column removed)" in said
    assert 'rocky branch promote totals --allow-breaking -m "why" --key KEY' in said
    assert "bad signature: the signature does not match this statement" in said
    changed = {row[0]: row[3] for row in rows(page, "Tables that differ")}
    assert "city column removed string breaks readers" == changed["revenue"]


def test_a_branch_that_was_not_run_tells_its_code_from_its_tables(page):
    BranchShop(Path.cwd()).do("branch", "create", "idle")
    show(page, "branch/idle")

    said = text(page)
    assert "No table: each of the branch is as in production." in said
    assert "would change is built by rocky run --branch idle." in said


def test_words_that_need_it_say_what_they_mean(page):
    titles = page.ask("['held', 'resumed', 'moved back'].map((each) => Rocky.status(each).title)")

    assert [
        "left as it is: its code is what a revert took back",
        "built already by the run that this one went on from",
        "put back to the version before a promotion",
    ] == titles


def test_a_table_says_which_columns_of_the_code_it_was_not_built_with(page):
    show(page, "table/by_country")
    page.wait("document.querySelector('main').innerText.includes('differs from the table')")

    assert "as it was built: the table does not have cities." in text(page)
    show(page, "table/contacts/email")
    assert "pii by raw.customers.email" in text(page, "main .facts")


def test_files_of_a_table_come_with_a_line_that_checks_each(page, server):
    show(page, f"table/{ORDERS}")

    files = answer(server, f"files?table={ORDERS}")["files"]
    lines = [row[3] for row in rows(page, "Files")]
    assert len(files) == len(lines)
    for file, line in zip(files, lines, strict=True):
        assert f"echo '{file['blake3_hash']} {file['path']}' | b3sum --check Copy" == line
        assert Path(file["path"]).exists()
    # As it is selected by hand: two spaces, or `b3sum` takes it for nothing.
    assert f"{files[0]['blake3_hash']}  /" in text(page, "main .copyable code")


VIEWS = (
    "checks", "runs", "run/latest", "branches", "branch/totals", "evidence", "governance", "state",
    f"table/{ORDERS}", "graph?overlay=drift",
)  # fmt: skip


def test_views_with_a_past_can_be_used_by_everybody(page):
    page.ask(AXE.read_text() + "; true")
    found = []
    for view in VIEWS:
        show(page, view)
        found += [f"{view}: {each}" for each in page.ask(AUDIT)]

    assert [] == found
    assert [] == page.complaints()
