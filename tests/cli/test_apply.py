"""`rocky apply` carries out exactly the plan that was kept, or refuses and says what moved."""

import json
import shutil
from dataclasses import fields

import pytest

from rocky.plan.request import RunRequest, Window
from rocky.run.project_run import run_request
from rocky.version import __version__
from tests.cli.kept_plans import KeptPlans
from tests.cli.test_schemas import check

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path, rocky, monkeypatch) -> KeptPlans:
    return KeptPlans(tmp_path, rocky, monkeypatch)


def refused(kept: KeptPlans, plan_id: str) -> str:
    """What is said of a plan that is not applied; nothing may have been run."""
    before = len(kept.records())
    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert 1 == answer.code
    assert [] == check(answer.json, "error")
    assert before == len(kept.records())
    return answer.json["error"]["message"] + answer.err


def test_a_plan_is_applied_and_the_run_says_which_it_was(kept):
    plan_id = kept.plan()

    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert 0 == answer.code, answer.err
    assert [] == check(answer.json, "apply")
    assert [] == check({"version": "0", "command": "run", **answer.json["result"]}, "run")
    assert (plan_id, "run", True) == tuple(
        answer.json[each] for each in ("plan_id", "plan_kind", "success")
    )
    (run,) = kept.records()
    (shown,) = kept.rocky("history", "-o", "json").json["runs"]
    assert plan_id == run.plan_id == shown["plan_id"]


def test_an_applied_plan_runs_just_the_steps_that_it_lists(kept):
    kept.rocky("run")
    kept.write("models/report.sql", "SELECT min(n) AS least FROM by_country")
    plan_id = kept.plan("report")

    answer = kept.rocky("apply", plan_id, "-o", "json")

    planned = kept.kept(plan_id)["payload"]["runs"][0]["steps"]
    ran = answer.json["result"]["model_decisions"]
    assert [(each["name"], each["decision"]) for each in planned] == [
        (each["model"], each["decision"]) for each in ran
    ]
    assert [("report", "build")] == [(each["model"], each["decision"]) for each in ran]


def test_a_plan_that_builds_nothing_is_applied_without_spark(kept):
    kept.rocky("run")
    kept.opened = 0
    plan_id = kept.plan()

    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert (0, 0) == (answer.code, kept.opened)
    assert 4 == answer.json["result"]["tables_reused"]


@pytest.mark.parametrize("form", ["prefix", "path"])
def test_a_plan_goes_by_its_first_digits_and_by_its_file(kept, form):
    plan_id = kept.plan()
    given = plan_id[:8] if form == "prefix" else f".rocky/plans/{plan_id}.json"

    assert 0 == kept.rocky("apply", given).code


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0123456789", "no plan `0123456789` in `.rocky/plans`; `rocky plan` makes one"),
        ("abc", "it is neither the id of one nor a file; an id has at least 8 digits"),
    ],
)
def test_a_plan_that_is_not_there_is_refused(kept, given, said):
    assert said in refused(kept, given)


def test_a_plan_whose_content_was_edited_is_refused(kept):
    plan_id = kept.plan()

    def change(document):
        document["payload"]["runs"][0]["steps"][0]["sql"] = "SELECT 2 AS one"

    kept.edit(plan_id, change)

    said = refused(kept, plan_id)
    assert f"was changed after it was made: it claims to be plan `{plan_id}`" in said
    assert "either the id or the content was edited" in said


def test_a_plan_whose_id_was_edited_to_fit_is_refused_by_its_name(kept):
    kept.rocky("run", "alone")
    first, second = kept.plan(), kept.plan("alone")
    shutil.copy(kept.file(second), kept.file(first))

    said = refused(kept, first)
    assert f"the file of plan `{first}` was changed" in said
    assert f"its content is that of `{second}`" in said


def test_a_plan_of_a_newer_format_is_refused(kept):
    plan_id = kept.plan()
    kept.edit(plan_id, lambda document: document.update(version=99))

    assert "was made by a newer Rocky: its format is 99, this one knows 1" in refused(kept, plan_id)


def test_what_is_no_plan_is_refused(kept):
    kept.write("plan.json", "not JSON")
    kept.write("list.json", "[]")

    assert "`plan.json` is not a plan: it is not JSON" in refused(kept, "plan.json")
    assert "`list.json` is not a plan: it has no `version`" in refused(kept, "list.json")


