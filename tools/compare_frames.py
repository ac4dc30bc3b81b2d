"""Prints how far frames without Spark agree with what Spark said of PySpark's own examples.

python tools/compare_frames.py [NAME]    every difference in examples with that in their name
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.frames.agreement import ANSWERS, Tally, compare  # noqa: E402
from tests.frames.examples import examples  # noqa: E402


def main() -> None:
    """Print the figures and every difference."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    tally = Tally()
    for each in examples():
        if wanted in each.name and each.name in ANSWERS:
            compare(each, tally)
    print(f"{tally.exact:.2f} % of {tally.accepted} frames exact, {tally.refused:.2f} % refused")
    print(dict(tally.counts))
    for verdict, place, expected, actual in sorted(tally.told):
        print(f"[{verdict}] {place}\n   Spark  {expected}\n   Rocky  {actual}")


if __name__ == "__main__":
    main()
