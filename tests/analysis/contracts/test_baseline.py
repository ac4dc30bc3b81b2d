import json

from rocky.analysis.contracts import (
    Baseline,
    check_model_contract,
    decode_baseline,
    encode_baseline,
    load_baseline,
    record_baselines,
)
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import Span
from tests.analysis.contracts.outputs import codes, load_files, output_of

PATH = "contracts/m.baseline.json"
FILES = {
    "models/m.sql": "SELECT a, b FROM t",
    "contracts/m.contract.toml": "[rules]\nno_new_nullable = true\n",
}


def test_a_baseline_is_sorted_text_with_one_column_a_line():
    ir = output_of("SELECT B, a, c", "B int not null, a string, c int", unknown=("c",))

    assert """\
{
  "columns": {
    "a": {"nullable": true},
    "b": {"nullable": false}
  },
  "model": "m",
  "version": 1
}
""" == encode_baseline(ir)


def test_what_is_encoded_is_decoded_with_its_places():
    ir = output_of("SELECT columns, é", "columns int not null, `é` int")
    text = encode_baseline(ir)
    found = decode_baseline(PATH, text)

    assert isinstance(found, Baseline)
    assert {"columns": False, "é": True} == found.nullable
    assert ['"columns"', '"é"'] == [text[slice(*found.places[name])] for name in ("columns", "é")]
    assert text.index('"columns"') < found.places["columns"].start


def test_an_output_without_columns_has_a_baseline():
    assert {} == json.loads(encode_baseline(output_of("", "")))["columns"]


def test_a_text_that_is_no_baseline_is_said_to_be_unusable():
    for text, message in {
        '{"columns": ': "is not valid JSON",
        "[]": "it has no `columns`",
        '{"columns": {}, "version": 2}': "its version is `2`, not `1`",
        '{"columns": {"a": 1}, "version": 1}': "column `a` has no `nullable`",
    }.items():
        found = decode_baseline(PATH, text)
        assert isinstance(found, Diagnostic)
        assert ("E017", PATH) == (found.code, found.path)
        assert message in found.message


def test_a_syntax_error_has_its_place():
    found = decode_baseline(PATH, '{"columns"; 1}')

    assert isinstance(found, Diagnostic)
    assert Span(10, 11) == found.span


def test_an_absent_baseline_is_not_an_unreadable_one(tmp_path):
    project = load_files(tmp_path, FILES)
    contract = project.contracts["m"]

    assert load_baseline(project.root, contract) is None

    (tmp_path / PATH).mkdir()
    found = load_baseline(project.root, contract)

    assert isinstance(found, Diagnostic)
    assert "E017" == found.code


def test_a_recorded_baseline_holds_the_next_compile(tmp_path):
    project = load_files(tmp_path, FILES)
    before = output_of("SELECT a, b FROM t", "a int not null, b int")
    after = output_of("SELECT a, b FROM t", "a int, b int")

    assert [PATH] == record_baselines(project, {"m": before})
    assert [] == check_model_contract("m", project, {"m": before})
    assert ["E038"] == codes(check_model_contract("m", project, {"m": after}))
    assert ["m.baseline.json", "m.contract.toml"] == sorted(
        path.name for path in (tmp_path / "contracts").iterdir()
    )


def test_a_model_whose_columns_are_not_known_keeps_its_baseline(tmp_path):
    project = load_files(tmp_path, FILES)
    unknown = output_of("SELECT a, b FROM t", "a int", known=False)

    assert [] == record_baselines(project, {"m": unknown})
    assert not (tmp_path / PATH).exists()


def test_an_unreadable_baseline_is_reported_and_nothing_is_said_about_recording(tmp_path):
    project = load_files(tmp_path, FILES | {PATH: "not json"})
    output = output_of("SELECT a, b FROM t", "a int, b int")

    assert ["E017"] == codes(check_model_contract("m", project, {"m": output}))
