"""All benchmarks of runs: writes and reads, graph and merge, runs that build nothing, copies."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    for name in ("run_writes.py", "run_graph.py", "merge_sizes.py", "reuse.py", "replication.py"):
        # Each in a process of its own: a JVM that has grown would favour whoever comes second.
        done = subprocess.run([sys.executable, str(HERE / name)], cwd=HERE, check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
