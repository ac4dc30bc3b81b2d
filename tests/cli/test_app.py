import json
import os
import pkgutil
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from rocky.cli import dbt_words
from rocky.cli.app import COMMANDS, load_command, main
from rocky.cli.commands import branch
from rocky.cli.console import ExitCode
from rocky.version import __version__

SOURCE = Path(__file__).parents[2] / "src"
MODEL = {"models/open.sql": "SELECT order_id FROM raw.orders\n"}
BROKEN = {"models/open.sql": "SELECT order_idd FROM raw.orders\n"}


def run_process(*arguments, **extra):
    return subprocess.run(
        [sys.executable, "-m", "rocky.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        **extra,
    )


def test_the_version_is_printed(rocky):
    assert f"rocky {__version__}\n" == rocky("--version").out


@pytest.mark.slow
def test_the_version_costs_little():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(5):
        run_process("--version")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)

    assert spent / 5 < 0.15


def test_the_one_line_helps_are_those_of_the_commands():
    own = {
        name: (main.get_command(None, name).help or "").split("\n\n")[0].replace("\n", " ")
        for name in COMMANDS
    }

    assert own == COMMANDS


def test_the_one_line_helps_of_branches_are_those_of_the_commands():
    group = main.get_command(None, "branch")
    own = {
        name: (group.get_command(None, name).help or "").split("\n\n")[0].replace("\n", " ")
        for name in branch.COMMANDS
    }

    assert own == branch.COMMANDS


def test_every_module_of_commands_is_a_command():
    folder = SOURCE / "rocky" / "cli" / "commands"
    modules = {each.name for each in pkgutil.iter_modules([str(folder)])}

    loaded = {name: load_command(name) for name in COMMANDS}

    assert modules == {each.callback.__module__.rpartition(".")[2] for each in loaded.values()}
    assert list(COMMANDS) == [each.name for each in loaded.values()]


def test_without_arguments_the_help_is_shown_and_it_is_a_failure(rocky):
    answer = rocky()

    assert ExitCode.FAILED == answer.code
    assert "Commands:" in answer.err


def test_a_misspelt_command_is_refused_with_the_nearest_name(rocky):
    answer = rocky("complie")

    assert ExitCode.FAILED == answer.code
    assert "error: no command `complie`; did you mean `compile`?" == answer.err.splitlines()[0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["ls"], "no command `ls`; what dbt calls so is `rocky list`"),
        (["debug"], "no command `debug`; what dbt calls so is `rocky doctor`"),
        (
            ["run", "--select", "stg_orders"],
            "No such option '--select'; models are named without one: `rocky run orders+`",
        ),
        (
            ["list", "-s", "stg_orders"],
            "No such option '-s'; models are named without one: `rocky list orders+`",
        ),
        (["compile", "--select", "stg_orders"], "No such option '--select'."),
        (["run", "--watch"], "No such option '--watch'; it is `rocky watch --run`"),
        (["run", "--selekt", "stg_orders"], "No such option '--selekt'."),
    ],
)
def test_what_is_typed_as_in_dbt_is_refused_with_what_it_is_called_here(rocky, typed, said):
    answer = rocky(*typed)

    assert ExitCode.FAILED == answer.code
    assert f"error: {said}" == answer.err.splitlines()[0]


