"""Which columns are masked where: along views and tables, in environments, by declared tags."""

import pytest

import rocky
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import NothingSelected
from rocky.project.project import in_environment

KEY = "a key of tests that is long enough"
SOURCE = """
[[source]]
name = "people"
path = "people.parquet"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "salary", type = "decimal(10,2)", classification = "money" },
  { name = "address", type = "struct<street:string,city:string>" },
]
"""
MASKS = """
[mask]
pii = "hash"
money = "bucket(1000)"

[mask.dev]
pii = "redact"

[governance]
hash_key = "${MASK_KEY}"
"""
INLINE = '---toml\n[strategy]\ntype = "ephemeral"\n---\n'


@pytest.fixture
def compiled(tmp_path):
    def compile_files(files, config=MASKS, env=None, key=KEY):
        given = {"rocky.toml": config, "sources/people.toml": SOURCE}
        given |= {f"models/{name}": text for name, text in files.items()}
        for name, text in given.items():
            place = tmp_path / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)
        project = rocky.load_project(tmp_path, env={"MASK_KEY": key})
        if env is not None:
            project = in_environment(project, env)
        return rocky.compile_project(project, cache=False)

    return compile_files


def masked(compilation):
    return {
        table: {name: each.strategy for name, each in masks.items()}
        for table, masks in compilation.masks.tables.items()
    }


def errors(compilation):
    return [each.message for each in compilation.diagnostics if each.severity.value == "error"]


def test_a_table_masks_what_comes_clear_and_its_readers_do_not_mask_again(compiled):
    found = compiled(
        {
            "stage.sql": f"{INLINE}SELECT id, lower(email) AS email FROM people",
            "customers.sql": "SELECT id, email FROM stage",
            "again.sql": "SELECT id, email FROM customers",
        }
    )

    assert [] == errors(found)
    assert {"customers": {"email": "hash"}} == masked(found)
    assert {"stage": ("email",)} == found.masks.clear


def test_what_is_made_of_a_masked_column_stays_as_it_is(compiled):
    found = compiled(
        {
            "customers.sql": "SELECT id, email FROM people",
            "hosts.sql": "SELECT split_part(email, '@', 2) AS host FROM customers",
        }
    )

    assert {"customers": {"email": "hash"}} == masked(found)


def test_an_environment_has_its_own_masks_over_those_of_everywhere(compiled):
    found = compiled({"pay.sql": "SELECT email, salary FROM people"}, env="dev")

    assert {"pay": {"email": "redact", "salary": "bucket(1000)"}} == masked(found)


def test_a_declared_tag_brings_its_mask(compiled):
    config = '[classifications.tags.pii]\nmask = "partial"\n[classifications.tags.money]\nmask = "null"\n'
    model = {"pay.sql": "SELECT email, salary FROM people"}

    assert {"pay": {"email": "partial", "salary": "null"}} == masked(compiled(model, config))
    said = config + '[mask]\npii = "redact"\n'
    assert {"pay": {"email": "redact", "salary": "null"}} == masked(compiled(model, said))


def test_the_highest_tag_that_has_a_mask_decides(compiled):
    config = '[classifications]\norder = ["money", "pii"]\n' + MASKS
    model = {
        "pay.sql": "SELECT salary FROM people",
        "pay.toml": '[classification]\nsalary = "pii"\n',
    }

    assert {"pay": {"salary": "bucket(1000)"}} == masked(compiled(model, config))


def test_fields_are_masked_and_their_neighbours_are_not(compiled):
    found = compiled(
        {
            "homes.sql": "SELECT id, address FROM people",
            "homes.toml": '[classification]\n"address.street" = "pii"\n',
        }
    )

    assert {"homes": {"address": "street: hash"}} == masked(found)
    assert "`address`.`city`" in found.masks.of("homes")["address"].sql