def change_code(kept: KeptPlans) -> None:
    kept.write("models/report.sql", "SELECT min(n) AS least FROM by_country")


def change_comment(kept: KeptPlans) -> None:
    kept.append("models/report.sql", " -- the same")


def change_settings(kept: KeptPlans) -> None:
    kept.write("models/report.toml", '[strategy]\ntype = "ephemeral"\n')


def change_config(kept: KeptPlans) -> None:
    kept.append("rocky.toml", "# a word\n")


def change_seed(kept: KeptPlans) -> None:
    kept.append("seeds/countries.csv", "IT,Italy\n")


def change_source(kept: KeptPlans) -> None:
    kept.append("data/orders.csv", "4,FR\n")


def declare_otherwise(kept: KeptPlans) -> None:
    text = (kept.root / "sources/raw.toml").read_text()
    kept.write("sources/raw.toml", text + 'options = { quote = "x" }\n')


def add_model(kept: KeptPlans) -> None:
    kept.write("models/more.sql", "SELECT 1 AS n")


def run_meanwhile(kept: KeptPlans) -> None:
    kept.rocky("run", "alone", "--force-rebuild")


def lose_the_table(kept: KeptPlans) -> None:
    shutil.rmtree(kept.root / "warehouse/spark_catalog/default/alone")


