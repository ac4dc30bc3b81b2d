"""Every column that is made from one column, however far down.

Run it: `python examples/blast_radius.py PROJECT TABLE COLUMN`
"""

# ruff: noqa: INP001, T201 - a script that prints

import sys

import rocky
from rocky.lineage import ColumnRef, Lineage


def main(path: str, table: str, column: str) -> None:
    compilation = rocky.compile_project(rocky.load_project(path))
    sources = {
        source.name: [field.name for field in source.columns]
        for source in compilation.project.sources.values()
    }
    trace = Lineage(compilation.models, sources).trace(ColumnRef(table, column), "downstream")
    for reached, kind in sorted(trace.reached.items()):
        print(f"{reached.table}.{reached.column}  ({kind})")


if __name__ == "__main__":
    main(*sys.argv[1:4])