def test_an_environment_that_nobody_describes_is_refused(compiled):
    with pytest.raises(NothingSelected, match=r"no environment `prd`.*\n?.*`dev`"):
        compiled({"pay.sql": "SELECT email FROM people"}, env="prd")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('[mask]\npii = "hsah"\n', "no mask `hsah`"),
        ('[mask]\npiii = "redact"\n', "no column has the tag `piii`"),
        ('[mask.dev]\npiii = "redact"\n', "no column has the tag `piii`"),
        ('[mask]\npii = "${MASK_KEY}"\n', "not taken from the environment"),
        ("[mask]\npii = 3\n", "must be a strategy"),
        ('[governance]\nhash_key = "0123456789abcdef0123"\n', "must not stand in a file"),
        ('[governance]\nhash_key = "${MASK_KEY:-0123456789abcdef}"\n', "must not stand in a file"),
        ('[governance]\nhash_key = "${SHORT}"\n', "`SHORT` is not set"),
        ('[governance]\nenforce = "twin"\n', "`twin` keeps clear tables, and it is not said where"),
        ('[governance.env.dev]\nenforce = "view"\n', "`view` keeps clear tables"),
        ('[governance]\nenforce = "catalog"\n', "`catalog` needs a catalogue with column masks"),
        ('[governance]\nenforce = "twin"\nrestricted_schema = "a/b"\n', "cannot be part of"),
        ('[governance]\nenforce = "twin"\nrestricted_schema = "{x}"\n', "only `{schema}` is"),
        ('[classifications.tags.pii]\nmask = "hsah"\n', "no mask `hsah`"),
    ],
)
def test_a_setting_that_would_mask_nothing_is_an_error_at_its_line(compiled, config, said):
    found = compiled({"pay.sql": "SELECT email FROM people"}, config)

    wrong = [each for each in found.diagnostics if each.severity.value == "error"]
    told = [each for each in wrong if said in each.message]
    assert told, [each.message for each in wrong]
    assert all(each.path == "rocky.toml" and each.span is not None for each in told)


TWO = {"pay.sql": "SELECT email FROM people", "mail.sql": "SELECT email FROM people"}


def test_a_variable_that_is_not_set_is_one_error_whose_help_can_be_followed(compiled):
    found = compiled(TWO, MASKS.replace("MASK_KEY", "OTHER"))

    (wrong,) = [each for each in found.diagnostics if each.severity.value == "error"]
    assert "the environment variable `OTHER` is not set" == wrong.message
    assert "set it; a default would be a secret in a file" == wrong.help
    assert {"pay", "mail"} == {each.table for each in found.masks.problems}


def test_a_key_that_nobody_names_is_one_error_for_all_columns(compiled):
    found = compiled(TWO, MASKS.partition("[governance]")[0])

    (wrong,) = [each for each in found.diagnostics if each.severity.value == "error"]
    assert ("set `hash_key` in `[governance]`", "E057") == (wrong.help, wrong.code.value)


def test_a_key_that_could_be_guessed_is_refused(compiled):
    found = compiled({"pay.sql": "SELECT email FROM people"}, key="short")

    assert any("shorter than 16 bytes" in each for each in errors(found))


def test_no_text_of_a_compilation_has_the_key(compiled):
    found = compiled({"pay.sql": "SELECT email FROM people"})

    assert found.project.config.governance.hash_key == KEY
    shown = [repr(found), repr(found.project.config), repr(found.masks), *errors(found)]
    assert not any(KEY in each for each in shown)


def test_another_mask_and_another_key_are_another_recipe(compiled):
    model = {"pay.sql": "SELECT email FROM people", "ids.sql": "SELECT id FROM people"}
    compilations = [
        compiled(model),
        compiled(model),
        compiled(model, env="dev"),
        compiled(model, key=f"{KEY} too"),
        compiled(model, '[mask]\npii = "none"\n'),
    ]
    pay, ids = (
        [fingerprints_of(each, [name])[name] for each in compilations] for name in ("pay", "ids")
    )

    assert pay[0] == pay[1]
    assert 4 == len(set(pay))
    assert 1 == len(set(ids))


PLAIN = '[mask]\npii = "redact"\nmoney = "bucket(1000)"\nbox = "redact"\n'
STAGE = {"stage.sql": "SELECT id, email, salary, address FROM people"}
STREET = SOURCE + 'classification = { "address.street" = "pii" }\n'


@pytest.mark.parametrize(
    ("query", "declared", "shown"),
    [
        ("SELECT concat(s.email, p.id) AS x FROM stage s, people p", 'x = "pii"', "x"),
        ("SELECT address.city AS x FROM stage", 'x = "pii"', "x"),
        ("SELECT address AS x FROM stage", 'x = "pii"', "x"),
        ("SELECT address AS x FROM stage", '"x.city" = "pii"', "x"),
        ("SELECT email AS x FROM stage", 'x = "box"', "x"),
    ],
    ids=["beside-a-clear-value", "another-field", "the-whole", "a-field-more", "a-higher-tag"],
)
def test_what_is_declared_of_a_masked_value_is_masked_unless_it_was_for_that(
    compiled, query, declared, shown
):
    order = '[classifications]\norder = ["box", "pii"]\n'
    files = {**STAGE, "shown.sql": query, "shown.toml": f"[classification]\n{declared}\n"}
    found = compiled({**files, "../sources/people.toml": STREET}, order + PLAIN)

    assert [] == errors(found)
    assert shown in masked(found).get("shown", {}), masked(found)


