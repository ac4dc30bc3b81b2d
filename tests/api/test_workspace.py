"""Workspaces from Python: `rocky.open`, and the promises that each way in makes."""

import json
import subprocess
import sys
import traceback
from types import SimpleNamespace

import pytest

import rocky
from rocky.errors import InvalidRequest, NothingSelected, PlanOutdated, RunRefused
from tests.branches.shops import BranchShop, Template
from tests.operations.shops import OpenShop
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.runs import TABLE, Heard

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    return OpenShop(tmp_path, monkeypatch)


@pytest.fixture
def lake(shop) -> LakeProject:
    made = LakeProject(shop.root / "lake")
    made.put([{"id": 1, "synced": at(1)}])
    return made


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    def prepare(shop: BranchShop) -> None:
        shop.do("run")
        shop.do("branch", "create", "b1")

    return Template(tmp_path_factory.mktemp("workspace"), prepare)


@pytest.fixture
def branch_shop(branched, monkeypatch) -> BranchShop:
    return branched.put_back(monkeypatch)


# ------------------------------------------------------------------ opening


def test_opening_reads_nothing(tmp_path):
    opened = rocky.open(tmp_path / "nowhere")

    with pytest.raises(rocky.RockyError, match="nowhere` does not exist"):
        opened.compile()


def test_without_a_path_the_nearest_project_above_is_opened(shop, monkeypatch):
    monkeypatch.chdir(shop.root / "models")

    assert 5 == len(rocky.open().compile().models)


def test_values_of_settings_and_of_variables_are_given(shop):
    shop.append("rocky.toml", '[adapter]\nwarehouse = "${PLACE}"\n')
    shop.write("models/alone.sql", "SELECT @var(one) AS one")

    opened = rocky.open(shop.root, env={"PLACE": "here"}, variables={"one": "1"})

    assert 0 == opened.run("alone").exit_code
    assert [{"one": 1}] == [dict(row) for row in opened.show("alone").rows]
    assert (shop.root / "here/spark_catalog").exists()


def test_what_is_shown_of_a_workspace_keeps_values_to_itself(tmp_path):
    values = {"token": "s3cret"}
    opened = rocky.open(tmp_path, branch="b1", variables=values, env={"KEY": "s3cret too"})

    assert f"Workspace(path={str(tmp_path)!r}, branch='b1', variables=['token'])" == repr(opened)


def test_a_state_file_may_be_elsewhere(shop, tmp_path):
    opened = rocky.open(shop.root, state_path=tmp_path / "elsewhere.db")
    opened.run("alone")

    assert 1 == opened.history().count
    assert 0 == rocky.open(shop.root).history().count


def test_a_callers_session_listener_and_warnings_are_used(shop):
    heard = Heard()
    said: list[str] = []

    session = SimpleNamespace(sql=None)
    opened = rocky.open(shop.root, spark=session, listener=heard, warn=said.append)
    opened.run("alone")

    assert [session] == shop.sessions
    assert ("started", "alone") in heard.said
    assert [] == said
    assert "api" == shop.records()[0].session_source


BRANCH_CALLS = {
    "compile": lambda opened: opened.compile(),
    "ci": lambda opened: opened.ci(),
    "validate": lambda opened: opened.validate(),
    "list": lambda opened: opened.list(),
    "lineage": lambda opened: opened.lineage("report"),
    "diff": lambda opened: opened.diff(),
    "emit_sql": lambda opened: opened.emit_sql(),
    "fmt": lambda opened: opened.fmt(),
    "docs": lambda opened: opened.docs(),
    "publish": lambda opened: opened.publish(),
    "update_imports": lambda opened: opened.update_imports(),
    "plan": lambda opened: opened.plan(),
    "show": lambda opened: opened.show("report"),
    "history": lambda opened: opened.history(),
    "doctor": lambda opened: opened.doctor(),
}


@pytest.mark.parametrize("method", BRANCH_CALLS)
def test_a_branch_that_nobody_made_is_refused_in_the_words_of_the_command_line(branch_shop, method):
    opened = rocky.open(branch_shop.root, branch="b2")

    with pytest.raises(NothingSelected) as refused:
        BRANCH_CALLS[method](opened)

    answer = branch_shop.rocky("run", "--branch", "b2")
    assert "no branch `b2`; did you mean `b1`?" == str(refused.value)
    assert answer.err.endswith(f"error: {refused.value}\n")


