"""Erasure by Spark itself: afterwards no file below the project has a value of the subject."""

import json

import pyarrow.parquet as pq
import pytest

from tests.run.runs import verify
from tests.spark.projects import write_files
from tests.spark.scripts import OWN_SPARK, run_script

pytestmark = pytest.mark.spark

WHO, MAIL, NAME = 987654321012345, "aaaaa.subject@example.org", "zzzzz Subject"
SOURCE = """\
[[source]]
name = "raw.people"
format = "csv"
path = "{data}"
columns = [
  { name = "person_id", type = "bigint" },
  { name = "mail", type = "string" },
  { name = "name", type = "string" },
  { name = "seen", type = "timestamp" },
]
"""
FILES = {
    "models/people.sql": "SELECT person_id, mail, name, seen FROM raw.people",
    "models/people.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "seen"\n',
    "models/latest.sql": "SELECT person_id AS who, mail, seen FROM people",
    "models/latest.toml": '[strategy]\ntype = "merge"\nunique_key = ["who", "seen"]\n',
    "models/past.sql": "SELECT person_id, mail, name FROM raw.people",
    "models/past.toml": '[strategy]\ntype = "snapshot"\nunique_key = ["mail"]\n',
    "models/letters.sql": (
        "SELECT l.who, p.name FROM latest AS l JOIN people AS p ON l.who = p.person_id"
    ),
    "models/letters.toml": '[format_options]\npartition_by = ["who"]\n',
    "rocky.toml": '[adapter]\ntype = "spark"\niceberg = true\n',
    "models/counts.sql": "SELECT count(*) AS n FROM people",
    "models/mails.sql": "SELECT mail FROM people",
    "seeds/guests.csv": f"guest_id,mail\n1,guest@example.org\n{WHO},{MAIL}\n",
}
LIFE = """
import json, sys
from pathlib import Path
import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark
root, data, logs = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[6])
who, mail, name = int(sys.argv[3]), sys.argv[4], sys.argv[5]
conf = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false", "spark.eventLog.dir": logs.as_uri()}
connection = connect_spark(Adapter(master="local[2]", conf=conf), root)
project = rocky.open(root, spark=connection.session)
def write(days, subject):
    lines = ["person_id,mail,name,seen"]
    for day in range(1, days + 1):
        lines += [f"{100 * day + n},p{day}{n}@example.org,P {day} {n},2026-01-0{day}T00:00:00" for n in range(9)]
        if subject and day == 2:
            lines.append(f"{who},{mail},{name},2026-01-02T00:00:00")
    data.write_text("\\n".join(lines) + "\\n")
for day in (1, 2, 3):
    write(day, True)
    assert 0 == project.run().exit_code
    project.seed()
planned = project.erase(f"person_id = {who}")
write(3, False)
done = project.erase(f"person_id = {who}", apply=True, reason="request 17")
seeds = project.erase(f"guest_id = {who}", apply=True, reason="request 17")
again = project.erase(f"person_id = {who}", apply=True, reason="request 17")
after = project.run().exit_code
cleared = project.erase(resume=True)
rows = {}
for each in ("people", "latest", "past", "letters"):
    rows[each] = len(project.show(each, limit=1000).rows)
timed = project.erase("seen = TIMESTAMP '2026-01-03T01:00:00+01:00'", apply=True, reason="request 18")
connection.close()
said = lambda report: {each.table.rpartition(".")[2]: [each.status, each.rows] for each in report.tables}
print(json.dumps({"planned": said(planned), "done": said(done), "seeds": said(seeds), "again": said(again), "cleared": said(cleared), "after": after, "rows": rows, "left": [each.name for each in done.left], "timed": said(timed), "receipt": done.receipt}))
"""


def places_of(root, *texts):
    found = []
    for path in root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if data[-4:] == b"PAR1":
                data += str(pq.read_table(path, partitioning=None).to_pylist()).encode()
            if any(each.encode() in data for each in texts):
                found.append(path.relative_to(root).as_posix())
    return found


@pytest.mark.sampled(OWN_SPARK)
def test_no_file_of_the_project_and_no_log_of_spark_has_a_value_of_the_subject(tmp_path):
    root, logs, data = tmp_path / "shop", tmp_path / "logs", tmp_path / "people.csv"
    logs.mkdir()
    write_files(
        root,
        {
            **FILES,
            "sources/raw.toml": SOURCE.replace("{data}", str(data)),
        },
    )

    said = run_script(LIFE, str(root), str(data), str(WHO), MAIL, NAME, str(logs)).answer

    held = {each: ["pending", 1] for each in ("people", "latest", "past", "letters")}
    assert held == said["planned"]
    assert {each: ["erased", 1] for each in held} == said["done"]
    assert {"guests": ["erased", 1]} == said["seeds"]
    assert {"clean"} == {status for status, _ in said["again"].values()}
    assert (0, dict.fromkeys(held, 27)) == (said["after"], said["rows"])
    assert {"counts", "mails"} == {each.rpartition(".")[2] for each in said["left"]}
    assert {"counts": ["erased", 0], "mails": ["erased", 0]} == said["cleared"]
    assert ["seeds/guests.csv"] == places_of(root, str(WHO), MAIL, NAME, said["receipt"])
    assert [] != list(logs.iterdir())
    assert [] == places_of(logs, str(WHO), MAIL, NAME)
    assert {"people": ["erased", 9], "latest": ["erased", 9]} == said["timed"]
    assert [] == verify(root)
    for each in held:
        folder = root / f"warehouse/spark_catalog/default/{each}/metadata"
        # One more is that of the run after the erasure.
        assert 1 <= len([*folder.glob("*.metadata.json")]) <= 2
    assert json.dumps(WHO) not in (root / ".rocky-state.db").read_bytes().decode("latin-1")
