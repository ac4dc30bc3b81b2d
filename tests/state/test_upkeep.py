"""Commands that change the state outside a run, on a state that is kept elsewhere."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.ledger import STATE_FILE, open_history_reader
from tests.cli.recorded import record_past
from tests.servers.s3 import BUCKET, s3_environment

pytestmark = pytest.mark.server

TABLE = "shop.marts.fct_revenue"


@pytest.fixture
def machines(tmp_path, prefix, s3_address, monkeypatch) -> tuple[Path, Path]:
    """Two machines with the same project, of which the first has run."""
    for name, value in s3_environment(s3_address).items():
        monkeypatch.setenv(name, value)
    found = []
    for name in ("one", "other"):
        root = tmp_path / name
        (root / "models").mkdir(parents=True)
        (root / "models/a.sql").write_text("SELECT 1 AS a\n")
        (root / "rocky.toml").write_text(
            '[adapter]\ntype = "spark"\n[pipeline.main]\ntype = "transformation"\n[state]\n'
            f'backend = "s3"\ns3_bucket = "{BUCKET}"\ns3_prefix = "{prefix}/"\n'
            'on_upload_failure = "fail"\n'
        )
        found.append(root)
    return found[0], found[1]


def rocky(root: Path, *arguments: str):
    return CliRunner().invoke(main, ["-c", str(root), *arguments], catch_exceptions=False)


def marks(root: Path) -> list[str]:
    with open_history_reader(root / STATE_FILE) as reader:
        return [each.table for each in reader.watermarks()]


def test_a_watermark_is_deleted_for_every_machine(machines):
    one, other = machines
    record_past(one)
    assert 0 == rocky(one, "state", "retention", "sweep").exit_code
    (one / STATE_FILE).unlink()
    answer = rocky(other, "state", "delete", "--table", TABLE)

    assert (0, "") == (answer.exit_code, answer.stderr)
    assert [] == marks(other)
    assert 0 == rocky(one, "state", "retention", "sweep").exit_code
    assert [] == marks(one)


def test_a_state_that_cannot_be_fetched_is_not_changed(machines, monkeypatch):
    one, _ = machines
    record_past(one)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    config = one / "rocky.toml"
    config.write_text(f"{config.read_text()}[state.retry]\nmax_retries = 0\n")
    answer = rocky(one, "state", "delete", "--table", TABLE)

    assert 1 == answer.exit_code
    assert [TABLE] == marks(one)
