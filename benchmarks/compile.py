"""How much a compile costs, next to a bare parse of the same texts in the same run.

Every figure is a ratio of CPU seconds measured within minutes of each other, so a slow or busy
machine changes all of them alike. `compile.py` prints a table with each target; with `--check` a
missed one is exit code 1.

What is run is the command line as a user would run it, `rocky compile`, each time in a fresh
process, its output thrown away: as a table and, where it says so, as JSON with every model's
columns. Cold is without a cache; warm is after that, nothing changed.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from generate import generate
from processes import Cost, run, typical, user_environment

HERE = Path(__file__).resolve().parent
TABLE = ("-m", "rocky.cli", "-o", "table", "compile")
JSON = ("-m", "rocky.cli", "-o", "json", "compile")
API = (
    "-c",
    "import rocky; c = rocky.compile_project(rocky.load_project()); print(c.statistics.bound)",
)

_READ = re.compile(r"FROM (int_\w+) AS")

FULL_SIZE = 10_000
"""What the targets were promised for; in a small project the start of Python weighs more."""
COLD, WARM, EDITED, PEAK, START, GROWTH = 2.2, 0.03, 0.04, 300, 0.15, 1.15


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; `met` is None where nothing was promised."""

    name: str
    cost: Cost | None
    figure: str
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """A generated project and how its commands are run."""

    root: Path
    models: int
    environment: dict[str, str]
    edited: Path

    def parse(self) -> float:
        """CPU seconds of the parser alone."""
        arguments = (str(HERE / "bare_parse.py"), str(self.root / "models"))
        return float(run(arguments, self.root, self.environment, keep_output=True).printed)

    def compile(self, command: tuple[str, ...], *, cold: bool = False) -> Cost:
        if cold:
            shutil.rmtree(self.environment["XDG_CACHE_HOME"], ignore_errors=True)
        return run(command, self.root, self.environment)

    def bound(self) -> int:
        """How many models one more compile binds, asked through the API."""
        return int(run(API, self.root, self.environment, keep_output=True).printed)

    def edit(self, before: str, after: str) -> None:
        """Change some words in the model of the second layer that most others read."""
        text = self.edited.read_text()
        if before not in text:
            sys.exit(f"`{before}` is not in {self.edited}")
        self.edited.write_text(text.replace(before, after))


