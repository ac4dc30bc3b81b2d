"""Generate the function catalogue by asking a live Spark.

    python -m tools.generate_function_catalogue                     ask, fit, write
    python -m tools.generate_function_catalogue --facts facts.pkl   keep what Spark said
    python -m tools.generate_function_catalogue --facts facts.pkl --fit-only
    python -m tools.generate_function_catalogue --only substring,sum --facts facts.pkl

Needs pyspark and Java; takes about twenty minutes on one core. The data are written to
`src/rocky/language/functions/data/`, one file per minor version of Spark; commit them.
"""

import argparse
import pickle
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from rocky.language.functions.catalogue import SPARK_VERSION
from tools.function_catalogue.analyser import Analyser
from tools.function_catalogue.facts import FunctionFacts
from tools.function_catalogue.questions import interview
from tools.function_catalogue.seeds import read_seeds
from tools.function_catalogue.storage import write_catalogue

DATA = Path(__file__).parents[1] / "src" / "rocky" / "language" / "functions" / "data"

_KINDS = {"window_funcs": "window", "agg_funcs": "aggregate"}


def ask_spark(only: frozenset[str], known: dict[str, FunctionFacts]) -> dict[str, FunctionFacts]:
    """Facts about every built-in function, or about `only` some of them."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    analyser = Analyser(spark)
    state = analyser.session.sessionState()
    scalars = _names(state.functionRegistry())
    tables = _names(state.tableFunctionRegistry())
    listing = analyser.jvm.org.apache.spark.sql.api.python.PythonSQLUtils
    infos = {info.getName(): info for info in listing.listBuiltinFunctionInfos()}
    begun = time.monotonic()
    for name in sorted(scalars | tables):
        if only and name not in only:
            continue
        facts = known[name] = FunctionFacts(name, "scalar")
        if name in tables:
            facts.kind = "generator" if name in scalars else "table"
            continue
        facts.kind = _KINDS.get(infos[name].getGroup(), "scalar")
        interview(analyser, facts, read_seeds(analyser, name, infos[name].getExamples()))
        seen = {n: len(found.observations) for n, found in facts.arities.items()}
        print(
            f"{time.monotonic() - begun:6.0f}s {analyser.asked:7d} {name} {facts.kind} {seen}",
            flush=True,
        )
    spark.stop()
    return known


def _names(registry: object) -> set[str]:
    listed = registry.listFunction()  # type: ignore[attr-defined]
    return {listed.apply(at).funcName() for at in range(listed.size())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=Path, help="file to keep (or read) what Spark said")
    parser.add_argument("--fit-only", action="store_true", help="do not start Spark")
    parser.add_argument("--only", default="", help="functions to ask again, separated by commas")
    options = parser.parse_args()
    only = frozenset(filter(None, options.only.split(",")))
    facts: dict[str, FunctionFacts] = {}
    if options.facts and options.facts.exists() and (options.fit_only or only):
        facts = pickle.loads(options.facts.read_bytes())
    if not options.fit_only:
        ask_spark(only, facts)
        if options.facts:
            options.facts.write_bytes(pickle.dumps(facts))
    path = DATA / f"spark-{SPARK_VERSION}.json.gz"
    print("\n".join(write_catalogue(facts, path, SPARK_VERSION)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