@pytest.mark.parametrize("ours", dbt_words.COMMANDS.values())
def test_what_a_word_of_dbt_is_translated_to_is_a_command(rocky, ours):
    assert ExitCode.OK == rocky(*ours.split(), "--help").code


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "json", "list"),
        ("list", "-o", "json"),
        ("--output=json", "list"),
        ("-o", "table", "list", "--output", "json"),
    ],
)
def test_a_global_option_may_stand_before_or_after_the_command(rocky, write, arguments):
    write(MODEL)

    assert "list" == rocky(*arguments).json["command"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_config_may_stand_before_or_after_and_may_be_a_file_or_a_folder(
    rocky, write, monkeypatch, tmp_path, place
):
    write(MODEL)
    monkeypatch.chdir(tmp_path.parent)
    for config in (tmp_path, tmp_path / "rocky.toml"):
        option = ("--config", str(config))
        answer = rocky(*option, "list") if place == "before" else rocky("list", *option)

        assert ["open"] == [model["name"] for model in answer.json["models"]]


def test_the_project_is_found_from_a_folder_inside_it(rocky, write, monkeypatch):
    root = write(MODEL)
    monkeypatch.chdir(root / "models")

    assert 0 == rocky("compile").code


def test_paths_in_findings_are_seen_from_the_working_folder(rocky, write, monkeypatch):
    root = write(BROKEN)
    monkeypatch.chdir(root / "models")

    assert "--> ../models/open.sql:1:8" in rocky("compile", "-o", "table").out


def test_an_option_that_means_nothing_to_a_command_is_refused(rocky, write):
    write(MODEL)

    answers = [
        rocky("--state-path", "state.db", "compile"),
        rocky("compile", "--state-path", "state.db"),
        rocky("explain", "E003", "-c", "rocky.toml"),
    ]

    assert [ExitCode.FAILED] * 3 == [answer.code for answer in answers]
    assert "error: `compile` does not take `--state-path`" in answers[0].err
    assert "error: `explain` does not take `--config`" in answers[2].err


def test_quiet_leaves_only_the_findings(rocky, write):
    write(BROKEN)
    loud, quiet = rocky("compile", "-o", "table"), rocky("compile", "-q", "-o", "table")

    assert loud.out.startswith(quiet.out)
    assert "1 error in 1 model" in loud.out
    assert "1 error in 1 model" not in quiet.out


def test_a_failure_is_one_line_on_standard_error(rocky):
    answer = rocky("compile", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "" == answer.out
    assert answer.err.startswith("error: no `rocky.toml` in")
    assert 1 == len(answer.err.splitlines())


def test_a_failure_in_json_is_a_document_too(rocky):
    answer = rocky("compile", "-o", "json")

    assert "ProjectNotFound" == answer.json["error"]["kind"]


def test_wrong_usage_is_a_failure_and_a_document_in_json(rocky):
    answer = rocky("compile", "--no-such-option", "-o", "json")

    assert ExitCode.FAILED == answer.code
    assert {"kind": "UsageError", "message": "No such option: --no-such-option"} == answer.json[
        "error"
    ] or "--no-such-option" in answer.json["error"]["message"]


@pytest.mark.slow
def test_a_pipe_gets_text_and_json_where_the_environment_asks_for_it(write, monkeypatch):
    root = write(BROKEN)
    text = run_process("compile", cwd=root)
    monkeypatch.setenv("ROCKY_OUTPUT", "json")
    document = run_process("compile", cwd=root)

    assert 1 == text.returncode == document.returncode
    assert text.stdout.startswith("error[E003 unknown-column]")
    assert "E003" == json.loads(document.stdout)["diagnostics"][0]["code"]
    assert "" == text.stderr == document.stderr


def test_options_go_before_what_the_environment_asks_for(rocky, write):
    write(BROKEN)

    assert rocky("compile", "-o", "table").out.startswith("error[E003")
    assert rocky("compile", "--format", "concise").out.startswith("models/")


def test_an_output_that_does_not_exist_is_refused(rocky, write, monkeypatch):
    write({})
    monkeypatch.setenv("ROCKY_OUTPUT", "yaml")

    answer = rocky("compile")

    assert 1 == answer.code
    assert "error: `ROCKY_OUTPUT` is `yaml`, and can be `table` or `json`" in answer.err


@pytest.mark.slow
def test_a_reader_that_stops_early_sees_no_traceback(write):
    root = write({f"models/m{index}.sql": "SELECT 1 AS one\n" for index in range(50)})
    command = f"{sys.executable} -m rocky.cli -o table list | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )

    assert "" == done.stderr


def test_an_unforeseen_failure_is_a_sentence_not_a_traceback(tmp_path):
    code = (
        "import sys; from rocky.cli import app;"
        "app.load_command = lambda *_: 1 / 0;"
        "app.main(['compile', '-o', 'table'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )

    assert 1 == done.returncode
    assert "internal error: ZeroDivisionError: division by zero" == done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_an_interrupt_leaves_with_130(monkeypatch, rocky, write):
    write(MODEL)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rocky.cli.app.load_command", interrupt)

    assert ExitCode.INTERRUPTED == rocky("compile").code


def test_an_interrupted_command_in_json_is_one_document(monkeypatch, rocky, write):
    write(MODEL)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("rocky.operations.graph.list.compile_workspace", interrupt)
    answer = rocky("list", "-o", "json")

    assert ExitCode.INTERRUPTED == answer.code
    assert ("list", {"kind": "Interrupted", "message": "interrupted"}) == (
        answer.json["command"],
        answer.json["error"],
    )
    assert "interrupted\n" == answer.err


def test_an_interrupt_while_the_command_is_loading_leaves_with_130_and_no_traceback():
    code = (
        "import sys, types\n"
        "class Stop:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "import rocky.cli.app\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )

    assert (ExitCode.INTERRUPTED, "interrupted\n") == (done.returncode, done.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("compile", "-o", "json"), ("list", "-o", "table"), ("--help",)]
)
@pytest.mark.slow
def test_output_that_cannot_be_written_is_one_line_and_a_failure(write, arguments):
    root = write(MODEL)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rocky.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
        )

    assert (1, "error: cannot write the output: no space left on device\n") == (
        done.returncode,
        done.stderr,
    )


@pytest.mark.slow
def test_a_closed_standard_output_is_no_failure(write):
    root = write(MODEL)
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m rocky.cli list >&-"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_a_config_that_does_not_exist_is_named(rocky):
    answer = rocky("-c", "nowhere", "compile", "-o", "table")

    assert (
        "error: `nowhere` does not exist: name a project's `rocky.toml` or its folder\n"
        == answer.err
    )


def test_a_failure_is_text_when_a_form_of_text_was_asked_for(rocky):
    answer = rocky("compile", "--format", "concise")

    assert ExitCode.FAILED == answer.code
    assert "" == answer.out
    assert answer.err.startswith("error: no `rocky.toml` in")


@pytest.mark.slow
def test_a_name_that_is_not_utf8_is_printed_escaped(write):
    root = write(MODEL)
    (root / "models" / os.fsdecode(b"caf\xe9.sql")).write_text("SELECT nope FROM raw.orders\n")
    done = run_process("compile", "-o", "table", cwd=root)

    assert 1 == done.returncode
    assert "caf\\udce9" in done.stdout