def test_nobody_says_that_a_branch_is_known_by_naming_it(branch_shop):
    opened = rocky.open(branch_shop.root)

    with pytest.raises(TypeError):
        opened.on_branch("b2", "default")
    with pytest.raises(NothingSelected, match="no branch `b2`"):
        opened.on_branch("b2").compile()
    assert not opened.on_branch("B1").compile().failed


@pytest.mark.slow
def test_a_deletion_warns_in_its_report_as_json_too(branch_shop):
    state = branch_shop.root / ".rocky-state.db"
    older = state.read_bytes()
    branch_shop.write(report="SELECT 1 AS one FROM by_country")
    branch_shop.do("run")
    state.write_bytes(older)

    answer = branch_shop.rocky("branch", "delete", "b1", "-o", "json")

    (warning,) = json.loads(answer.out)["warnings"]
    assert "the warehouse has a later anchor than `.rocky-state.db`" in warning


# ------------------------------------------------------------------ runs


@pytest.mark.slow
def test_a_run_says_of_each_model_what_became_of_it(shop):
    opened = rocky.open(shop.root)

    first, second = opened.run("+report"), opened.run("+report")

    assert (0, True, 4) == (first.exit_code, first.succeeded, first.run.tables_copied)
    decided = {each.model: each.decision for each in second.run.model_decisions}
    assert "reuse" == decided["report"]
    assert 2 == opened.history().count
    assert first.run.run_id == opened.trace(first.run.run_id).run_id


def test_errors_in_the_selection_refuse_a_run_and_are_named_in_the_traceback(shop):
    shop.write("models/stg_orders.sql", "SELECT nothing FROM raw.orders")

    with pytest.raises(RunRefused, match="1 error: nothing was run") as refused:
        rocky.open(shop.root).run("+report")

    (found,) = refused.value.diagnostics
    assert ("E003", "models/stg_orders.sql", 1, 8) == (
        found.code,
        found.span.file,
        found.span.line,
        found.span.col,
    )
    shown = "".join(traceback.format_exception(refused.value))
    assert "models/stg_orders.sql:1:8: error[E003] no column `nothing` in scope" in shown
    assert [] == shop.sessions
    assert 0 == rocky.open(shop.root).run("alone").exit_code


def test_a_pipeline_is_run_and_what_is_unchanged_is_counted(lake):
    opened = rocky.open(lake.root)

    first, second = opened.run(pipeline="bronze").run, opened.run(pipeline="bronze").run

    assert [ORDERS] == [each.model for each in first.run.model_decisions]
    assert (0, 1) == (first.tables_unchanged, second.tables_unchanged)
    assert [1] == [row["id"] for row in lake.rows()]


def test_a_pipeline_that_cannot_be_run_is_refused(lake):
    with pytest.raises(NothingSelected, match="no pipeline `brnze`; did you mean `bronze`"):
        rocky.open(lake.root).run(pipeline="brnze")

    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + "\nnonsense = 1\n")
    with pytest.raises(RunRefused, match="nonsense"):
        rocky.open(lake.root).run(pipeline="bronze")


def test_a_key_that_was_used_is_told(lake):
    opened = rocky.open(lake.root)
    first = opened.run(pipeline="bronze", idempotency_key="k")

    again = opened.run(pipeline="bronze", idempotency_key="k")

    assert ("SkippedIdempotent", "k") == (again.run.status, again.run.idempotency_key)
    assert first.run.run.run_id == again.run.skipped_by_run_id
    assert (0, True) == (again.exit_code, again.succeeded)


def test_a_plan_is_carried_out_or_refused_when_something_moved(shop):
    opened = rocky.open(shop.root)
    first, second = opened.plan("alone"), opened.plan("stg_orders", exclude="report")

    assert opened.apply(first.plan_id).success
    shop.write("models/stg_orders.sql", MORE)
    with pytest.raises(PlanOutdated, match="stg_orders"):
        opened.apply(second.plan_id[:8])


