"""Findings about tags: what is said, where, and with which way."""

import pytest

from rocky.analysis.classification import classify
from rocky.compiler.passes import compile_project
from rocky.project import load_project
from tests.analysis.classification.projects import PEOPLE, tags
from tests.project.projects import finding, load

QUIET = '[classifications]\nallow_unmasked = ["pii", "gdpr"]\n'
LOGINS = {
    "models/stg.sql": "SELECT id, email FROM raw.people",
    "models/logins.sql": "SELECT id, lower(email) AS login FROM stg",
}
DECLASSIFY = """
[[declassify]]
column = "login"
tag = "pii"
reason = "logins are public"
approved_by = "privacy@example.com"
"""


def compiled(root, files):
    found = {"sources/raw.toml": PEOPLE, "rocky.toml": QUIET, **files}
    return compile_project(load(root, found), cache=False)


def lines(compilation):
    return [finding(compilation.project, each) for each in compilation.diagnostics]


def test_a_column_where_its_tag_is_not_allowed_is_told_with_the_way(tmp_path):
    allow = f'{QUIET}\n[classifications.tags.gdpr]\n[classifications.tags.pii]\nowner = "dpo"\nallow = {{ models = ["STG"] }}\n'
    compilation = compiled(tmp_path, {**LOGINS, "rocky.toml": allow})
    (found,) = compilation.diagnostics

    assert lines(compilation) == [
        "E050 models/logins.sql:1:28 'login' column `login` has the tag `pii`,"
        " which is not allowed in model `logins`"
    ]
    assert found.notes == (
        "the way of the tag: raw.people.email -> stg.email -> logins.login",
        "`pii` belongs to dpo",
    )
    assert [(each.path, each.message) for each in found.labels] == [
        ("sources/raw.toml", "`email` of `raw.people` is classified `pii`")
    ]


def test_schemas_tags_and_names_allow_a_tag(tmp_path):
    for number, allow in enumerate(
        ('schemas = ["default"]', 'schemas = ["spark_catalog.default"]', 'tags = ["secret"]')
    ):
        config = f"{QUIET}\n[classifications.tags.gdpr]\n[classifications.tags.pii]\nallow = {{ {allow} }}\n"
        files = {**LOGINS, "rocky.toml": config, "models/_defaults.toml": 'tags = ["secret"]\n'}

        assert lines(compiled(tmp_path / str(number), files)) == []


def test_a_tag_that_is_not_declared_is_told_at_its_line(tmp_path):
    config = f"{QUIET}\n[classifications.tags.gdpr]\n[classifications.tags.pii]\n"
    files = {
        **LOGINS,
        "rocky.toml": config,
        "models/stg.toml": '[classification]\nid = "pli"\n',
    }
    compilation = compiled(tmp_path, files)

    assert lines(compilation) == [
        "E051 models/stg.toml:2:6 '\"pli\"' no tag `pli` is declared in `[classifications.tags]`"
    ]
    assert compilation.diagnostics[0].help == "did you mean `pii`?"


def test_the_order_names_declared_tags(tmp_path):
    config = f'{QUIET}order = ["pii", "privat"]\n[classifications.tags.gdpr]\n[classifications.tags.pii]\n'

    assert lines(compiled(tmp_path, {"rocky.toml": config})) == [
        "E018 rocky.toml:3:17 '\"privat\"' no tag `privat` is declared"
    ]


def test_a_declassification_takes_the_tag_off_there_and_below(tmp_path):
    files = {**LOGINS, "models/logins.toml": DECLASSIFY, "models/all.sql": "SELECT * FROM logins"}
    compilation = compiled(tmp_path, files)
    facts = classify(compilation)

    assert lines(compilation) == []
    assert tags(facts, "stg") == {"email": {"pii"}}
    assert tags(facts, "logins") == {}
    assert tags(facts, "all") == {}
    assert [each.fact.tag for each in facts.declassified] == ["pii"]


def test_a_declassification_without_effect_is_an_error(tmp_path):
    absent = DECLASSIFY.replace('"login"', '"id"')
    given = f'{DECLASSIFY}\n[classification]\nlogin = "pii"\n'

    assert lines(compiled(tmp_path / "a", {**LOGINS, "models/logins.toml": absent})) == [
        "E052 models/logins.toml:4:7 '\"pii\"' the declassification has no effect: column `id` of"
        " model `logins` does not have that tag"
    ]
    assert lines(compiled(tmp_path / "b", {**LOGINS, "models/logins.toml": given})) == [
        "E052 models/logins.toml:4:7 '\"pii\"' the declassification has no effect: column `login` of"
        " model `logins` is given that tag by this model itself"
    ]


