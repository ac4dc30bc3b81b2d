"""The environment: what beside code and inputs can change a row or a byte.

It is the version of Spark, the writer, and those settings that are not known to be harmless, be
they the project's, of variables or of files that Spark reads when it starts. For a Spark that Rocky
starts itself all of that is known before it is started; for one that somebody else started only
when it has been asked. A result made in another environment is never reused.

A session of the caller's, in this process, is the same environment as a Spark of ours unless it has
something that counts otherwise: so a notebook and the command line reuse each other's results.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from glob import iglob
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.spark_settings import setting_types
from rocky.project.secrets import HASHED, hide, hide_hash, is_secret
from rocky.run.checksums import hash_file
from rocky.run.engine.protocol import EngineFacts
from rocky.spark.interface import WRITER
from rocky.spark.java import has_driver
from rocky.spark.settings import DEFAULTS, session_settings

_HARMLESS: Final = (
    # Where and how fast tasks run.
    "spark.app.",
    "spark.cores.",
    "spark.default.parallelism",
    "spark.deploy.",
    "spark.driver.",
    "spark.dynamicAllocation.",
    "spark.eventLog.",
    "spark.executor.",
    "spark.kubernetes.",
    "spark.local.",
    "spark.locality.",
    "spark.log",
    "spark.master",
    "spark.memory.",
    "spark.metrics.",
    "spark.network.",
    "spark.port.",
    "spark.python.",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.shuffle.",
    "spark.speculation",
    "spark.storage.",
    "spark.submit.",
    "spark.task.",
    "spark.ui.",
    "spark.yarn.",
    "spark.acls.",
    "spark.admin.",
    "spark.broadcast.",
    "spark.cleaner.",
    "spark.excludeOnFailure.",
    "spark.extraListeners",
    "spark.history.",
    "spark.io.compression.",
    "spark.kryo",
    "spark.rdd.",
    "spark.reducer.",
    "spark.repl.",
    "spark.serializer",
    # What people are shown of it; and a catalogue, in which nothing of a model is looked up.
    "spark.sql.artifact.",
    "spark.sql.catalogImplementation",
    "spark.sql.debug.maxToStringFields",
    "spark.sql.maxMetadataStringLength",
    "spark.sql.maxPlanStringLength",
    "spark.sql.queryExecutionListeners",
    "spark.sql.redaction.",
    "spark.redaction.",
    "spark.sql.repl.",
    "spark.sql.ui.",
    # How a query is carried out: the rows of a deterministic one are the same.
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.codegen.",
    "spark.sql.files.maxPartition",
    "spark.sql.files.minPartition",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.shuffle.",
    "spark.sql.sources.parallelPartitionDiscovery.",
    "spark.sql.warehouse.dir",
    # How stores are reached, with the keys to them.
    "spark.hadoop.fs.",
)

# Whatever it begins with: it may name a locale, other classes or another Spark.
_COUNTS: Final = (
    "JavaOptions", "ClassPath", "LibraryPath", "jars", "pyFiles", "archive", "archives",
    "container.image",
)  # fmt: skip
_OF_FILES: Final = ("spark.jars", "spark.submit.pyFiles", "spark.files", "spark.archives")
"""Settings that name files whose bytes count."""

_VARIABLES: Final = (
    "PYSPARK_SUBMIT_ARGS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "TZ",
)
_AT_START: Final = "PYSPARK_SUBMIT_ARGS"
"""A variable that has done what it can once Spark runs: what it set is set on the session."""
_OF_A_JVM: Final = re.compile(
    r"--add-\S+|--enable-native-access=\S+|-XX:\S+|-X(?:ms|mx|mn|ss)\S*"
    r"|-Djdk\.reflect\.useDirectMethodHandle=\S+|-Dio\.netty\.\S+"
    r"|-Djava\.net\.preferIPv6Addresses=\S+"
)
"""Options that Spark itself gives to every JVM, and those of its memory."""
_READ_AT_START: Final = ("spark-defaults.conf", "spark-env.sh")


@dataclass(frozen=True)
class Environment:
    """What a result was made with.

    `session` is what a Spark of others says of itself: through Connect all of it, in this process
    what is otherwise than a Spark of ours would have it. `explicit` is what somebody has set on it;
    what may be a secret is hashed.
    """

    spark_version: str
    writer: str
    settings: Mapping[str, str]
    session: Mapping[str, str] | None = None
    explicit: Mapping[str, str] | None = None

    @cached_property
    def json(self) -> str:
        """The environment as it is hashed and recorded: canonical JSON."""
        document: dict[str, Any] = {
            "settings": dict(self.settings),
            "spark_version": self.spark_version,
            "writer": self.writer,
        }
        if self.session is not None:
            document["session"] = dict(self.session)
        if self.explicit:
            document["explicit"] = dict(self.explicit)
        return canonical_json(document)

    @cached_property
    def hash(self) -> str:
        return text_hash(self.json)


def predict_environment(
    adapter: Adapter, env: Mapping[str, str], root: Path = Path()
) -> Environment | None:
    """What a Spark that is started here will be; None where only Spark can tell.

    Paths in settings start at `root`.
    """
    if adapter.remote is not None or env.get("SPARK_HOME") or env.get("SPARK_REMOTE"):
        return None
    if has_driver():
        return None
    return Environment(version("pyspark"), WRITER, result_settings(adapter, env, root))


def observe_environment(
    facts: EngineFacts,
    adapter: Adapter,
    env: Mapping[str, str],
    root: Path = Path(),
    *,
    own: bool,
) -> Environment:
    """What a Spark that runs says it is; `own` if it was started here."""
    settings = result_settings(adapter, env, root)
    if own:
        return Environment(facts.spark_version, facts.writer, settings)
    if facts.remote:
        explicit = {
            name: hide(value)
            for name, value in facts.explicit.items()
            if name.startswith(_OF_A_SERVER) and _may_count(name)
        }
        return Environment(facts.spark_version, facts.writer, settings, facts.settings, explicit)
    settings.pop(_AT_START, None)
    ours = DEFAULTS | session_settings(adapter.conf)
    # What is Hadoop's has another name on a session that runs already.
    ours |= {name.removeprefix(_HADOOP): value for name, value in ours.items()}
    session = {
        name: value for name, value in facts.settings.items() if not _same(value, ours.get(name))
    }
    explicit = {
        name: _shown(name, value)
        for name, value in facts.explicit.items()
        if name not in facts.settings and _may_count(name) and _deviates(name, value, ours)
    }
    return Environment(facts.spark_version, facts.writer, settings, session or None, explicit)


def _deviates(name: str, value: str, ours: Mapping[str, str]) -> bool:
    """Whether somebody has set something otherwise than a Spark of ours has it."""
    if name.endswith("JavaOptions"):
        return _own_options(value) != _own_options(ours.get(name, ""))
    return bool(value.strip()) and not _same(value, ours.get(name))


def _own_options(text: str) -> list[str]:
    return _OF_A_JVM.sub(" ", text).split()


def _same(one: str, other: str | None) -> bool:
    return other is not None and one.strip().lower() == other.strip().lower()


def _shown(name: str, value: str) -> str:
    """A value as it is recorded: only those of Spark's own settings are surely no secrets."""
    return value if name in setting_types() and not is_secret(name, value) else hide(value)


