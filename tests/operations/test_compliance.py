"""Compliance: what is masked is what a run masks, and nothing else is called masked."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.compiler.passes import compile_project
from rocky.operations.check.ci import CiRequest, ci
from rocky.operations.findings import ErrorsFound
from rocky.operations.governance.compliance import ComplianceRequest, compliance
from rocky.operations.workspace import Workspace, load_workspace
from tests.operations.projects import open_project

SOURCE = """
[[source]]
name = "raw.people"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "email", type = "string", classification = "pii" },
  { name = "born", type = "date", classification = "birth" },
  { name = "salary", type = "bigint", classification = "secret" },
  { name = "note", type = "string", classification = "internal" },
  { name = "address", type = "struct<street:string,city:string>" },
]
classification = { "address.street" = "pii" }
"""
CONFIG = """
[mask]
pii = "redact"
birth = "none"
[mask.dev]
pii = "none"
birth = "hash"
[classifications]
order = ["pii", "secret"]
allow_unmasked = ["internal"]
"""
PROJECT = {
    "rocky.toml": CONFIG,
    "sources/raw.toml": SOURCE,
    "models/people.sql": "SELECT id, email, born, salary, note, address FROM raw.people",
    "models/mails.sql": "SELECT id, upper(email) AS mail FROM people",
}
VIEW = '[strategy]\ntype = "view"\n'
TAKEN_OFF = """
[[declassify]]
column = "mail"
tag = "pii"
reason = "on the public list"
approved_by = "dpo@example.com"
"""


def asked(root: Path, files=None, env=None, **request):
    workspace = open_project(root, {**PROJECT, **(files or {})}, mask_env=env)
    return compliance(workspace, ComplianceRequest(**request))


def states(report) -> dict[str, tuple[str, ...]]:
    """By column and tag the states, one an environment."""
    return {
        f"{each.model}.{each.column}:{each.classification}": tuple(env.state for env in each.envs)
        for each in report.per_column
    }


def test_every_tagged_column_has_a_state_in_every_environment(tmp_path):
    report = asked(tmp_path)

    assert ("default", "dev") == report.envs
    assert {
        "mails.mail:pii": ("masked", "clear_by_decision"),
        "people.email:pii": ("masked", "clear_by_decision"),
        "people.born:birth": ("clear_by_decision", "exposed"),
        "people.salary:secret": ("exposed", "exposed"),
        "people.note:internal": ("allowed", "allowed"),
        "people.address.street:pii": ("masked", "clear_by_decision"),
    } == states(report)
    summary = report.summary
    assert (6, 0, 3, 4, 1) == (
        summary.total_classified,
        summary.total_masked,
        summary.total_exceptions,
        summary.total_clear_by_decision,
        summary.total_allowed,
    )


def test_a_mask_of_none_is_no_mask_and_no_exception(tmp_path):
    report = asked(tmp_path)
    (born,) = [each for each in report.per_column if each.column == "born"]
    default, _ = born.envs

    assert ("none", False, None) == (default.masking_strategy, default.enforced, default.level)
    assert ("people", "born", "default") not in {
        (each.model, each.column, each.env) for each in report.exceptions
    }


def test_a_mask_says_the_level_and_the_way_of_its_tag(tmp_path):
    report = asked(tmp_path, env=None)
    (mail,) = [each for each in report.per_column if each.model == "mails"]
    (street,) = [each for each in report.per_column if each.column == "address.street"]

    assert ("redact", True, "write") == (
        mail.envs[0].masking_strategy,
        mail.envs[0].enforced,
        mail.envs[0].level,
    )
    assert ("raw.people.email", "people.email", "mails.mail") == mail.path
    assert ("raw.people.address.street", "people.address.street") == street.path


def test_one_environment_is_looked_at_when_it_is_named(tmp_path):
    report = asked(tmp_path, env="dev")

    assert ("dev",) == report.envs
    assert {1} == {len(each.envs) for each in report.per_column}


def test_a_mask_that_does_not_fit_is_an_exception_where_it_is_asked_for(tmp_path):
    born = [each for each in asked(tmp_path).exceptions if each.column == "born"]

    assert [("dev", "`born` cannot be masked by `hash`: a `date` has no room for a hash")] == [
        (each.env, each.reason) for each in born
    ]


def test_exceptions_alone_are_listed_and_fail_the_gate_when_asked(tmp_path):
    report = asked(tmp_path, exceptions_only=True, fail_on="exception")

    assert {"people.born:birth", "people.salary:secret"} == set(states(report))
    assert report.failed
    assert 6 == report.summary.total_classified
    assert not asked(tmp_path).failed
    masked = CONFIG.replace('pii = "redact"', 'pii = "redact"\nsecret = "redact"')
    clean = masked.replace('birth = "hash"', 'birth = "redact"')
    assert not asked(tmp_path, {"rocky.toml": clean}, fail_on="exception").failed


def test_a_view_of_clear_values_stores_nothing_and_one_of_a_masked_table_is_masked(tmp_path):
    report = asked(
        tmp_path,
        {
            "models/v.sql": "SELECT email FROM raw.people",
            "models/v.toml": VIEW,
            "models/w.sql": "SELECT email FROM people",
            "models/w.toml": VIEW,
        },
    )

    found = states(report)
    assert ("not_stored", "masked") == (found["v.email:pii"][0], found["w.email:pii"][0])


def test_a_mask_that_the_declaration_of_its_tag_has_counts(tmp_path):
    declared = "".join(f"[classifications.tags.{tag}]\n" for tag in ("pii", "birth", "internal"))
    config = f'{CONFIG}{declared}[classifications.tags.secret]\nmask = "redact"\n'
    report = asked(tmp_path, {"rocky.toml": config})

    assert ("masked", "masked") == states(report)["people.salary:secret"]


def test_of_two_tags_the_one_that_decides_is_named(tmp_path):
    source = SOURCE.replace('classification = "pii" }', 'classification = ["pii", "gdpr"] }', 1)
    report = asked(tmp_path, {"sources/raw.toml": source})
    gdpr = next(each for each in report.per_column if each.classification == "gdpr")

    assert ("redact", "pii", "masked") == (
        gdpr.envs[0].masking_strategy,
        gdpr.envs[0].decided_by,
        gdpr.envs[0].state,
    )
    # In `dev` the higher tag is clear by decision, and nobody decided for the other.
    assert ("exposed", "no mask for the tag `gdpr`") == (
        gdpr.envs[1].state,
        next(e.reason for e in report.exceptions if e.classification == "gdpr"),
    )


def test_a_lower_mask_that_a_higher_none_disables_is_an_exception(tmp_path):
    source = SOURCE.replace('classification = "pii" }', 'classification = ["pii", "secret"] }', 1)
    config = CONFIG.replace('pii = "redact"', 'pii = "none"\nsecret = "redact"')
    report = asked(tmp_path, {"sources/raw.toml": source, "rocky.toml": config})

    assert "`pii` stands higher than `secret`, and its mask is `none`" in {
        each.reason for each in report.exceptions if each.column == "email"
    }


def test_a_declassified_column_is_listed_with_who_and_why_and_no_longer_judged(tmp_path):
    report = asked(tmp_path, {"models/mails.toml": TAKEN_OFF})

    (gone,) = report.declassified
    assert ("mails", "mail", "pii", "on the public list", "dpo@example.com") == (
        gone.model,
        gone.column,
        gone.classification,
        gone.reason,
        gone.approved_by,
    )
    assert ("raw.people.email", "people.email", "mails.mail") == gone.path
    assert "mails.mail:pii" not in states(report)


def test_a_project_without_tags_has_nothing_to_say(tmp_path):
    plain = SOURCE.replace('classification = { "address.street" = "pii" }', "")
    plain = "\n".join(
        line.split(", classification")[0] + " }," if "classification" in line else line
        for line in plain.splitlines()
    )
    report = asked(tmp_path, {"sources/raw.toml": plain, "rocky.toml": ""}, fail_on="exception")

    assert ((), 0, False) == (report.per_column, report.summary.total_classified, report.failed)


def test_of_a_broken_model_nothing_is_claimed(tmp_path):
    with pytest.raises(ErrorsFound, match="1 error: nothing was looked up"):
        asked(tmp_path, {"models/mails.sql": "SELECT nope FROM people"})


@pytest.mark.parametrize("env", [None, "dev"])
def test_what_is_called_masked_is_what_a_run_masks_or_reads_masked(tmp_path, env):
    report = asked(tmp_path, {"rocky.toml": CONFIG.replace('"hash"', '"redact"')}, env=env)
    plan = compile_project(load_workspace(Workspace(tmp_path, mask_env=env)), cache=False).masks

    claimed = {
        (each.model, each.column.split(".")[0])
        for each in report.per_column
        if each.envs[0].state == "masked"
    }
    planned = {(table, column) for table, masks in plan.tables.items() for column in masks}
    assert planned <= claimed
    assert claimed - planned <= {("mails", "mail")}


def test_a_build_in_ci_hears_of_every_environment_and_of_a_cause_once(tmp_path):
    workspace = open_project(tmp_path, PROJECT)
    found = [each for each in ci(workspace, CiRequest()).found if each.code == "W004"]

    assert [
        "in environment `dev` nothing masks the tag `birth`: `people.born` has it in clear",
        "nothing masks the tag `secret`: `people.salary` has it in clear",
    ] == sorted(each.message for each in found)
    (dev,) = [each for each in found if "dev" in each.message]
    assert "rocky.toml" == dev.path
    assert '"hash"' == CONFIG[dev.span.start : dev.span.end]
    assert dev.notes == (
        "`born` cannot be masked by `hash`: a `date` has no room for a hash",
        "the way of the tag: raw.people.born -> people.born",
    )
    assert 4 == ci(workspace, CiRequest()).exit_code


def test_where_tags_are_strict_an_exposed_column_fails_a_build_in_ci(tmp_path):
    strict = CONFIG.replace("[classifications]", "[classifications]\nstrict = true")
    config = strict.replace('pii = "redact"', 'pii = "redact"\nsecret = "redact"')

    assert 1 == ci(open_project(tmp_path, {**PROJECT, "rocky.toml": config}), CiRequest()).exit_code


def test_what_a_copy_has_masked_before_is_not_said_to_hold_at_the_level_of_a_twin(tmp_path):
    settings = (
        '[pipeline.bronze]\ntype = "replication"\nstrategy = "full_refresh"\n'
        'source = { path = "lake" }\ntarget = { schema_template = "bronze_{schema}" }\n'
        '[pipeline.shop]\nmodels = "models/**"\n[mask]\npii = "redact"\n'
        '[governance]\nenforce = "twin"\nrestricted_schema = "restricted"\n'
    )
    source = SOURCE.replace('"raw.people"', '"lake.people"').replace(
        "columns = [", 'format = "csv"\npath = "lake/shop/people"\ncolumns = [', 1
    )
    files = {
        "rocky.toml": settings,
        "sources/lake.toml": source,
        "lake/shop/people/1.csv": "id\n1\n",
        "models/copied.sql": "SELECT id, email FROM bronze_shop.people",
    }

    found = {
        each.model: each.envs[0].level
        for each in asked(tmp_path, files).per_column
        if each.column == "email"
    }

    assert "twin" == found["people"]
    assert "write" == found["copied"] == found["spark_catalog.bronze_shop.people"]


def test_an_exception_of_several_environments_is_shown_once(tmp_path):
    open_project(tmp_path, PROJECT)

    answer = CliRunner().invoke(
        main, ["-c", str(tmp_path / "rocky.toml"), "-o", "table", "compliance"]
    )

    assert 1 == answer.output.count("exception: people.salary (secret)")
    assert "exception: people.salary (secret) in default, dev: no mask" in answer.output


def test_masks_of_a_catalogue_are_said_to_hold_there(tmp_path):
    settings = (
        '[mask]\npii = "redact"\n[governance]\nenforce = "catalog"\n'
        '[governance.catalog]\nkind = "databricks"\nurl = "http://127.0.0.1:1"\n'
        'token = "${TOKEN_OF_IT}"\nwarehouse_id = "1"\n'
    )

    open_project(tmp_path, {**PROJECT, "rocky.toml": settings})
    found = compliance(
        Workspace(tmp_path, environment={"TOKEN_OF_IT": "a token"}), ComplianceRequest()
    ).per_column

    levels = {each.envs[0].level for each in found if each.column in ("email", "mail")}
    assert {"catalog"} == levels