def test_a_declassification_says_who_and_why(tmp_path):
    files = {**LOGINS, "models/logins.toml": '[[declassify]]\ncolumn = "login"\ntag = "pii"\n'}

    assert {each.code for each in compiled(tmp_path, files).diagnostics} == {"E017"}


def test_a_contract_names_every_tag_of_its_column(tmp_path):
    contract = '[[columns]]\nname = "login"\nclassification = "gdpr"\n'
    compilation = compiled(tmp_path, {**LOGINS, "models/logins.contract.toml": contract})

    assert lines(compilation) == [
        "E053 models/logins.contract.toml:3:18 '\"gdpr\"' the contract promises the classification"
        " `gdpr` of column `login`, which has the tag `pii`"
    ]
    assert tags(classify(compilation), "logins") == {"login": {"pii", "gdpr"}}


def test_a_tag_that_nothing_masks_is_told_once_and_an_error_if_strict(tmp_path):
    said = (
        "W004 sources/raw.toml:6:55 '\"pii\"' nothing masks the tag `pii`: `stg.email` and 1 more"
        " have it in clear"
    )
    for strict, severity in (("false", "warning"), ("true", "error")):
        config = f'[classifications]\nstrict = {strict}\n[lints]\nW004 = "allow"\n'
        compilation = compiled(tmp_path / strict, {**LOGINS, "rocky.toml": config})
        found = [each for each in compilation.diagnostics if each.code == "W004"]

        assert [finding(compilation.project, each) for each in found] == [said]
        assert found[0].severity == severity


def test_a_tag_beside_one_that_is_masked_is_not_called_clear(tmp_path):
    both = {"models/logins.toml": '[classification]\nlogin = ["pii", "gdpr"]\n'}
    for mask, clear in (("redact", set()), ("none", {"gdpr"})):
        config = {"rocky.toml": f'[mask]\npii = "{mask}"\n'}
        found = compiled(tmp_path / mask, {**LOGINS, **both, **config}).diagnostics

        told = {
            tag
            for each in found
            if each.code == "W004"
            for tag in ("gdpr", "pii")
            if f"`{tag}`" in each.message
        }
        assert clear == told


def test_a_tag_of_a_column_that_a_source_or_seed_has_not_got_is_an_error(tmp_path):
    missing = PEOPLE + 'emial = "pii"\n'
    misspelt = missing.replace(
        'classification = { "address.street" = "pii" }\n',
        '[source.classification]\n"address.stret" = "pii"\n"ADDRESS.Street" = "pii"\n',
    )
    files = {
        "sources/raw.toml": misspelt,
        "seeds/staff.csv": "name,email\nAnna,a@b.example\n",
        "seeds/staff.toml": 'classification = { "e-mail" = "pii", "*" = "gdpr" }\n',
        **LOGINS,
    }
    found = lines(compiled(tmp_path, files))

    assert [each.split("`", 1)[1] for each in found if each.startswith("E041")] == [
        "raw.people` classifies `address.stret`, and `address` has no field `stret`",
        "raw.people` classifies `emial`, and has no column `emial`",
        "staff` classifies `e-mail`, and has no column `e-mail`",
    ], found


def test_a_seed_is_not_loaded_where_its_tags_are_not_allowed(tmp_path):
    files = {
        "seeds/staff.csv": "name,email\nAnna,a@b.example\n",
        "seeds/staff.toml": 'classification = { email = "pii" }\n',
        "models/one.sql": "SELECT 1 AS one",
    }
    for number, (allow, told) in enumerate(
        [('schemas = ["vault"]', 1), ('schemas = ["default"]', 0), ('models = ["staff"]', 0)]
    ):
        config = f"{QUIET}\n[classifications.tags.gdpr]\n[classifications.tags.pii]\nallow = {{ {allow} }}\n"
        found = lines(compiled(tmp_path / str(number), {**files, "rocky.toml": config}))

        assert told == len([each for each in found if each.startswith("E050")]), found


FOLDER = {
    "models/_defaults.toml": '[classification]\nlogin = "pii"\n',
    "models/logins.sql": "SELECT id, city AS login FROM raw.people",
}
ORDER = (
    '[classifications]\nallow_unmasked = ["pii", "gdpr", "internal"]\norder = ["pii", "internal"]\n'
)


def test_a_model_does_not_lower_what_its_folder_says(tmp_path):
    files = {**FOLDER, "models/logins.toml": '[classification]\nLogin = "internal"\n'}
    compilation = compiled(tmp_path, {**files, "rocky.toml": ORDER})

    assert lines(compilation) == [
        "E017 models/logins.toml:2:9 '\"internal\"' `Login` has the tag `pii` by what is said of the"
        " folder or the group, and `internal` does not lower it"
    ]
    assert tags(classify(compilation), "logins")["login"] == {"pii", "internal"}


