"""`rocky ci-diff` and `rocky lineage-diff`: a commit against the working tree."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rocky.operations.changes.revisions import paths_outside
from rocky.project.git import find_repository
from rocky.project.user_cache import cache_place
from tests.cli.conftest import CONFIG, ORDERS
from tests.cli.test_schemas import check
from tests.project.git.repos import Repo, make_repo

pytestmark = pytest.mark.slow

STG = "SELECT\n  order_id,\n  amount,\n  status\nFROM raw.orders\n"
REVENUE = "SELECT status, SUM(amount) AS revenue\nFROM stg_orders\nGROUP BY status\n"
FILES = {
    "shop/rocky.toml": CONFIG,
    "shop/sources/raw.toml": ORDERS,
    "shop/models/staging/stg_orders.sql": STG,
    "shop/models/staging/_defaults.toml": '[target]\nschema = "staging"\n',
    "shop/models/marts/fct_revenue.sql": REVENUE,
    "shop/models/marts/fct_revenue.toml": 'tags = { team = "shop" }\n',
    "shop/contracts/fct_revenue.contract.toml": '[[columns]]\nname = "status"\ntype = "string"\n',
    ".gitignore": ".rocky/\n",
}
GUIDE = Path(__file__).parents[2] / "docs/guides/review-a-change.md"
STAGING = "shop/models/staging/stg_orders.sql"


@pytest.fixture(scope="session")
def committed(tmp_path_factory):
    """A repository with a project in a folder of it, on a branch that has no commit of its own."""
    repo = make_repo(tmp_path_factory.mktemp("template") / "repo", FILES)
    repo.git("checkout", "-q", "-b", "feature")
    return repo


@pytest.fixture
def repo(committed, rocky, tmp_path, monkeypatch):
    shutil.copytree(committed.root, tmp_path / "repo", symlinks=True)
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    monkeypatch.chdir(tmp_path / "repo/shop")
    return Repo(tmp_path / "repo")


def found_by_rule(document):
    """(model, column) by rule."""
    return {
        (change["change_type"], model["model_name"], change.get("column_name"))
        for model in [*document.get("models", ()), *document.get("results", ())]
        for change in [*model["column_changes"], *model["table_changes"]]
    }


def statuses(document):
    return {model["model_name"]: model["status"] for model in document["models"]}


# ---------------------------------------------------------------------------- what is compared


def test_nothing_changed_says_so(rocky, repo):
    answer = rocky("ci-diff", "-o", "table", "--fail-on", "any")

    assert 0 == answer.code
    assert answer.out.endswith("nothing changed in 2 models\n")
    assert "unchanged" == rocky("ci-diff").json["verdict"]


def test_a_file_that_differs_to_no_effect_is_said_to(rocky, repo):
    repo.write({STAGING: "-- a comment\n" + STG, "shop/notes.txt": "x"})

    assert rocky("ci-diff", "-o", "table", "--fail-on", "any").out.endswith(
        "nothing changed in 2 models; 2 files differ to no effect on a table\n"
    )
    assert [
        {"path": "models/staging/stg_orders.sql", "status": "modified"},
        {"path": "notes.txt", "status": "added"},
    ] == rocky("ci-diff").json["changed_files"]


def test_an_uncommitted_change_in_a_sub_folder_counts(rocky, repo):
    repo.write({STAGING: STG.replace("  status\n", "  status,\n  1 AS extra\n")})
    document = rocky("ci-diff").json

    assert {"stg_orders": "modified"} == statuses(document)
    assert {("column_added", "stg_orders", "extra")} == found_by_rule(document)
    assert ("main", "feature", True) == (
        document["base_ref"],
        document["head_ref"],
        document["uncommitted"],
    )


def test_a_file_nobody_added_and_one_nobody_committed_to_delete_count(rocky, repo):
    repo.write({"shop/models/new.sql": "SELECT status FROM stg_orders\n"})
    (repo.root / "shop/models/marts/fct_revenue.sql").unlink()
    (repo.root / "shop/models/marts/fct_revenue.toml").unlink()
    (repo.root / "shop/contracts/fct_revenue.contract.toml").unlink()
    document = rocky("ci-diff").json

    assert {"new": "added", "fct_revenue": "removed"} == statuses(document)
    assert "breaking" == document["verdict"]


def test_the_base_is_where_the_branch_was_left_unless_exactly_itself_is_meant(rocky, repo):
    repo.write({STAGING: STG.replace("  status\n", "  status,\n  1 AS mine\n")})
    repo.commit("mine")
    repo.git("checkout", "-q", "main")
    repo.write({"shop/models/theirs.sql": "SELECT order_id FROM raw.orders\n"})
    repo.commit("theirs")
    repo.git("checkout", "-q", "feature")

    assert {"stg_orders": "modified"} == statuses(rocky("ci-diff", "main").json)
    assert {"stg_orders": "modified", "theirs": "removed"} == statuses(
        rocky("ci-diff", "main", "--exact").json
    )


def test_a_moved_file_is_no_change_of_its_columns(rocky, repo):
    folder = repo.root / "shop/models"
    (folder / "deeper").mkdir()
    (folder / "marts/fct_revenue.sql").rename(folder / "deeper/fct_revenue.sql")
    (folder / "marts/fct_revenue.toml").rename(folder / "deeper/fct_revenue.toml")
    document = rocky("ci-diff").json

    assert "breaking" != document["verdict"]
    assert not [each for each in found_by_rule(document) if each[0].startswith("column")]


def test_sidecars_defaults_contracts_and_settings_count(rocky, repo):
    repo.write({"shop/models/staging/_defaults.toml": '[target]\nschema = "stage"\n'})
    retargeted = rocky("ci-diff", "--fail-on", "breaking")
    repo.git("checkout", "-q", ".")
    (repo.root / "shop/contracts/fct_revenue.contract.toml").unlink()
    unpromised = rocky("ci-diff", "--fail-on", "breaking")
    repo.git("checkout", "-q", ".")
    sidecar = '[strategy]\ntype = "merge"\nunique_key = ["status"]\n'
    repo.write({"shop/models/marts/fct_revenue.toml": sidecar})
    merged = rocky("ci-diff", "--fail-on", "breaking")
    repo.git("checkout", "-q", ".")
    repo.write({"shop/rocky.toml": CONFIG + '\n[lints]\nP002 = "error"\n'})
    settings = rocky("ci-diff", "--fail-on", "any")

    assert [1] * 4 == [each.code for each in (retargeted, unpromised, merged, settings)]
    assert ("target_changed", "stg_orders", None) in found_by_rule(retargeted.json)
    assert "contract_weakened" in {each[0] for each in found_by_rule(unpromised.json)}
    assert ("strategy_changed", "fct_revenue", None) in found_by_rule(merged.json)
    assert 1 == len(settings.json["settings"])


def test_a_column_that_goes_is_traced_on_the_graph_it_was_in(rocky, repo):
    repo.write(
        {
            STAGING: STG.replace("  amount,\n", ""),
            "shop/models/marts/fct_revenue.sql": "SELECT status, COUNT(*) AS revenue\n"
            "FROM stg_orders\nGROUP BY status\n",
        }
    )
    (result,) = [
        each for each in rocky("lineage-diff").json["results"] if each["model_name"] == "stg_orders"
    ]
    (change,) = [each for each in result["column_changes"] if each["column_name"] == "amount"]

    assert "column_removed" == change["change_type"]
    assert {
        "model": "fct_revenue",
        "column": "revenue",
        "kind": "aggregate",
        "side": "base",
    } in change["downstream_consumers"]


def test_a_model_whose_files_are_as_they_were_is_listed_when_a_change_reaches_it(rocky, repo):
    repo.write({STAGING: STG.replace("  amount,", "  CAST(amount AS double) AS amount,")})
    document = rocky("ci-diff").json

    assert {"stg_orders": "modified", "fct_revenue": "affected"} == statuses(document)
    assert ("column_type_changed", "fct_revenue", "revenue") in found_by_rule(document)


def test_variables_hold_for_both_sides(rocky, repo):
    repo.write({STAGING: STG + "WHERE status <> '@var(hidden)'\n"})
    repo.commit("asks for a variable")
    repo.git("branch", "-f", "main")
    repo.write({STAGING: STG})
    answer = rocky("ci-diff", "--var", "hidden=x")

    assert 0 == answer.code
    assert {"stg_orders"} <= statuses(answer.json).keys()
    assert "no model asks for the variable `other`" in rocky("ci-diff", "--var", "other=x").err


def test_the_projects_cache_is_not_touched_by_the_base(rocky, repo):
    rocky("compile")
    cache = cache_place(repo.root / "shop").folder / "compile.bin"
    before, projects = cache.read_bytes(), set(cache.parent.parent.iterdir())
    repo.git("commit", "-q", "--allow-empty", "-m", "on")
    rocky("ci-diff", "main")

    assert before == cache.read_bytes()
    assert projects == set(cache.parent.parent.iterdir())


def test_a_project_elsewhere_is_named_by_its_config(rocky, repo, monkeypatch):
    monkeypatch.chdir(repo.root.parent)
    repo.write({STAGING: STG.replace("  status\n", "  status,\n  1 AS extra\n")})
    answer = rocky("-c", "repo/shop/rocky.toml", "ci-diff", "--format", "github")

    assert answer.out.startswith("::notice file=shop/models/staging/stg_orders.sql,line=5,")


def test_models_behind_a_link_are_those_of_the_commit(rocky, repo):
    repo.write({"shared/far.sql": "SELECT 1 AS one\n"})
    (repo.root / "shop/models/linked").symlink_to("../../shared")
    repo.commit("a link")
    repo.git("branch", "-f", "main")
    repo.write({"shared/far.sql": "SELECT 1 AS one, 2 AS two\n"})

    assert {("column_added", "far", "two")} == found_by_rule(rocky("ci-diff").json)


def test_files_that_settings_name_outside_the_project_come_with_the_base(rocky, repo):
    repo.write({"shop/rocky.toml": CONFIG + '\n[x]\npath = "../other/i.json"\nout = "../../y"\n'})
    commit = repo.commit()
    here = find_repository(repo.root / "shop")

    assert ("other/i.json",) == paths_outside(here, commit, "rocky.toml")
    assert () == paths_outside(here, commit, "nope.toml")


# ---------------------------------------------------------------------------- what cannot be


def test_a_base_that_does_not_compile_is_a_failure_that_shows_its_errors(rocky, repo):
    repo.write({STAGING: "SELECT nope FROM raw.orders\n"})
    repo.commit("broken")
    repo.git("branch", "-f", "main")
    repo.write({STAGING: STG})
    as_json = rocky("ci-diff")
    as_text = rocky("lineage-diff", "-o", "table")

    assert [1, 1] == [as_json.code, as_text.code]
    assert ["base"] == [each["side"] for each in as_json.json["broken"]]
    assert "E003" == as_json.json["broken"][0]["diagnostics"][0]["code"]
    assert "`main` (" in as_json.json["error"]["message"]
    assert [] == check(as_json.json, "ci-diff")
    assert "" == as_text.out
    assert "errors of `main` (" in as_text.err
    assert "--> models/staging/stg_orders.sql:1:8" in as_text.err
    assert "does not compile, so nothing was compared" in as_text.err


def test_a_working_tree_that_does_not_compile_is_one_too(rocky, repo):
    repo.write({STAGING: "SELECT nope FROM raw.orders\n"})
    answer = rocky("lineage-diff")

    assert 1 == answer.code
    assert ["head"] == [each["side"] for each in answer.json["broken"]]
    assert [] == check(answer.json, "lineage-diff")


def test_what_could_be_compared_is_said_beside_the_errors_and_exits_with_1(rocky, repo):
    repo.write({STAGING: STG.replace("amount", "amount AS total", 1)})
    answer = rocky("ci-diff", "-o", "table")

    assert (1, "") == (answer.code, answer.out)
    assert "breaking  stg_orders: column renamed `amount`" in answer.err
    assert "broken  " in answer.err
    assert "the working tree does not compile, so only " in answer.err


def test_a_base_without_the_project_is_nothing_to_compare_with(rocky, repo, monkeypatch):
    shutil.copytree(repo.root / "shop", repo.root / "moved")
    monkeypatch.chdir(repo.root / "moved")
    answer = rocky("ci-diff")

    assert 1 == answer.code
    assert "nothing to compare with" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("base", "said"),
    [("nope", "no commit `nope` here"), ("", "does not name a commit")],
)
def test_a_base_that_is_none_is_refused(rocky, repo, base, said):
    answer = rocky("ci-diff", base)

    assert 1 == answer.code
    assert said in answer.json["error"]["message"]
    assert [] == check(answer.json, "error")


def test_a_base_that_looks_like_an_option_is_refused(rocky, repo):
    assert 1 == rocky("ci-diff", "-evil").code
    assert "does not name a commit" in rocky("ci-diff", "--", "-evil").err


def test_a_project_outside_git_cannot_be_compared(rocky, write):
    write({"models/one.sql": "SELECT order_id FROM raw.orders\n"})
    answer = rocky("ci-diff")

    assert 1 == answer.code
    assert "is not in a git repository" in answer.err


def test_a_shallow_clone_says_what_it_lacks(rocky, repo, monkeypatch):
    clone = repo.root.parent / "clone"
    line = ["git", "clone", "-q", "--depth=1", f"file://{repo.root}", str(clone)]
    repo.commit("another")
    subprocess.run(line, check=True)
    monkeypatch.chdir(clone / "shop")

    assert "fetch-depth: 0" in rocky("ci-diff", "main").err


def test_in_a_pull_requests_build_the_base_is_where_it_goes(rocky, repo, monkeypatch):
    monkeypatch.setenv("GITHUB_BASE_REF", "main")

    assert "no commit `origin/main` here" in rocky("ci-diff").err

    repo.git("update-ref", "refs/remotes/origin/main", "main")

    assert "origin/main" == rocky("ci-diff").json["base_ref"]


# ---------------------------------------------------------------------------- gate and form


def test_the_gate_fails_as_asked(rocky, repo):
    repo.write({STAGING: STG.replace("  status\n", "  status,\n  1 AS extra\n")})
    harmless = [rocky("ci-diff", *each).code for each in GATES]
    repo.write({STAGING: STG.replace("order_id", "CAST(order_id AS string) AS order_id")})
    breaking = [rocky("ci-diff", *each).code for each in GATES]

    assert [0, 0, 1] == harmless
    assert [0, 1, 1] == breaking


GATES = ((), ("--fail-on", "breaking"), ("--fail-on", "any"))


def test_a_submodule_that_nobody_can_look_into_fails_every_gate(rocky, repo):
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},shop/models/sub")
    repo.git("commit", "-q", "-m", "models of others")

    answers = [rocky("ci-diff", "HEAD", "-o", "json", *each) for each in GATES]

    assert [0, 1, 1] == [each.code for each in answers]
    assert ["", "error", "error"] == [each.err.partition(":")[0] for each in answers]
    assert "the submodule `shop/models/sub` is not checked out" in answers[0].json["notes"][0]


def test_on_the_main_branch_nothing_is_compared_with_itself(rocky, repo):
    repo.git("checkout", "-q", "main")
    repo.write({STAGING: STG.replace("  amount,\n", "  1 AS amount,\n")})
    repo.git("commit", "-q", "-a", "-m", "a change that nobody has reviewed")

    answer = rocky("ci-diff", "--fail-on", "breaking")

    assert 1 == answer.code
    assert "`main` is checked out" in answer.err
    assert "name the base" in answer.err
    assert "logic_changed" in rocky("ci-diff", "HEAD~1", "-o", "json").out


def test_a_module_that_python_models_import_is_their_code(rocky, repo):
    model = (
        "from _shared import f\n\n\ndef model(stg_orders):\n"
        "    return f(stg_orders).selectExpr('order_id AS id')\n"
    )
    repo.write(
        {
            "shop/models/_shared.py": "def f(a): return a\n",
            "shop/models/staging/p.py": model,
            "shop/models/staging/p.toml": 'output = [ { name = "id", type = "bigint" } ]\n',
        }
    )
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "python")
    rocky("compile")
    repo.write({"shop/models/_shared.py": "def f(a): return a.limit(1)\n"})

    document = rocky("ci-diff", "HEAD", "-o", "json").json

    assert {("rows_changed", "p", None), ("logic_changed", "p", "id")} == found_by_rule(document)


def test_models_that_are_named_decide_alone(rocky, repo):
    repo.write({STAGING: STG.replace("order_id", "CAST(order_id AS string) AS order_id")})
    of = ("ci-diff", "--fail-on", "breaking", "--model")

    assert 1 == rocky(*of, "stg_orders").code
    assert 1 == rocky(*of, "spark_catalog.staging.stg_orders").code
    assert 0 == rocky(*of, "fct_revenue").code
    assert "no model `nope`" in rocky(*of, "nope").err


def test_a_model_that_is_gone_can_still_be_named(rocky, repo):
    for name in ("models/marts/fct_revenue.sql", "models/marts/fct_revenue.toml"):
        (repo.root / "shop" / name).unlink()
    (repo.root / "shop/contracts/fct_revenue.contract.toml").unlink()

    assert {"fct_revenue": "removed"} == statuses(rocky("ci-diff", "--model", "fct_revenue").json)


@pytest.mark.parametrize("name", ["ci-diff", "lineage-diff"])
def test_every_form_tells_the_same(rocky, repo, name):
    repo.write({STAGING: STG.replace("order_id", "CAST(order_id AS string) AS order_id")})
    document = rocky(name, "-o", "json").json

    assert [] == check(document, name)
    assert document == rocky(name, "--format", "json").json
    assert document["markdown"] == rocky(name, "--format", "markdown").out
    assert document["markdown"].startswith(
        f"<!-- rocky {name} -->\n**Breaking**: 1 breaking change"
    )
    text = rocky(name, "--format", "table").out
    assert "breaking" in text
    assert "stg_orders" in text
    annotation, *_, summary = rocky(name, "--format", "github").out.splitlines()
    assert annotation.startswith(
        "::error file=shop/models/staging/stg_orders.sql,line=2,"
        "title=breaking%3A column_type_changed::"
    )
    assert summary.startswith("1 breaking change")


def test_two_forms_at_once_are_refused(rocky, repo):
    assert "contradict each other" in rocky("ci-diff", "-o", "json", "--format", "markdown").err
    assert 1 == rocky("ci-diff", "-o", "table", "--format", "json").code


def test_a_failure_has_the_form_that_was_asked_for(rocky, repo):
    assert "error" in json.loads(rocky("ci-diff", "nope", "--format", "json").out)
    assert "" == rocky("ci-diff", "nope", "--format", "markdown").out


def test_inside_github_actions_ci_diff_annotates(rocky, repo, monkeypatch):
    repo.write({STAGING: STG.replace("order_id", "CAST(order_id AS string) AS order_id")})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("ROCKY_OUTPUT")

    assert rocky("ci-diff").out.startswith("::error file=shop/models/")


# ---------------------------------------------------------------------------- the guide


def test_the_guide_shows_what_is_printed(rocky, shop):
    sql = (shop / "models/staging/stg_orders.sql").read_text()
    repo = make_repo(shop)
    repo.commit("first")
    repo.git("checkout", "-q", "-b", "feature")
    changed = sql.replace("  amount,\n", "  abs(amount) AS amount\n")
    changed = changed.replace("  voucher_code IS NOT NULL AS has_voucher\n", "")
    repo.write({"models/staging/stg_orders.sql": changed})
    shown = re.findall(
        r"^```\n\$ rocky (\S+) main\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL
    )

    assert ["ci-diff", "lineage-diff"] == [name for name, _ in shown]
    for name, text in shown:
        printed = rocky(name, "main", "-o", "table").out
        assert re.sub("[0-9a-f]{12}", "-", text) == re.sub("[0-9a-f]{12}", "-", printed)


def test_the_guides_job_looks_for_the_mark_that_comments_have(rocky, repo):
    mark = rocky("ci-diff", "--format", "markdown").out.partition("\n")[0]

    assert f"mark='{mark}'" in GUIDE.read_text()
