from rocky.cli.console import ExitCode

GOOD = "SELECT order_id FROM raw.orders\n"
WARNS = "SELECT order_id + 1 FROM raw.orders\n"
BAD = "SELECT nope FROM raw.orders\n"


def test_the_exit_code_tells_clean_warnings_and_errors_apart(rocky, write):
    codes = []
    for sql in (GOOD, WARNS, BAD):
        write({"models/one.sql": sql})
        answer = rocky("ci")
        codes.append(answer.code)

        assert answer.code == answer.json["exit_code"]

    assert [ExitCode.OK, ExitCode.WARNINGS, ExitCode.FAILED] == codes


def test_inside_github_actions_findings_are_annotations(rocky, write, monkeypatch):
    write({"models/one.sql": BAD})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("ROCKY_OUTPUT")

    assert rocky("ci").out.startswith("::error file=models/one.sql,line=1")
    assert "ci" == rocky("ci", "-o", "json").json["command"]
    assert rocky("ci", "--format", "concise").out.startswith("models/one.sql:1:8: error[E003]")


def test_annotations_are_placed_from_the_working_folder(rocky, write, monkeypatch):
    root = write({"models/one.sql": BAD})
    monkeypatch.chdir(root.parent)
    answer = rocky("-c", str(root / "rocky.toml"), "ci", "--format", "github")

    assert answer.out.startswith(f"::error file={root.name}/models/one.sql,line=1")


def test_tests_that_were_not_run_are_not_claimed_to_have_passed(rocky, write):
    write({"models/one.sql": GOOD})

    assert rocky("ci").json["tests_ok"] is None
