"""From a save to its result: `rocky watch` on a generated project, beside a warm `rocky compile`.

Prints the median of both and their ratio: a round saves the start of Python and its imports.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generate = [sys.executable, str(ROOT / "generate.py"), "--models", str(given.models)]
        subprocess.run([*generate, folder], check=True, stdout=subprocess.DEVNULL)
        rocky = [sys.executable, "-m", "rocky.cli"]
        files = sorted((Path(folder) / "models").rglob("*.sql"))
        edited = files[len(files) // 2 :][: given.rounds]
        watched = _watched(rocky, folder, edited)
        compiled = _compiled(rocky, folder, edited)
    print(f"{given.models} models, from the save of one, {given.rounds} rounds")
    for name, found in (("watch", watched), ("compile", compiled)):
        low, middle, high = min(found), median(found), max(found)
        print(f"{name:8} {middle * 1000:6.0f} ms ({low * 1000:.0f} to {high * 1000:.0f})")
    print(f"ratio    {median(watched) / median(compiled):.2f}")
    return 0


def _watched(rocky: list[str], folder: str, files: list[Path]) -> list[float]:
    command = [*rocky, "watch", "-c", folder]
    found = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for file in files:
            time.sleep(0.3)
            begun = time.perf_counter()
            _edit(file)
            process.stdout.readline()
            found.append(time.perf_counter() - begun)
        process.terminate()
    return found


def _compiled(rocky: list[str], folder: str, files: list[Path]) -> list[float]:
    found = []
    for file in files:
        _edit(file)
        begun = time.perf_counter()
        subprocess.run([*rocky, "compile", "-c", folder], check=True, stdout=subprocess.DEVNULL)
        found.append(time.perf_counter() - begun)
    return found


def _edit(file: Path) -> None:
    file.write_text(file.read_text().replace("SELECT", "SELECT\n", 1))


if __name__ == "__main__":
    sys.exit(main())
