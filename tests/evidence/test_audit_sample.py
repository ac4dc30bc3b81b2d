"""The sample that auditors try first: what its README prints is what the files say."""

import json
import shutil
import sqlite3
from pathlib import Path

import blake3
import pytest

import rocky

SAMPLE = Path(__file__).parents[2] / "examples/audit-sample"
README = (SAMPLE / "README.md").read_text()


@pytest.fixture
def sample(tmp_path):
    return Path(shutil.copytree(SAMPLE, tmp_path / "elsewhere"))


def test_files_ledger_and_log_have_one_hash(sample):
    with sqlite3.connect(sample / ".rocky-state.db") as ledger:
        rows = [json.loads(row[0]) for row in ledger.execute("SELECT value FROM output_artifacts")]
    assert {"fct_revenue", "payments"} == {row["model_name"] for row in rows}
    for row in rows:
        folder = sample / "warehouse/spark_catalog/default" / row["model_name"]
        file = folder / f"{row['blake3_hash']}.parquet"
        log = (folder / "_delta_log/00000000000000000000.json").read_text()
        assert row["blake3_hash"] == blake3.blake3(file.read_bytes()).hexdigest()
        assert file.name in log
        if row["model_name"] == "fct_revenue":
            printed = f"{row['blake3_hash']}|{row['size_bytes']}|{row['run_id']}"
            assert printed in README


def test_verify_says_what_the_page_says_and_finds_a_changed_byte(sample):
    good = rocky.open(sample).verify()
    counts = good.checked
    assert good.verified
    assert (
        f"verified: {counts.records} records, {counts.entries} entries of the chain,"
        f" {counts.commits} commits of {counts.tables} tables, {counts.files} files"
    ) in README

    file = next(sample.glob("warehouse/*/*/payments/7a70*.parquet"))
    file.write_bytes(file.read_bytes() + b"!")
    assert ["file_changed"] == [each.code for each in rocky.open(sample).verify().findings]


def test_nothing_in_it_says_who_or_where():
    text = b"".join(path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file())
    assert b"/srv/audit-sample/" in text
    assert not [each for each in (b"/tmp/", b"/home/", b"/root/", b"/work/") if each in text]
