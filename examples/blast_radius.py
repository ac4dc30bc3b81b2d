"""Every column that is made from one column, however far down.

Run it: `python examples/blast_radius.py PROJECT TABLE COLUMN`
"""

# ruff: noqa: INP001, T201 - a script that prints

import sys

import rocky

USAGE = "usage: python blast_radius.py PROJECT TABLE COLUMN"


def main(path: str, table: str, column: str) -> None:
    report = rocky.open(path).lineage(table, column, downstream=True)
    for reached in sorted(report.reached, key=lambda each: (each.model, each.column)):
        print(f"{reached.model}.{reached.column}  ({reached.transform})")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) != len(("PROJECT", "TABLE", "COLUMN")):
        sys.exit(USAGE)
    try:
        main(*arguments)
    except rocky.RockyError as failure:
        sys.exit(f"error: {failure}")