def describe_difference(then: str, run_id: str, now: Environment) -> str | None:
    """How an environment differs from one that a run recorded; None if in nothing by name."""
    before, after = _flat(then), _flat(now.json)
    found = [
        _difference(name, before.get(name), after.get(name), run_id)
        for name in sorted(before.keys() | after.keys())
        if _value(name, before) != _value(name, after)
    ]
    if not found:
        return None
    more = len(found) - 1
    return found[0] + (f", and {more} more {'differ' if more > 1 else 'differs'}" if more else "")


def _flat(text: str) -> dict[str, str]:
    document: dict[str, Any] = json.loads(text)
    found = {"Spark": document.get("spark_version", ""), "the writer": document.get("writer", "")}
    for part in ("settings", "session", "explicit"):
        found |= document.get(part) or {}
    return found


def _value(name: str, document: Mapping[str, str]) -> str | None:
    return document.get(name, _OURS.get(name))


def _difference(name: str, then: str | None, now: str | None, run_id: str) -> str:
    shown = name if name in ("Spark", "the writer") else f"`{name}`"
    if any(each is not None and each.startswith(HASHED) for each in (then, now)):
        return f"{shown} is not what it was in `{run_id}`"
    was, is_now = (_said(each if each is not None else _OURS.get(name)) for each in (then, now))
    return f"{shown} is {is_now} now and was {was} in `{run_id}`"


def _said(value: str | None) -> str:
    return "not set" if value is None else f"`{value}`"


_OURS: Final = DEFAULTS | session_settings({})
"""What a Spark of ours has where no project says otherwise."""
_HADOOP: Final = "spark.hadoop."
_OF_A_SERVER: Final = ("spark.sql.", "spark.jars", "spark.submit.pyFiles")


def result_settings(
    adapter: Adapter, env: Mapping[str, str], root: Path = Path()
) -> dict[str, str]:
    """What may change a result, none of it shown that may be a secret.

    Beside settings of the adapter these are variables and files by their names.
    """
    found = {
        name: hide(value) if is_secret(name, value) else value
        for name, value in adapter.conf.items()
        if _may_count(name)
    }
    found |= {name: hide(env[name]) for name in _VARIABLES if env.get(name)}
    for name in _OF_FILES:
        hashes = list(_hash_files(adapter.conf.get(name, ""), root))
        if hashes:
            found[f"{name} (files)"] = hide(canonical_json(hashes))
    for name, path in _start_files(env):
        if path.is_file() and os.access(path, os.R_OK):
            found[name] = hide_hash(hash_file(path))
    return found


def _may_count(name: str) -> bool:
    return not name.startswith(_HARMLESS) or name.endswith(_COUNTS)


def _hash_files(listed: str, root: Path) -> Iterator[list[str]]:
    """The files of this machine that a list names, patterns as well, with the hash of each."""
    for each in filter(None, map(str.strip, listed.split(","))):
        place = each.removeprefix("file://").removeprefix("file:").partition("#")[0]
        # A pattern may be absolute, which `Path.glob` refuses.
        for path in sorted(map(Path, iglob(str(root.absolute() / place)))):  # noqa: PTH207
            if path.is_file() and os.access(path, os.R_OK):
                yield [path.name, hash_file(path)]


def _start_files(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Files that Spark reads when it is started here, if they are there, and what to call them."""
    folder = env.get("SPARK_CONF_DIR")
    if not folder:
        home = env.get("SPARK_HOME") or _home_of_pyspark()
        folder = f"{home}/conf"
    for name in _READ_AT_START:
        yield name, Path(folder, name)
    # Spark's scripts put the folder on the class path, where Hadoop looks for its own.
    for path in Path(folder).glob("*-site.xml"):
        yield path.name, path
    if env.get("HADOOP_CONF_DIR"):
        for path in Path(env["HADOOP_CONF_DIR"]).glob("*-site.xml"):
            yield f"HADOOP_CONF_DIR/{path.name}", path


def _home_of_pyspark() -> str:
    # Without loading it: a run that builds nothing must not.
    found = find_spec("pyspark")
    return str(Path(found.origin).parent) if found is not None and found.origin else ""
