from rocky.analysis.classification.facts import NO_FACTS
from rocky.analysis.lineage import ColumnRef
from tests.analysis.classification.projects import classified, tags


def test_a_tag_follows_the_values_of_its_column(tmp_path):
    facts = classified(
        tmp_path,
        {
            "a.sql": "SELECT id, email, upper(email) AS loud, city FROM raw.people",
            "b.sql": "WITH c AS (SELECT loud AS l, id FROM a) SELECT concat(l, id) AS x, id FROM c",
        },
    )

    assert tags(facts, "a") == {"email": {"pii"}, "loud": {"pii"}}
    assert tags(facts, "B") == {"x": {"pii"}}
    (fact,) = facts.of("b", "X")
    assert fact.origin == ColumnRef("raw.people", "email")
    assert fact.path == (
        ColumnRef("raw.people", "email"),
        ColumnRef("a", "loud"),
        ColumnRef("b", "x"),
    )
    assert not fact.declared
    assert facts.of("raw.people", "email")[0].declared


def test_a_column_has_every_tag_of_what_it_is_made_from(tmp_path):
    facts = classified(tmp_path, {"a.sql": "SELECT concat(email, born) AS x FROM raw.people"})

    assert tags(facts, "a") == {"x": {"pii", "gdpr"}}


def test_all_columns_of_a_table_are_classified_at_once(tmp_path):
    facts = classified(
        tmp_path,
        {
            "a.sql": "SELECT id, city FROM raw.people",
            "a.toml": '[classification]\n"*" = "internal"\n',
        },
    )

    assert tags(facts, "a") == {"id": {"internal"}, "city": {"internal"}}


def test_a_folder_adds_tags_and_takes_none_away(tmp_path):
    facts = classified(
        tmp_path,
        {
            "models/_defaults.toml": '[classification]\ncity = "internal"\nnowhere = "pii"\n',
            "models/a.sql": "SELECT id, city FROM raw.people",
            "models/a.toml": '[classification]\nCity = "place"\n',
        },
    )

    assert tags(facts, "a") == {"city": {"internal", "place"}}


def test_a_python_model_has_the_tags_of_all_it_reads(tmp_path):
    facts = classified(
        tmp_path,
        {
            "a.py": "def model(people):\n    return people\n",
            "a.toml": (
                'inputs = { people = "raw.people" }\noutput = [{ name = "n", type = "bigint" }]\n'
            ),
        },
    )

    assert tags(facts, "a") == {"n": {"pii", "gdpr"}}


def test_what_rows_are_chosen_by_is_shown_and_inherited_when_asked(tmp_path):
    query = {
        "a.sql": "SELECT id FROM raw.people WHERE email LIKE '%.org'",
        "b.sql": "SELECT id FROM a",
    }
    facts = classified(tmp_path / "shown", query)
    asked = classified(
        tmp_path / "asked", {**query, "rocky.toml": '[classifications]\ninfluence = "inherit"\n'}
    )

    assert tags(facts, "a") == {}
    assert [each.column for each in facts.influences("a")] == [ColumnRef("raw.people", "email")]
    assert [each.tag for each in facts.influences("b")] == ["pii"]
    assert tags(asked, "a") == {"id": {"pii"}}
    assert tags(asked, "b") == {"id": {"pii"}}


def test_a_project_without_tags_has_no_facts(tmp_path):
    source = {
        "sources/raw.toml": '[[source]]\nname = "t"\ncolumns = [{ name = "a", type = "int" }]\n'
    }

    assert classified(tmp_path, {**source, "a.sql": "SELECT a FROM t"}) is NO_FACTS


def test_a_star_over_unknown_columns_carries_the_tag_of_all_of_them(tmp_path):
    source = '[[source]]\nname = "lake.t"\nclassification = { "*" = "pii" }\n'
    facts = classified(
        tmp_path,
        {
            "rocky.toml": '[compile]\nundeclared = "unknown"\n',
            "sources/raw.toml": source,
            "a.sql": "SELECT * FROM lake.t",
            "b.sql": "SELECT upper(email) AS x FROM a",
        },
    )

    assert [each.tag for each in facts.of("a", "anything")] == ["pii"]
    assert [each.tag for each in facts.of("b", "x")] == ["pii"]


def test_a_value_that_asks_for_a_row_has_the_tag_and_a_join_is_influence(tmp_path):
    asked = {
        "exists_value": "EXISTS (SELECT 1 FROM people q WHERE q.email = p.email)",
        "in_value": "p.email IN (SELECT email FROM people)",
        "looked_up": "(SELECT max(q.city) FROM people q WHERE q.email = p.email)",
    }
    joined = "FROM people p {} JOIN people r ON r.email = p.email"
    decides = {
        "in_where": "SELECT id AS v FROM people p WHERE p.email IN (SELECT email FROM people)",
        "exists_where": "SELECT id AS v FROM people p WHERE EXISTS (SELECT 1 FROM people q WHERE q.email = p.email)",
        "semi": f"SELECT p.id AS v {joined.format('LEFT SEMI')}",
        "anti": f"SELECT p.id AS v {joined.format('LEFT ANTI')}",
        "inner": f"SELECT r.city AS v {joined.format('')}",
        "outer": f"SELECT CASE WHEN r.id IS NOT NULL THEN 'known' END AS v {joined.format('LEFT')}",
    }
    files = {"people.sql": "SELECT id, email, city FROM raw.people"}
    files |= {f"{name}.sql": f"SELECT {sql} AS v FROM people p" for name, sql in asked.items()}
    files |= {f"{name}.sql": sql for name, sql in decides.items()}
    facts = classified(tmp_path / "show", files)
    strict = classified(
        tmp_path / "inherit", {**files, "rocky.toml": '[classifications]\ninfluence = "inherit"\n'}
    )

    assert {name: {"v": {"pii"}} for name in asked} == {name: tags(facts, name) for name in asked}
    for name in decides:
        assert tags(facts, name) == {}, name
        assert {each.tag for each in facts.influences(name)} == {"pii"}, name
        assert tags(strict, name) == {"v": {"pii"}}, name
