"""Ends each named text file with a newline; exits with 1 when one had to be mended.

    python tools/final_newline.py FILE...

A hook before a commit runs it. Blank lines at the end stay: some golden files have them.
"""

import sys
from pathlib import Path


def main(names: list[str]) -> int:
    """Mends the files; 1 when there was something to mend."""
    mended = False
    for path in map(Path, names):
        data = path.read_bytes()
        if data and not data.endswith(b"\n") and b"\0" not in data:
            path.write_bytes(data + b"\n")
            print(f"{path}: added the newline at the end")
            mended = True
    return int(mended)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
