"""Every column that is made from one column, however far down.

Run it: `python examples/blast_radius.py PROJECT TABLE COLUMN`
"""

# ruff: noqa: INP001, T201 - a script that prints

import sys

import rocky
from rocky.analysis.lineage import ColumnRef, Lineage

USAGE = "usage: python blast_radius.py PROJECT TABLE COLUMN"


def main(path: str, table: str, column: str) -> None:
    compilation = rocky.compile_project(rocky.load_project(path))
    project = compilation.project
    tables = {
        each.name: [field.name for field in each.columns]
        for each in (*project.sources.values(), *project.seeds.values())
    }
    models = {
        each.name: [made.name for made in each.columns] for each in compilation.models.values()
    }
    known = {name.lower(): columns for name, columns in (tables | models).items()}
    if column.lower() not in (name.lower() for name in known.get(table.lower(), ())):
        sys.exit(f"no column `{column}` in `{table}`")
    trace = Lineage(compilation.models, tables).trace(ColumnRef(table, column), "downstream")
    for reached, kind in sorted(trace.reached.items()):
        print(f"{reached.table}.{reached.column}  ({kind})")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) != len(("PROJECT", "TABLE", "COLUMN")):
        sys.exit(USAGE)
    try:
        main(*arguments)
    except rocky.RockyError as failure:
        sys.exit(f"error: {failure}")
