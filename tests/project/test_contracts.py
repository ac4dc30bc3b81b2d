import pytest

from rocky.diagnostics import Severity
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import UNKNOWN
from tests.project.projects import findings, helps, load

SQL = "SELECT 1 AS id\n"
CONTRACT = """\
[[columns]]
name = "id"
type = "struct<a:decimal(18,2),b:array<string>>"
nullable = false
description = "the key"
[[columns]]
name = "note"
[rules]
required = ["id"]
protected = ["id", "note"]
no_new_nullable = true
strict = true
"""


def test_a_contract_has_its_promises_and_their_places(tmp_path):
    project = load(tmp_path, {"models/orders.sql": SQL, "contracts/Orders.contract.toml": CONTRACT})
    contract = project.contracts["orders"]
    text = project.texts[contract.path].text
    first, second = contract.columns

    assert [] == findings(project)
    assert (parse_type("struct<a:decimal(18,2),b:array<string>>"), False) == (
        first.type,
        first.nullable,
    )
    assert (None, None) == (second.type, second.nullable)
    assert ['"id"', "false", '"note"'] == [
        text[slice(*span)] for span in (first.span, first.nullable_span, second.span)
    ]
    assert [("id", '"id"'), ("note", '"note"')] == [
        (rule.column, text[slice(*rule.span)]) for rule in contract.protected
    ]
    assert ["id"] == [rule.column for rule in contract.required]
    assert (True, True) == (contract.no_new_nullable, contract.strict)


def test_a_contract_may_stand_beside_its_model(tmp_path):
    files = {
        "models/a/m.sql": SQL,
        "models/a/m.toml": 'name = "orders"',
        "models/a/m.contract.toml": CONTRACT,
    }
    project = load(tmp_path, files)

    assert [] == findings(project)
    assert "models/a/m.contract.toml" == project.contracts["orders"].path


def test_a_contract_without_a_model_is_a_warning_with_a_suggestion(tmp_path):
    files = {"models/orders.sql": SQL, "contracts/ordrs.contract.toml": CONTRACT}
    project = load(tmp_path, files)

    assert [
        "W011 contracts/ordrs.contract.toml the contract is for model `ordrs`, which does not exist"
    ] == findings(project)
    assert [Severity.WARNING] == [one.severity for one in project.diagnostics]
    assert ["did you mean `orders`?"] == helps(project)


def test_two_contracts_for_one_model_are_reported(tmp_path):
    files = {
        "models/m.sql": SQL,
        "contracts/m.contract.toml": CONTRACT,
        "models/m.contract.toml": CONTRACT,
    }
    project = load(tmp_path, files)

    assert ["E017 models/m.contract.toml model `m` has two contracts"] == findings(project)
    assert "contracts/m.contract.toml" == project.contracts["m"].path


@pytest.mark.parametrize(
    ("text", "expected", "help_text"),
    [
        ('[[columns]]\nname = "a"\ntype = "Int64"', "3:9 'Int64' ", "Spark calls it `bigint`"),
        ('[[columns]]\ntype = "int"', "1:1 '[[columns]]' missing key `name`", None),
        ('[[column]]\nname = "a"', "1:3 'column' unknown key `column`", "did you mean `columns`?"),
        ('[[columns]]\nname = "a"\n[[columns]]\nname = "A"', "4:8 '\"A\"' column `A` is promised twice", None),
        ('[rules]\nrequire = ["a"]', "2:1 'require' unknown key `require`", "did you mean `required`?"),
        ('[rules]\nstrict = "yes"', "2:10 '\"yes\"' `strict` must be `true` or `false`, not a text", None),
        ("[rules\n", "1:6 's' not valid TOML: expected ']' at the end of a table declaration", None),
    ],
)  # fmt: skip
def test_a_bad_contract_is_reported_at_its_own_place(tmp_path, text, expected, help_text):
    project = load(tmp_path, {"models/m.sql": SQL, "contracts/m.contract.toml": text})

    assert 1 == len(findings(project)), findings(project)
    assert findings(project)[0].startswith(f"E017 contracts/m.contract.toml:{expected}")
    assert help_text is None or [help_text] == helps(project)


def test_a_promise_of_an_unreadable_type_promises_no_type(tmp_path):
    text = '[[columns]]\nname = "a"\ntype = "nope"\n'
    project = load(tmp_path, {"models/m.sql": SQL, "contracts/m.contract.toml": text})

    assert UNKNOWN is project.contracts["m"].columns[0].type


def test_a_file_that_is_not_named_like_a_contract_is_reported(tmp_path):
    project = load(tmp_path, {"models/m.sql": SQL, "contracts/m.toml": CONTRACT})

    assert ["E017 contracts/m.toml `contracts/m.toml` is not read as a contract"] == findings(
        project
    )
    assert ["name it `m.contract.toml`"] == helps(project)