def lose_the_state(kept: KeptPlans) -> None:
    for path in kept.root.glob(".rocky-state.db*"):
        if path.is_file():
            path.unlink()


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("move", "said"),
    [
        (change_code, "code: `report`: recipe changed"),
        (change_comment, "code: `report`: text changed, though not what it means"),
        (change_settings, "code: `report`"),
        (change_config, "config: rocky.toml changed"),
        (change_seed, "code: `countries`: file changed"),
        (change_source, "inputs: `raw.orders` has other files"),
        (declare_otherwise, "inputs: `raw.orders` has another declaration"),
        (add_model, "code: `more` is part of it now"),
        (run_meanwhile, "state: `spark_catalog.default.alone` moved from version"),
        (lose_the_table, "state: `spark_catalog.default.alone` is gone"),
        (lose_the_state, "state: there is no state file where the plan's was"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_whatever_moved_refuses_the_plan_and_is_named(kept, move, said):
    kept.rocky("run")
    plan_id = kept.plan("--force-rebuild")
    move(kept)

    message = refused(kept, plan_id)

    assert said in message
    assert f"plan `{plan_id[:12]}` no longer holds, so nothing was run:" in message


def test_a_run_that_finished_since_is_named(kept):
    kept.rocky("run")
    plan_id = kept.plan()
    kept.rocky("run", "alone")

    assert f"state: `{kept.records()[0].run_id}` has run `alone` since" in refused(kept, plan_id)


def test_another_rocky_does_not_apply_the_plan(kept, monkeypatch):
    plan_id = kept.plan()
    monkeypatch.setattr("rocky.operations.plan.proposal.__version__", "99.0")

    assert "environment: Rocky moved from" in refused(kept, plan_id)


def test_another_rocky_builds_nothing_anew(kept, monkeypatch):
    kept.rocky("run")
    kept.opened = 0
    monkeypatch.setattr("rocky.run.prepare.caller.__version__", "99.0")

    answer = kept.rocky("run", "-o", "json")

    assert (0, 0, 4) == (answer.code, kept.opened, answer.json["tables_reused"])
    assert {"99.0", __version__} == {run.rocky_version for run in kept.records()}


def test_another_spark_does_not_apply_the_plan(kept, monkeypatch):
    plan_id = kept.plan()
    # A variable of the environment has a say, and stands in no file.
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf x=y pyspark-shell")

    assert "environment: Spark or its settings changed" in refused(kept, plan_id)


def test_a_plan_is_applied_once(kept):
    plan_id = kept.plan()
    kept.rocky("apply", plan_id)
    (run,) = kept.records()

    said = refused(kept, plan_id)

    assert f"was already applied by `{run.run_id}`: nothing was run; make a new one" in said


def test_a_plan_whose_run_failed_is_made_anew_to_go_on(kept):
    plan_id = kept.plan("alone")

    def fail(_name: str) -> None:
        raise OSError("no space left on device")

    kept.before_write = fail
    first = kept.rocky("apply", plan_id, "-o", "json")
    kept.before_write = lambda _: None

    assert (1, False) == (first.code, first.json["success"])
    # The failure is recorded, and what would follow it is another plan.
    assert f"state: `{kept.records()[0].run_id}` has run `alone` since" in refused(kept, plan_id)
    assert 0 == kept.rocky("apply", kept.plan("alone")).code


def test_what_moves_between_the_check_and_the_claim_refuses_the_run(kept, monkeypatch):
    kept.rocky("run")
    plan_id = kept.plan("report", "--force-rebuild")
    run = run_request

    def run_late(plan, request, caller):
        # Somebody else is quicker, after the plan was found to hold.
        monkeypatch.setattr("rocky.run.project_run.run_request", run)
        kept.rocky("run", "by_country", "--force-rebuild")
        return run(plan, request, caller)

    monkeypatch.setattr("rocky.run.project_run.run_request", run_late)
    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert 1 == answer.code
    assert "PlanOutdated" == answer.json["error"]["kind"]
    assert (
        "inputs: `spark_catalog.default.by_country` moved from version 0 to 1"
        in (answer.json["error"]["message"])
    )
    record = kept.records()[0]
    assert (plan_id, "Failure", ()) == (record.plan_id, record.status.value, record.models_executed)
    assert 0 == kept.rocky("verify").code


def test_a_source_that_changes_between_the_check_and_the_claim_refuses_the_run(kept, monkeypatch):
    plan_id = kept.plan("stg_orders")
    run = run_request

    def run_late(plan, request, caller):
        change_source(kept)
        return run(plan, request, caller)

    monkeypatch.setattr("rocky.run.project_run.run_request", run_late)
    answer = kept.rocky("apply", plan_id)

    assert 1 == answer.code
    assert "inputs: `raw.orders` has other files" in answer.err
    assert not (kept.root / "warehouse/spark_catalog/default/stg_orders").exists()


def test_nothing_is_read_again_after_the_check(kept, monkeypatch):
    kept.rocky("run")
    plan_id = kept.plan("--force-rebuild")
    run = run_request

    def run_late(plan, request, caller):
        kept.write("models/alone.sql", "SELECT nothing FROM nowhere")
        kept.write("rocky.toml", "broken")
        return run(plan, request, caller)

    monkeypatch.setattr("rocky.run.project_run.run_request", run_late)

    assert 0 == kept.rocky("apply", plan_id).code


def test_what_cannot_be_read_is_in_the_plan_and_the_plan_is_not_applied(kept):
    (kept.root / "data/orders.csv").unlink()
    answer = kept.rocky("plan", "-o", "json")

    assert 1 == answer.code
    assert "`raw.orders` could not be read" in answer.json["inputs_unreadable"][0]
    assert "no longer applies, so nothing was run" in refused(kept, answer.json["plan_id"])


FLAGS = [
    ("select", ("alone",)),
    ("select", ("--model", "alone")),
    ("exclude", ("--exclude", "alone")),
    ("pipeline", ("--pipeline", "shop")),
    ("parallel", ("--parallel", "2")),
    ("full_refresh", ("--full-refresh",)),
    ("rebuild", ("--force-rebuild",)),
    ("reuse", ("--no-reuse",)),
    ("adapter", ("--target", "default")),
    ("idempotency_key", ("--idempotency-key", "k")),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "options"), FLAGS)
def test_every_flag_of_a_run_is_in_the_plan_and_comes_back(kept, monkeypatch, name, options):
    kept.write("rocky.toml", '[adapter]\ntype = "spark"\n' + (kept.root / "rocky.toml").read_text())
    seen: list[RunRequest] = []
    run = run_request

    def remember(plan, request, caller):
        seen.append(request)
        return run(plan, request, caller)

    monkeypatch.setattr("rocky.run.project_run.run_request", remember)
    plan_id = kept.plan(*options)
    kept.rocky("apply", plan_id)

    (applied,) = seen
    assert getattr(RunRequest(), name) != getattr(applied, name)
    assert {name} == {
        each.name
        for each in fields(RunRequest)
        if getattr(applied, each.name) != getattr(RunRequest(), each.name)
    }


def test_the_values_of_variables_are_those_of_the_plan(kept):
    kept.write("models/alone.sql", "SELECT @var(n, 1) AS one")
    plan_id = kept.plan("alone", "--var", "n=7")

    assert "SELECT 7 AS one" == kept.kept(plan_id)["payload"]["runs"][0]["steps"][0]["sql"]
    assert 1 == kept.rocky("apply", plan_id, "--var", "n=8").code
    assert 0 == kept.rocky("apply", plan_id).code


def test_windows_are_planned_and_come_back(kept):
    assert {each.name for each in fields(Window)} - {"recorded"} == {
        "start", "end", "partition", "latest", "missing", "lookback",
    }  # fmt: skip
    answer = kept.rocky("plan", "--partition", "2026-01-01", "-o", "json")

    assert 1 == answer.code
    assert "no selected model has the strategy `time_interval`" in answer.json["error"]["message"]


def test_the_plan_of_the_seeds_command_line_can_be_applied(kept):
    state = str(kept.root / "elsewhere.db")
    answer = kept.rocky("--config", "rocky.toml", "--state-path", state, "plan", "--output", "json")
    plan_id = json.loads(answer.out)["plan_id"]

    done = kept.rocky("--config", "rocky.toml", "--state-path", state, "apply", plan_id)

    assert 0 == done.code, done.err
    assert not (kept.root / ".rocky-state.db").exists()


REMOTE = '[adapter]\ntype = "spark"\nremote = "sc://h:15002"\n[adapter.conf]\n"x.y" = "${CHOSEN}"\n'
DATABASE = (
    '[[source]]\nname = "db.orders"\nformat = "jdbc"\n'
    'options = { url = "jdbc:x://h/d", dbtable = "${CHOSEN}" }\n'
    'columns = [ { name = "id", type = "bigint" } ]\n'
)


@pytest.mark.parametrize(
    ("files", "variable"),
    [
        ({"sources/db.toml": DATABASE}, "CHOSEN"),
        ({"rocky.toml": REMOTE}, "CHOSEN"),
        ({"rocky.toml": REMOTE.replace("h:15002", "${CHOSEN}:1")}, "CHOSEN"),
        ({}, "SPARK_REMOTE"),
    ],
)
def test_a_variable_that_says_otherwise_refuses_the_plan(kept, monkeypatch, files, variable):
    for name, text in files.items():
        old = kept.root / name
        kept.write(name, text + (old.read_text() if old.exists() else ""))
    kept.write(
        "models/alone.sql",
        "SELECT id AS one FROM db.orders" if "sources" in str(files) else "SELECT 1 AS one",
    )
    monkeypatch.setenv(variable, "sc://orders_2025")
    plan_id = kept.plan("alone")
    assert "orders_2025" not in kept.file(plan_id).read_text()
    assert plan_id == kept.plan("alone")

    monkeypatch.setenv(variable, "sc://customers")
    said = refused(kept, plan_id)

    assert (
        f"environment: a variable of the environment has another value; asked for are `{variable}`"
        in said
    )


def test_a_password_that_changes_does_not_outdate_a_plan(kept, monkeypatch):
    kept.write("sources/db.toml", DATABASE.replace("dbtable =", 'password = "${PW}", dbtable ='))
    kept.write("models/alone.sql", "SELECT id AS one FROM db.orders")
    monkeypatch.setenv("CHOSEN", "orders")
    monkeypatch.setenv("PW", "old")
    plan_id = kept.plan("alone")
    monkeypatch.setenv("PW", "new")

    assert plan_id == kept.plan("alone")


def test_a_module_that_a_python_model_imports_refuses_the_plan_when_it_changes(kept):
    kept.write("models/_shared.py", "X = 1\n")
    kept.write(
        "models/p.py", "from _shared import X\n\n\ndef model(alone):\n    return alone.limit(X)\n"
    )
    kept.write("models/p.toml", 'output = [ { name = "one", type = "int" } ]\n')
    plan_id = kept.plan("+p")
    kept.write("models/_shared.py", "X = 2\n")

    assert "code: `p`: recipe changed" in refused(kept, plan_id)
