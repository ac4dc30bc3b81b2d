"""What a team does in a week, on any Spark: twenty models, copies of a source, a change promoted.

Used by `test_cluster.py` in its own process, and as a driver in another:
`python -m tests.spark.tour ROOT WHAT [MARK GROUPS]`.
"""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.twenty_models import CONFIG, write_project

import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.run.engine import spark as spark_engine
from rocky.run.outcomes import is_left_alone
from rocky.spark.session import connect_spark
from rocky.store.warehouse import open_warehouse

COPIES = """
[pipeline.copies]
type = "replication"
strategy = "full_refresh"

[pipeline.copies.source]
path = "lake"

[pipeline.copies.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "shop"]

[pipeline.copies.target]
catalog_template = "{tenant}"
schema_template = "{shop}"
"""
CHANGE = "SELECT customer_id, name, country FROM dim_customers WHERE order_count < 3\n"


def write_tour(root: Path, orders: int, adapter: str = "", state: str = "") -> Path:
    """The project in a repository of its own. `adapter` takes the place of where it is run."""
    write_project(root, orders=orders)
    for name in ("orders", "items"):
        copied = root / "lake/src__acme__shop" / name / "part.parquet"
        copied.parent.mkdir(parents=True)
        copied.write_bytes((root / f"data/{name}.parquet").read_bytes())
    config = CONFIG
    if adapter:
        config = CONFIG.replace('master = "local[2]"\nwarehouse = "warehouse"\n', adapter)
        assert config != CONFIG
    (root / "rocky.toml").write_text(config + COPIES + state)
    (root / ".gitignore").write_text("warehouse/\n.rocky*\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.email", "ann@example.com")
    git(root, "config", "user.name", "Ann")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the shop")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def go(root: Path, spark: Any) -> dict[str, Any]:
    """Everything, and what went wrong."""
    here = rocky.open(root, spark=spark)
    twenty = {"pipeline": "twenty"}
    reports = [here.run(**twenty), here.run(pipeline="copies")]
    (root / "models/rpt_stale.sql").write_text(CHANGE)
    git(root, "switch", "-qc", "change")
    git(root, "commit", "-qam", "more of them")
    branch = here.branch("change")
    branch.create()
    reports.append(branch.workspace.run(**twenty))
    promoted = branch.promote().promotion
    after = here.run(**twenty)
    return {
        **told_of([*reports, after]),
        "promoted": [each.model_name for each in promoted.tables],
        "built_after": [
            each.step.name
            for each in result_of(after).outcomes
            if not is_left_alone(each.execution)
        ],
        "findings": findings_of(here),
    }


def told_of(reports: list[Any]) -> dict[str, list[str]]:
    results = [result_of(each) for each in reports]
    return {
        "errors": [
            f"{each.step.name}: {each.execution.failure_kind}: {each.execution.error}"
            for result in results
            for each in result.outcomes
            if each.execution.error
        ],
        "warnings": [warning for result in results for warning in result.warnings],
    }


def result_of(report: Any) -> Any:
    found = report.run.result
    return getattr(found, "run", found)


def findings_of(workspace: Any) -> list[str]:
    return [f"{each.where}: {each.message}" for each in workspace.verify().findings]


def files_of(place: str, root: Path, options: dict[str, str]) -> dict[str, list[str]]:
    """The files of every table of production, by its name."""
    found = {}
    for table in open_warehouse(place, base=root, options=options).tables():
        snapshot = table.snapshot()
        assert snapshot is not None
        found[table.prefix] = sorted(file.name for file in snapshot.files)
    return found


def run(root: Path) -> dict[str, Any]:
    """One run of the models, and what is found of it."""
    here = rocky.open(root)
    report = here.run()
    return {**told_of([report]), "findings": findings_of(here)}


class Assassin(Thread):
    """Kills a worker, with its executor, once a task of its own has left a mark.

    `groups` has the process group of each worker by its name, which is part of the folder that its
    executors work in; the mark is that folder.
    """

    def __init__(self, mark: Path, groups: dict[str, int]) -> None:
        super().__init__(daemon=True)
        self._mark, self._groups = mark, groups
        self.struck = ""

    def run(self) -> None:
        while not (said := self._mark.read_text() if self._mark.exists() else ""):
            time.sleep(0.02)
        self.struck = next(name for name in self._groups if f"/{name}/" in said)
        os.killpg(self._groups[self.struck], signal.SIGKILL)


def die_when_placed() -> None:
    """Let this process be killed when the files of a second table have their names."""
    place, placed = spark_engine.place_files, []

    def place_and_die(*given: Any, **named: Any) -> Any:
        found = place(*given, **named)
        placed.append(found)
        if len(placed) > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    spark_engine.place_files = place_and_die


def main(place: str, what: str, mark: str = "", groups: str = "{}") -> None:
    root = Path(place)
    adapter = tomllib.loads((root / "rocky.toml").read_text())["adapter"]
    # Held open: all runs share one driver.
    connection = connect_spark(Adapter(master=adapter["master"], conf=adapter["conf"]), root)
    if what == "tour":
        told = go(root, None)
    elif what == "assassin":
        killer = Assassin(Path(mark), json.loads(groups))
        killer.start()
        told = {**run(root), "struck": killer.struck}
    else:
        if what == "die":
            die_when_placed()
        told = run(root)
    connection.close()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