def test_one_name_is_not_its_letters(shop):
    report = rocky.open(shop.root).run(exclude="report")

    assert "report" not in {each.model for each in report.run.model_decisions}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda opened: opened.run(parallel=0), "`parallel` is at least 1, not 0"),
        (
            lambda opened: opened.plan(window=rocky.Window(lookback=-1)),
            "`lookback` is at least 0, not -1",
        ),
        (
            lambda opened: opened.list("model"),
            "`kind` is `models`, `sources`, `seeds`, `pipelines`, `functions`, `macros`, `deps` or `consumers`, not",
        ),
        (lambda opened: opened.diff(fail_on="all"), "`fail_on` is `breaking` or `any`, not"),
        (lambda opened: opened.branch("b1").diff(to="main"), "`to` is `production` or `base`,"),
        (lambda opened: opened.cost(by="day"), "`by=` is `model`, `tag` or `tag:NAME`, not `day`"),
        (
            lambda opened: opened.branches(everything=True, promotions=True),
            "`everything=` is for branches",
        ),
        (lambda opened: opened.replay(keep="here"), "`keep=` is for `execute=`"),
    ],
)
def test_what_the_command_line_refuses_to_read_is_refused(ask, said, shop):
    with pytest.raises(InvalidRequest, match=said):
        ask(rocky.open(shop.root))


# ------------------------------------------------------------------ branches


@pytest.mark.parametrize(
    "ask",
    [
        lambda there: there.run(),
        lambda there: there.plan(),
        lambda there: there.seed(),
        lambda there: there.test(),
        lambda there: there.show("report"),
        lambda there: there.drift(),
        lambda there: there.history(),
        lambda there: there.trace(),
        lambda there: there.cost(),
        lambda there: there.verify(),
        lambda there: there.replay(),
        lambda there: there.state(),
        lambda there: there.delete_watermark(f"{TABLE}events"),
        lambda there: there.sweep_state(),
        lambda there: there.doctor(),
    ],
)
def test_a_branch_must_be_there(ask, branch_shop):
    with pytest.raises(NothingSelected, match="no branch `b11`; did you mean `b1`"):
        ask(rocky.open(branch_shop.root, branch="b11"))

    assert not branch_shop.state("b11").exists()


@pytest.mark.slow
def test_a_branch_is_run_promoted_and_deleted(branch_shop):
    opened = rocky.open(branch_shop.root)
    before = branch_shop.contents()
    branch_shop.write(stg_orders=MORE)
    branch = opened.branch("b1")

    assert 0 == branch.workspace.run().exit_code
    assert before == branch_shop.contents()
    assert {f"{TABLE}stg_orders"} <= {
        each.target for each in branch.show().tables if each.status == "changed"
    }

    # However it is reached: what is promoted is production.
    branch.workspace.branch("b1").promote()
    assert branch_shop.rows("stg_orders", "b1") == branch_shop.rows("stg_orders")
    assert 1 == opened.branches(promotions=True).total
    branch.workspace.revert("b1")
    assert before["stg_orders"][1] == branch_shop.contents()["stg_orders"][1]

    branch.delete()
    assert 0 == branch.workspace.branches().total
    assert [] == branch_shop.findings()


@pytest.mark.slow
def test_a_branch_of_a_workspace_on_another_branch_is_of_production(branch_shop):
    branch_shop.write(stg_orders=MORE)
    on_one = rocky.open(branch_shop.root, branch="b1")
    on_one.run()

    on_one.branch("b2").create()

    assert branch_shop.rows("stg_orders") == branch_shop.rows("stg_orders", "b2")


# ------------------------------------------------------------------ cost of a name


@pytest.mark.slow
def test_opening_loads_no_operation(tmp_path):
    code = (
        "import sys, rocky; rocky.open().branch('b1');"
        "print([each for each in sys.modules if each.startswith('rocky.operations.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    # Who may have code run is no operation: a workspace decides by it whenever it compiles.
    loaded = ["rocky.operations.python_plans", "rocky.operations.workspace"]
    assert f"{loaded}\n" == done.stdout
