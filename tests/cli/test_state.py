import pytest

from rocky.cli.console import ExitCode
from rocky.ledger import STATE_FILE
from tests.cli.recorded import FIRST, record_past
from tests.cli.test_schemas import check


def test_the_state_has_watermarks_intervals_and_the_file(rocky, shop):
    record_past(shop)
    answer = rocky("state")
    document = answer.json

    assert [] == check(document, "state")
    assert (STATE_FILE, 6, 6, 2) == (
        document["path"],
        document["schema_version_supported"],
        document["schema_version_on_disk"],
        document["runs"],
    )
    assert ["2026-05-29"] == [each["last_value"] for each in document["watermarks"]]
    assert ["Computed", "Computed", "Failed"] == [each["status"] for each in document["partitions"]]


def test_the_text_sums_up_the_intervals_of_a_model(rocky, shop):
    record_past(shop)
    lines = [" ".join(line.split()) for line in rocky("state", "-o", "table").out.splitlines()]

    assert [
        "state: .rocky-state.db (schema 6)",
        "2 runs, 4 executions, 1 recorded file",
        "",
        "TABLE WATERMARK UPDATED (UTC) RUN",
        f"shop.marts.fct_revenue 2026-05-29 2026-05-30 11:04:22 {FIRST}",
        "",
        "MODEL INTERVALS COMPUTED FAILED FIRST LAST ROWS",
        "fct_revenue 3 2 1 2026-05-28 2026-05-29 20",
    ] == lines


def test_no_state_yet_is_fine_and_makes_no_file(rocky, shop):
    answer = rocky("state")

    assert ExitCode.OK == answer.code
    assert [] == check(answer.json, "state")
    assert "schema_version_on_disk" not in answer.json
    assert (
        "no state yet: `.rocky-state.db` is made by the first run\n"
        == rocky("state", "-o", "table").out
    )
    assert not (shop / STATE_FILE).exists()


def test_the_state_file_lies_beside_the_config_that_was_named(rocky, shop, tmp_path, monkeypatch):
    record_past(shop)
    monkeypatch.chdir(tmp_path)

    assert 2 == rocky("state", "--config", "shop").json["runs"]
    assert 2 == rocky("state", "--config", "shop/rocky.toml").json["runs"]
    assert ExitCode.FAILED == rocky("state", "--config", "shop/other.toml").code


UNSET = "rocky.toml:3:14: the environment variable `VURL` is not set; set it, or give a default"


@pytest.mark.parametrize("command", ["state", "history", "verify", "plan"])
def test_a_variable_of_the_state_that_is_not_set_is_named(rocky, write, monkeypatch, command):
    monkeypatch.delenv("VURL", raising=False)
    state = '[state]\nbackend = "valkey"\nvalkey_url = "${VURL}"\n[pipeline.p]\nmodels = "models"\n'
    write({"rocky.toml": state, "models/one.sql": "SELECT 1 AS one\n"})
    answer = rocky(command, "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert UNSET in answer.err
    assert "not an address" not in answer.err


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('[state]\nbackend = "s4"\n', "rocky.toml:2:11: `s4` is not one of `local`"),
        ("[state\n", "rocky.toml:1:6: not valid TOML"),
    ],
)
def test_where_the_state_is_is_not_guessed(rocky, write, config, said):
    write({"rocky.toml": config})
    answer = rocky("history", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert said in answer.err


def test_other_errors_do_not_hide_a_state_that_is_here(rocky, shop):
    record_past(shop)
    config = shop / "rocky.toml"
    config.write_text(f"{config.read_text()}\n[state.retention]\nmax_age_dayz = 1\n[buget]\n")

    assert 2 == len(rocky("history").json["runs"])
