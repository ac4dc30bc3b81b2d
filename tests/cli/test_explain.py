from rocky.cli.console import ExitCode
from rocky.diagnostics import REGISTRY


def test_a_code_is_explained_in_markdown(rocky):
    answer = rocky("explain", "e003", "-o", "table")

    assert answer.out.startswith("# E003 unknown-column\n")


def test_a_name_is_as_good_as_a_code(rocky):
    assert rocky("explain", "E003").out == rocky("explain", "unknown-column").out


def test_the_document_has_the_text_and_the_facts(rocky):
    document = rocky("explain", "E003", "-o", "json").json

    assert ("E003", "unknown-column", "error", False) == (
        document["code"],
        document["name"],
        document["severity"],
        document["suppressible"],
    )
    assert document["explanation"].startswith("# E003")


def test_without_a_code_all_are_listed(rocky):
    lines = rocky("explain", "-o", "table").out.splitlines()

    assert [row.code.value for row in REGISTRY] == [line.split()[0] for line in lines]


def test_an_unknown_code_is_an_error_with_the_nearest_one(rocky):
    answer = rocky("explain", "unknown-colum")

    assert ExitCode.FAILED == answer.code
    assert "did you mean `unknown-column`?" in answer.err


def test_a_code_of_no_diagnostic_is_an_error_with_its_neighbours(rocky):
    last = [row.code.value for row in REGISTRY if row.code.value.startswith("E")]
    nearest = ", ".join(f"`{each}`" for each in sorted(last)[-3:])

    assert (
        f"error: no diagnostic is called `E999`; the nearest codes are {nearest};"
        " `rocky explain` lists every code\n"
    ) == rocky("explain", "E999").err


def test_a_code_of_an_earlier_release_is_explained_by_the_one_that_replaces_it(rocky):
    assert rocky("explain", "E041").out == rocky("explain", "W006").out
