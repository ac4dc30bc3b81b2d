"""Rows that are shown hide what is classified, also where a tag was only inherited."""

from dataclasses import replace

import pytest

from rocky.errors import RockyError
from rocky.operations.execution.run import run
from rocky.operations.report import encode_report
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.workspace import compile_workspace
from rocky.plan.request import RunRequest
from tests.operations.people import HIDDEN, leaks, open_people
from tests.operations.shops import OpenShop, keep, put_back


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    root = tmp_path_factory.mktemp("rows") / "shop"
    with pytest.MonkeyPatch.context() as patch:
        run(open_people(OpenShop(root, patch)).workspace, RunRequest())
    keep(root)
    return root


@pytest.fixture
def people(template, monkeypatch):
    """A shop whose model `logins` is built, two steps below what is classified."""
    shop = OpenShop(template, monkeypatch)
    put_back(template)
    return shop


def shown(shop, **asked):
    found = show(shop.workspace, ShowRequest(**asked))
    assert not leaks(repr(found.rows) + repr(found.values))
    return found


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"where": "id > 0"},
        {"where": "upper(city) = 'BONN' or true"},
        {"version": 0},
        {"columns": ("login", "id", "city")},
    ],
)
def test_a_table_two_steps_below_hides_what_it_inherited(people, asked):
    found = shown(people, model="logins", **asked)

    assert ([HIDDEN] * 3, ["Bonn", "Bonn", "Rome"]) == (
        [row["login"] for row in found.rows],
        [row["city"] for row in found.rows],
    )
    assert [("login", "pii")] == [(e.name, e.hidden) for e in found.columns if e.hidden]


def test_a_source_and_a_model_that_was_never_built_are_hidden_too(people):
    people.write("models/later.sql", "SELECT concat(login, '!') AS l FROM logins")

    assert HIDDEN == shown(people, model="raw.people").rows[0]["email"]
    assert HIDDEN == shown(people, model="later").rows[0]["l"]


def test_a_table_by_its_full_name_is_the_model_that_makes_it(people):
    assert HIDDEN == shown(people, model="spark_catalog.default.logins").rows[0]["login"]


def test_a_table_that_no_model_makes_any_more_is_hidden_by_the_names_of_its_columns(people):
    (people.root / "models/stg_people.sql").rename(people.root / "models/stg_persons.sql")
    people.write("models/logins.sql", "SELECT id, lower(email) AS login, city FROM stg_persons")

    found = shown(people, model="spark_catalog.default.stg_people")

    assert [None, "pii", None] == [each.hidden for each in found.columns]


def test_a_column_that_the_model_no_longer_has_is_hidden_by_its_name(people):
    people.write("models/stg_people.sql", "SELECT id, city, email AS mail FROM raw.people")
    people.write("models/logins.sql", "SELECT id, lower(mail) AS login, city FROM stg_people")

    assert HIDDEN == shown(people, model="stg_people").rows[0]["email"]


@pytest.mark.parametrize("broken", ["SELECT id, lower(emial) AS login FROM stg_people", "SELEC"])
def test_of_a_model_that_does_not_compile_nothing_is_shown(people, broken):
    people.write("models/logins.sql", broken)

    assert {"id": HIDDEN, "login": HIDDEN, "city": HIDDEN} == shown(people, model="logins").rows[0]


