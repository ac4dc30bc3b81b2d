"""Record the types of Spark's own settings: `python tools/record_spark_settings.py`.

Writes `src/rocky/project/configuration/spark_settings.txt`. Spark keeps no name of a setting's type
at run time, so the converter of each registered setting is asked about a few texts: what it takes
and what it refuses is its type. A setting that takes any text is left out.
"""

import re
import sys
from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rocky.project.configuration.spark_settings import DATA, SettingType
from rocky.spark.session import open_session

# Objects that register settings when they are first used; those of SQL are in use already.
_HOLDERS = (
    "package", "Deploy", "History", "Kryo", "Network", "Python", "R", "Status", "Streaming",
    "UI", "Worker",
)  # fmt: skip
_REGISTRY = "org.apache.spark.internal.config.ConfigEntry$"
_BOGUS = "no such value"
_CHOICES = re.compile(r"should be one of '(?P<list>[^']+)'")


def main() -> None:
    """Ask Spark about every setting and write the file."""
    with open_session() as session:
        lines = [f"{name} {found}" for name, found in ask_settings(session)]
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} settings in {DATA}")


def ask_settings(session: SparkSession) -> Iterator[tuple[str, SettingType]]:
    """Every setting with a type that Spark knows, by name."""
    jvm: Any = session._jvm  # noqa: SLF001 - the registry has no public door
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    names = [f"org.apache.spark.internal.config.{each}$" for each in _HOLDERS]
    names += [f"org.apache.spark.sql.internal.{each}$" for each in ("SQLConf", "StaticSQLConf")]
    for name in names:
        jvm.java.lang.Class.forName(name, True, loader)
    registry = jvm.java.lang.Class.forName(_REGISTRY, True, loader)
    entries = registry.getField("MODULE$").get(None).knownConfigs()
    for name in sorted(str(each) for each in entries.keySet()):
        found = setting_type(entries.get(name).valueConverter())
        if found is not None:
            yield name, found


def setting_type(converter: Any) -> SettingType | None:
    """What a converter takes; None for any text, or for what cannot be told."""
    refusal = _refusal(converter, _BOGUS)
    if refusal is None:
        return None
    chosen = _CHOICES.search(refusal)
    if chosen is not None:
        choices = sorted(re.split(r",\s*", chosen["list"]))
        any_case = _takes(converter, choices[0].upper()) and _takes(converter, choices[0].lower())
        return SettingType("choice" if any_case else "exact", tuple(choices))
    if _takes(converter, "true") and not _takes(converter, "1"):
        return SettingType("boolean")
    kind = _number_kind(converter)
    if kind is None:
        return None
    least = next((text for text in ("-1", "0", "1") if _takes(converter, text)), None)
    if kind == "decimal" and least == "1":
        # Between the two lies what it takes.
        least = "0"
    # Below -1 is as good as -1 for Spark, or nobody writes it.
    return SettingType(kind, () if least in (None, "-1") else (least,))


def _number_kind(converter: Any) -> str | None:
    if _takes(converter, "2min") and not _takes(converter, "2k"):
        return "time"
    if _takes(converter, "2g") or _takes(converter, "2k"):
        return "bytes" if not _takes(converter, "2min") else None
    if _takes(converter, "0.5") or _takes(converter, "1.5"):
        return "decimal"
    if _takes(converter, "1") or _takes(converter, "2"):
        return "long" if _takes(converter, "3000000000") else "int"
    return None


def _takes(converter: Any, text: str) -> bool:
    return _refusal(converter, text) is None


def _refusal(converter: Any, text: str) -> str | None:
    try:
        converter.apply(text)
    except (PySparkException, Py4JJavaError) as refusal:
        said = getattr(refusal, "java_exception", None)
        return str(said.getMessage() if said is not None else refusal)
    return None


if __name__ == "__main__":
    sys.exit(main())