def test_a_model_that_is_remembered_is_judged_by_the_order_of_now(tmp_path):
    files = {**FOLDER, "models/logins.toml": '[classification]\nlogin = "internal"\n'}
    load(tmp_path, {"sources/raw.toml": PEOPLE, "rocky.toml": QUIET, **files})
    assert not load_project(tmp_path, env={}, remember=True).diagnostics
    (tmp_path / "rocky.toml").write_text(ORDER)

    assert ["E017"] == [
        each.code for each in load_project(tmp_path, env={}, remember=True).diagnostics
    ]


def test_a_folder_does_not_lower_what_the_folder_around_it_says(tmp_path):
    files = {
        "rocky.toml": ORDER,
        "models/_defaults.toml": '[classification]\n"*" = "pii"\n',
        "models/open/_defaults.toml": '[classification]\ncity = ["internal"]\n',
        "models/open/places.sql": "SELECT city FROM raw.people",
    }
    (found,) = lines(compiled(tmp_path, files))

    assert found.startswith(
        "E017 models/open/_defaults.toml:2:8 '[\"internal\"]' `city` has the tag `pii`"
    )


def test_a_group_is_not_lowered_either_and_adding_or_raising_is_free(tmp_path):
    group = f'{ORDER}[group.open]\nclassification = {{ login = "pii" }}\n'
    query = {"models/logins.sql": FOLDER["models/logins.sql"]}
    for number, (said, wrong) in enumerate(
        (
            ('"internal"', True),
            ('["internal", "pii"]', False),
            ('"gdpr"', False),
            ('["internal", "gdpr"]', False),
        )
    ):
        sidecar = f'group = "open"\n[classification]\nlogin = {said}\n'
        files = {**query, "rocky.toml": group, "models/logins.toml": sidecar}
        assert bool(lines(compiled(tmp_path / str(number), files))) is wrong, said
    higher = {
        "rocky.toml": ORDER,
        "models/_defaults.toml": '[classification]\nlogin = "internal"\n',
        "models/logins.toml": '[classification]\nlogin = "pii"\n',
    }
    assert lines(compiled(tmp_path / "higher", {**query, **higher})) == []


def test_what_a_folder_says_is_taken_off_in_the_open_alone(tmp_path):
    files = {
        **FOLDER,
        "rocky.toml": ORDER,
        "models/logins.toml": f'[classification]\nlogin = "internal"\n{DECLASSIFY}',
        "models/others.sql": "SELECT login FROM logins",
    }
    compilation = compiled(tmp_path, files)
    facts = classify(compilation)

    assert lines(compilation) == []
    assert tags(facts, "logins") == {"login": {"internal"}}
    # The model below is in the folder, too.
    assert tags(facts, "others") == {"login": {"internal", "pii"}}
    assert [(each.model, each.fact.tag) for each in facts.declassified] == [("logins", "pii")]


def test_a_declassification_of_what_the_model_says_itself_is_an_error_also_where_the_folder_says_it(
    tmp_path,
):
    sidecar = f'[classification]\nlogin = "pii"\n{DECLASSIFY}'
    (found,) = lines(compiled(tmp_path, {**FOLDER, "models/logins.toml": sidecar}))

    assert found.startswith(
        "E017 models/logins.toml:6:7 '\"pii\"' `login` is given the tag `pii` by this"
    )


@pytest.mark.parametrize("file", ["models/_defaults.toml", "models/logins.toml"])
@pytest.mark.parametrize(
    "said",
    ['[mask]\npii = "none"\n', 'allow_unmasked = ["pii"]\n', '[governance]\nenforce = "write"\n'],
)
def test_masks_and_what_may_be_clear_are_said_for_the_project_alone(tmp_path, file, said):
    (found,) = lines(compiled(tmp_path, {**LOGINS, file: said}))

    assert found.startswith(f"E017 {file}:1:")


def test_folders_and_groups_declassify_nothing(tmp_path):
    folder = {**LOGINS, "models/_defaults.toml": DECLASSIFY}
    assert lines(compiled(tmp_path / "a", folder))[0].startswith("E017 models/_defaults.toml:")
    group = {
        **LOGINS,
        "rocky.toml": QUIET + DECLASSIFY.replace("[[declassify]]", "[[group.g.declassify]]"),
    }
    assert lines(compiled(tmp_path / "b", group))[0].startswith("E018 rocky.toml:")
