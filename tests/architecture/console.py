"""Console blocks of pages: their commands run, and what they print beside what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def run(line: str, folder: Path) -> str:
    """What a shell line prints. Commands print text for people, though nobody is at a terminal."""
    if line.startswith("rocky "):
        line = line.replace("rocky ", "rocky -o table ", 1)
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    return done.stdout + done.stderr


def replay(block: str, folder: Path) -> tuple[str, Path]:
    """A console block with the output its lines really have, and the folder they end in."""
    lines = []
    for line in block.splitlines():
        if line.startswith("$ cd "):
            folder = folder / line.removeprefix("$ cd ").strip()
            lines.append(line)
        elif line.startswith("$ "):
            output = run(line.removeprefix("$ "), folder)
            lines += [line, *(each.rstrip() for each in output.rstrip().splitlines())]
    return "\n".join(lines) + "\n", folder