def test_a_file_of_tags_with_errors_hides_everything(people):
    text = (people.root / "sources/raw.toml").read_text()
    people.write("sources/raw.toml", text.replace('type = "string"', 'type = "strin"', 1))

    assert all(
        str(each).startswith("(hidden: ") for each in shown(people, model="logins").rows[0].values()
    )


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("SELECT upper(login) AS e, city FROM logins", [True, False]),
        ("SELECT l.id, p.email AS x FROM logins l JOIN raw.people p ON l.id = p.id", [False, True]),
        ("SELECT city, max(login) AS m FROM logins GROUP BY city", [False, True]),
        ("SELECT (SELECT min(login) FROM logins) AS m, 1 AS one", [True, False]),
        ("SELECT CASE WHEN id > 1 THEN login ELSE 'x' END AS c FROM logins", [True]),
        ("SELECT CASE WHEN login LIKE 'a%' THEN 1 ELSE 0 END AS c FROM logins", [True]),
        ("WITH t AS (SELECT login AS a FROM logins) SELECT a, length(a) AS n FROM t", [True, True]),
        ("SELECT x FROM (SELECT id AS x FROM logins) ORDER BY x", [False]),
        ("SELECT email AS x, city AS x FROM stg_people", [True, False]),
        ("SELECT city FROM logins UNION ALL SELECT login FROM logins", [True]),
        ("SELECT login || city AS both, login = 'a' AS is_a FROM logins", [True, True]),
        ("SELECT first_value(login) OVER (ORDER BY id) AS f FROM logins", [True]),
        ("SELECT count(login) AS n FROM logins", [False]),
        ("SELECT * FROM logins", [False, True, False]),
    ],
)
def test_a_query_of_ones_own_has_the_tags_of_what_it_computes_from(people, sql, hidden):
    found = shown(people, sql=sql)

    assert hidden == [each.hidden is not None for each in found.columns]
    for row in found.values:
        assert hidden == [value == HIDDEN for value in row]


def test_what_spark_quotes_of_a_value_is_not_told(people):
    with pytest.raises(RockyError) as caught:
        show(people.workspace, ShowRequest(sql="SELECT CAST(login AS BIGINT) AS n FROM logins"))

    assert "is classified" in str(caught.value)
    assert not leaks(f"{caught.value!r} {caught.value.__cause__!r}")


def test_the_document_says_which_columns_are_hidden(people):
    found = encode_report(show(people.workspace, ShowRequest("logins")))

    assert [None, "pii", None] == [each.get("hidden") for each in found["columns"]]


def test_a_project_without_tags_shows_all(people):
    text = (people.root / "sources/raw.toml").read_text()
    people.write("sources/raw.toml", text.replace(', classification = "pii"', ""))

    found = show(people.workspace, ShowRequest("logins"))

    assert "ada@secret.example" == found.rows[0]["login"]


ROLES = """
[classifications.tags.pii]
clear_for = ["privacy"]
[role.privacy]
members = ["dpo@shop.example"]
[role.legal]
inherits = ["privacy"]
members = ["judge"]
"""


def looks_as(shop, **environment):
    workspace = replace(shop.workspace, environment=environment)
    return show(workspace, ShowRequest("logins")).rows[0]["login"]


def test_members_of_a_role_that_the_tag_names_are_shown_its_values(people):
    people.append("rocky.toml", ROLES)

    assert "ada@secret.example" == looks_as(people, ROCKY_IDENTITY="dpo@shop.example")
    assert "ada@secret.example" == looks_as(people, USER="judge")
    assert HIDDEN == looks_as(people, USER="somebody")
    assert HIDDEN == looks_as(people, USER="DPO@shop.example")


def test_a_member_of_one_role_is_still_not_shown_another_tag(people):
    people.append("rocky.toml", ROLES + "[classifications.tags.secret]\n")
    people.write("models/stg_people.toml", '[classification]\nemail = "secret"\n')

    assert "(hidden: secret)" == looks_as(people, USER="judge")


def test_what_is_clear_for_everybody_is_shown(people):
    people.append("rocky.toml", '[classifications.tags.pii]\nclear_for = ["*"]\n')

    assert "ada@secret.example" == looks_as(people, USER="somebody")


def test_a_role_that_nobody_declares_is_an_error(people):
    people.append("rocky.toml", ROLES.replace('["privacy"]', '["privcy"]', 1))

    found = [each.message for each in compile_workspace(people.workspace).diagnostics]

    assert any("no role `privcy`" in each for each in found)
