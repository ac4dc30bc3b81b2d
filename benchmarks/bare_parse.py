"""The yardstick: the parser library alone over every model of a project.

Prints CPU seconds of nothing but parsing: the texts are read and the library is loaded before the
clock starts, and the interpreter is left as it comes. The compiled build must be installed, or the
yardstick would be three times too long.
"""

import sys
from pathlib import Path
from time import process_time

import sqlglot
from sqlglot import parser


def main() -> None:
    if not str(parser.__file__).endswith((".so", ".pyd")):
        sys.exit("the compiled build of sqlglot is not installed: pip install 'sqlglot[c]'")
    texts = [path.read_text() for path in sorted(Path(sys.argv[1]).rglob("*.sql"))]
    dialect = sqlglot.Dialect.get_or_raise("spark")
    dialect.parse(texts[0])
    started = process_time()
    for text in texts:
        dialect.parse(text)
    print(process_time() - started)


if __name__ == "__main__":
    main()
