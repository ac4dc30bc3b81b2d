"""Runs a load without Spark and dies at a chosen point, in a process of its own."""

from pathlib import Path

from rocky.ledger.writer import Ledger
from rocky.store.warehouse import Table
from tests.pipelines.loads.folders import LoadProject
from tests.run.crash import dying

POINTS = {
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
}


def main(root: str, point: str) -> None:
    when, _, name = point.partition(" ")
    owner, attribute = POINTS[name]
    setattr(owner, attribute, dying(getattr(owner, attribute), 1, before=when == "before"))
    config = Path(root, "rocky.toml").read_text()
    project = LoadProject(Path(root))
    Path(root, "rocky.toml").write_text(config)
    project.run()
