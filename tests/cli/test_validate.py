from rocky.cli.console import ExitCode
from tests.cli.conftest import CONFIG

GOOD = {"models/a.sql": "SELECT this is not even SQL\n"}


def test_sql_is_not_looked_into(rocky, write):
    write(GOOD)
    answer = rocky("validate")

    assert (ExitCode.OK, True) == (answer.code, answer.json["valid"])
    assert (1, 1) == (answer.json["models"], answer.json["sources"])
    assert ["main"] == answer.json["pipelines"]


def test_a_mistake_in_a_file_is_reported_at_its_line(rocky, write):
    write({**GOOD, "rocky.toml": CONFIG.replace("models =", "modles =")})
    answer = rocky("validate", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "--> rocky.toml:6:1" in answer.out
    assert "did you mean `models`?" in answer.out


def test_findings_that_the_project_allows_are_left_out(rocky, write):
    shadows = {"models/orders.sql": "SELECT 1 AS one\n", "seeds/orders.csv": "a\n1\n"}
    write(shadows)
    noisy = rocky("validate").json["diagnostics"]
    write({"rocky.toml": CONFIG + '\n[lints]\nshadowed-name = "allow"\n'})

    assert ["W023"] == [each["code"] for each in noisy]
    assert [] == rocky("validate").json["diagnostics"]