def make_project(folder: Path, models: int, environment: dict[str, str]) -> Bench:
    root = folder / f"project-{models}"
    generate(root, models)
    paths = {path.stem: path for path in root.rglob("int_*.sql")}
    read = Counter(name for path in paths.values() for name in _READ.findall(path.read_text()))
    name = max(paths, key=lambda each: read[each])
    return Bench(root, models, environment, paths[name])


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    environment = user_environment(folder / "byte-code")
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    lines: list[Line] = []
    try:
        print(f"{options.models:,} models; {options.repeat} runs of each, medians; CPU seconds")
        print(f"{'':42}{'CPU s':>8}{'wall s':>8}{'MB':>6}   {'figure':<18}{'target':<12}")
        for line in measure(folder, environment, options):
            lines.append(line)
            print(_shown(line), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    missed = [line.name.strip() for line in lines if line.met is False]
    print(f"missed: {', '.join(missed)}" if missed else "every target met")
    if options.models < FULL_SIZE:
        print(f"the targets are promised for {FULL_SIZE:,} models")
    return 1 if missed and options.check else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each measurement")
    parser.add_argument("--quick", action="store_true", help="2,000 models and no larger project")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument("--keep", action="store_true", help="leave the generated projects behind")
    options = parser.parse_args()
    if options.quick:
        options.models = min(options.models, 2_000)
    return options


def measure(
    folder: Path, environment: dict[str, str], options: argparse.Namespace
) -> Iterator[Line]:
    """Every line of the table, as it becomes known."""
    # Byte code is written once, in a project of its own, as an installation would.
    make_project(folder, 20, environment).compile(TABLE)
    bench = make_project(folder, options.models, environment)
    yield from measure_start(bench, options.repeat)
    yield from measure_compiles(bench, options.repeat)
    if not options.quick:
        yield from measure_growth(folder, environment, bench)


def measure_start(bench: Bench, repeat: int) -> Iterator[Line]:
    version = ("-m", "rocky.cli", "--version")
    cost = typical([run(version, bench.root, bench.environment) for _ in range(2 * repeat + 1)])
    yield Line("rocky --version", cost, f"{cost.cpu:.3f} s", f"< {START} s", cost.cpu < START)


def measure_compiles(bench: Bench, repeat: int) -> Iterator[Line]:
    # Yardstick and compile take turns, and each compile is held against the parses beside it: what
    # the machine does besides comes and goes, and hits both.
    parses = [bench.parse()]
    colds: list[Cost] = []
    for _ in range(repeat):
        colds.append(bench.compile(TABLE, cold=True))
        parses.append(bench.parse())
    parse, cold = median(parses), typical(colds)
    ratio = median(
        2 * each.cpu / (before + after)
        for each, before, after in zip(colds, parses, parses[1:], strict=False)
    )
    yield Line("bare parse of the same texts", Cost(parse, 0, 0), "1.00x")
    yield Line("compile, cold", cold, f"{ratio:.2f}x parse", f"<= {COLD}x", ratio <= COLD)
    yield _memory("  its largest process", cold)

    warm = typical([bench.compile(TABLE) for _ in range(2 * repeat + 1)])
    yield _share("compile, warm, nothing changed", warm, cold, WARM)

    edits = []
    for number in range(repeat):
        bench.edit("a.quantity > ", f"a.quantity > {number + 1}")
        edits.append(bench.compile(TABLE))
    edited = typical(edits)
    yield _share("compile, one body edited", edited, cold, EDITED)
    bench.edit("a.quantity > ", "a.quantity > 9")
    yield Line("  models bound for such an edit", None, f"{bench.bound():,}")

    bench.edit("    j.net_price,", "    CAST(j.net_price AS DOUBLE) AS net_price,")
    changed = bench.compile(TABLE)
    yield _share("compile, one output type edited", changed, cold)
    bench.edit("    CAST(j.net_price AS DOUBLE) AS net_price,", "    j.net_price,")
    yield Line("  models bound to change it back", None, f"{bench.bound():,}")

    cold_json = typical([bench.compile(JSON, cold=True) for _ in range(max(1, repeat // 2))])
    yield Line("compile -o json, cold", cold_json, f"{cold_json.cpu / parse:.2f}x parse")
    yield _share(
        "compile -o json, warm", typical([bench.compile(JSON) for _ in range(repeat)]), cold
    )
    yield _share("Python API, warm", typical([bench.compile(API) for _ in range(repeat)]), cold)


def measure_growth(folder: Path, environment: dict[str, str], bench: Bench) -> Iterator[Line]:
    """The ratio to a bare parse, which is linear, at three sizes."""
    ratios = {}
    for models in (bench.models // 10, bench.models, bench.models * 3):
        sized = bench if models == bench.models else make_project(folder, models, environment)
        parses = [sized.parse()]
        cost = sized.compile(TABLE, cold=True)
        parses.append(sized.parse())
        ratios[models] = cost.cpu / median(parses)
        each = cost.cpu / models * 1000
        yield Line(f"{models:,} models, cold", cost, f"{ratios[models]:.2f}x, {each:.2f} ms each")
        if models != bench.models:
            shutil.rmtree(sized.root, ignore_errors=True)
    small, _, large = ratios.values()
    growth = large / small
    yield Line("  cost of a model, large to small", None, f"{growth:.2f}x", f"<= {GROWTH}x",
               growth <= GROWTH)  # fmt: skip


def _share(name: str, cost: Cost, cold: Cost, target: float | None = None) -> Line:
    share = cost.cpu / cold.cpu
    figure = f"{share:.1%} of cold"
    if target is None:
        return Line(name, cost, figure)
    return Line(name, cost, figure, f"<= {target:.0%}", share <= target)


def _memory(name: str, cost: Cost) -> Line:
    return Line(name, None, f"{cost.peak:.0f} MB", f"< {PEAK} MB", cost.peak < PEAK)


def _shown(line: Line) -> str:
    numbers = " " * 22
    if line.cost is not None:
        wall = f"{line.cost.wall:>8.2f}" if line.cost.wall else " " * 8
        peak = f"{line.cost.peak:>6.0f}" if line.cost.peak else " " * 6
        numbers = f"{line.cost.cpu:>8.2f}{wall}{peak}"
    mark = {None: "", True: "ok", False: "MISSED"}[line.met]
    return f"{line.name:<42}{numbers}   {line.figure:<22}{line.target:<10}{mark}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
