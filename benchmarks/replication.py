"""Replication: what it costs to find nothing new, and to copy a little that is.

Two claims are checked, and the program fails when one does not hold:

- a thousand tables with nothing new: a run costs less than twice what listing them costs;
- one per cent of ten million rows is new: at most a tenth of the time of a full copy.
"""

import argparse
import sys

import idle_lake
import one_percent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    asked = parser.parse_args()
    failed = [
        idle_lake.claim(asked.tables),
        one_percent.claim(asked.rows),
    ].count(False)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