@pytest.mark.parametrize(
    ("query", "declared"),
    [
        ("SELECT email AS x FROM stage", 'x = "pii"'),
        ("SELECT email AS x FROM stage", 'x = "low"'),
        ("SELECT address.street AS x FROM stage", 'x = "pii"'),
        ("SELECT address AS x FROM stage", '"x.street" = "pii"'),
    ],
)
def test_what_is_declared_again_is_not_hashed_twice(compiled, query, declared):
    order = '[classifications]\norder = ["pii", "low"]\n'
    files = {**STAGE, "shown.sql": query, "shown.toml": f"[classification]\n{declared}\n"}
    config = order + MASKS.replace("money =", 'low = "redact"\nmoney =')
    found = compiled({**files, "../sources/people.toml": STREET}, config)

    assert [] == errors(found)
    assert "shown" not in masked(found)


@pytest.mark.parametrize("weaker", ["none", "truncate(3)"])
def test_of_two_masks_without_an_order_none_is_taken(compiled, weaker):
    files = {"a.sql": "SELECT email FROM people", "a.toml": '[classification]\nemail = "box"\n'}
    masks = f'[mask]\npii = "redact"\nbox = "{weaker}"\n'
    found = compiled(files, masks)
    assert any("it has the tag" in each for each in errors(found)), errors(found)

    assert [] == errors(compiled(files, f'[classifications]\norder = ["pii", "box"]\n{masks}'))


def test_an_expression_for_a_whole_does_not_undo_the_mask_of_a_field(compiled):
    files = {"a.sql": "SELECT address FROM people", "a.toml": '[classification]\naddress = "box"\n'}
    order = '[classifications]\norder = ["pii", "box"]\n'
    masks = '[mask]\npii = "redact"\nbox = "sql(value)"\n'
    found = compiled({**files, "../sources/people.toml": STREET}, order + masks)

    assert any("its field `street` has a mask of its own" in each for each in errors(found))


def test_a_value_that_has_its_tag_by_what_rows_are_chosen_by_is_masked(compiled):
    """What it is chosen by may be masked already; the value itself is not."""
    found = compiled(
        {
            "customers.sql": "SELECT id, email, address FROM people",
            "few.sql": "SELECT address.city AS city, email FROM customers WHERE email > 'a'",
            "fewer.sql": "SELECT city FROM few",
        },
        '[classifications]\ninfluence = "inherit"\n' + MASKS,
    )

    assert [] == errors(found)
    assert {"customers": {"email": "hash"}, "few": {"city": "hash"}} == masked(found)


def test_a_field_that_is_tagged_beside_a_masked_one_is_masked(compiled):
    model = {
        "customers.sql": "SELECT id, email, address.city AS city FROM people",
        "cards.sql": "SELECT named_struct('mail', email, 'home', city) AS card FROM customers",
        "cards.toml": '[classification]\n"card.home" = "pii"\n',
    }
    redact = MASKS.replace('pii = "hash"', 'pii = "redact"')

    assert {"card": "redact"} == masked(compiled(model, redact))["cards"]
    # A hash would hash the address a second time, so it has to be said.
    assert any("clear and masked values meet here" in each for each in errors(compiled(model)))


def test_the_masks_that_values_have_from_other_tables_are_part_of_what_a_table_is_made_from(
    compiled,
):
    files = {
        "customers.sql": "SELECT id, email, salary FROM people",
        "stage.sql": f"{INLINE}SELECT email FROM customers",
        "mails.sql": "SELECT email FROM stage",
        "sums.sql": "SELECT sum(salary) AS paid FROM customers",
    }
    first, again = compiled(files), compiled(files)
    other = compiled(files, env="dev")
    third = compiled(files, MASKS.replace("bucket(1000)", "bucket(10)"))

    def recipes(compilation, *keys):
        return [each.recipe for each in fingerprints_of(compilation, keys).values()]

    assert first.masks.above == again.masks.above
    assert {"email"} == {*first.masks.above["mails"]}
    assert "customers" not in first.masks.above
    assert "sums" not in first.masks.above
    assert recipes(first, "mails") == recipes(again, "mails") == recipes(third, "mails")
    assert recipes(first, "mails") != recipes(other, "mails")
    assert recipes(first, "sums") == recipes(other, "sums")


def test_a_key_that_was_masked_before_it_arrives_is_as_useless(compiled):
    files = {
        "customers.sql": "SELECT id, email FROM people",
        "stage.sql": f"{INLINE}SELECT id, email AS login FROM customers",
        "logins.sql": "SELECT login, id FROM stage",
        "logins.toml": '[strategy]\ntype = "merge"\nunique_key = ["login"]\n',
    }
    computed = {**files, "logins.sql": "SELECT concat(id, login) AS login FROM stage"}
    partial = MASKS.replace('pii = "hash"', 'pii = "partial"')

    assert [] == errors(compiled(files))
    (found,) = errors(compiled(files, partial))
    assert "`login` is a key of the merge, and masked by `partial` it cannot be" == found
    # What else is in it may keep values apart.
    assert [] == errors(compiled(computed, partial))
