"""Ctrl-C on a whole run: jobs are cancelled, what is done is recorded, the next run goes on."""

import json
import signal
import subprocess
import sys

import pytest

from rocky.ledger import open_history_reader
from rocky.ledger.run_records import RunStatus
from tests.spark.projects import write_files
from tests.spark.scripts import OWN_SPARK

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.sampled(OWN_SPARK)
def test_an_interrupted_run_is_recorded_and_the_next_one_resumes(tmp_path):
    endless = "SELECT count(*) AS n FROM range(0, 100000000000, 1, 1) WHERE sqrt(id) > 0\n"
    root = write_files(
        tmp_path,
        {"models/quick.sql": "SELECT 1 AS n\n", "models/slow.sql": endless},
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "rocky.cli", "-o", "json", "run", "--parallel", "2"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "quick" in line:
            break
    assert "built  quick" in said[-1], said
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=120)

    assert 130 == process.returncode
    document = json.loads(shown)
    assert ("Interrupted", True) == (document["status"], document["interrupted"])
    ended = {each["model"]: each["status"] for each in document["model_decisions"]}
    assert {"quick": "success", "slow": "interrupted"} == ended
    reader = open_history_reader(root / ".rocky-state.db")
    assert reader is not None
    with reader:
        assert RunStatus.INTERRUPTED is reader.runs(1)[0].status

    (root / "models/slow.sql").write_text("SELECT 2 AS n\n")
    # As before: what another Spark has built is not gone on with.
    again = subprocess.run(
        [sys.executable, "-m", "rocky.cli", "-o", "json", "run"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    ended = {each["model"]: each["status"] for each in json.loads(again.stdout)["model_decisions"]}
    assert {"quick": "skipped", "slow": "success"} == ended
