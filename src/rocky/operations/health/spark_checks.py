"""Checks of Java and Spark: what is installed, and whether a Spark that is asked for works."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from rocky.errors import RockyError, SparkUnavailable
from rocky.operations.health.health_checks import (
    Diagnosis,
    Health,
    Subject,
    adapters_of,
    critical,
    healthy,
    warning,
    worst_of,
)
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.setting_places import placed_settings
from rocky.project.toml.variables import written
from rocky.spark.java import choose_java
from rocky.spark.redaction import REDACTION, SPARKS_OWN, uncovered_settings

_INSTALL: Final = "install it: `pip install 'rocky-spark[spark]'`"


def check_java(subject: Subject) -> Diagnosis:
    """A Java that Spark can run on, unless Spark runs on a server."""
    adapters = adapters_of(subject)
    if adapters and all(each.remote for each in adapters):
        return healthy("not needed: Spark runs on a server")
    try:
        java = choose_java(subject.environment)
    except RockyError as error:
        said, _, fix = str(error).partition("; ")
        return critical(said, fix)
    return healthy(f"Java {java.full} (`{java.program}`)")


def check_spark(subject: Subject) -> Diagnosis:
    """The Spark that is installed; asked for by name, it is also started."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        return critical("pyspark is not installed", _INSTALL)
    adapters = adapters_of(subject)
    if not subject.start_spark:
        said = f"pyspark {installed} is installed; `--check spark` also starts it"
        return worst_of([_judge_redaction(each, None) for each in adapters if each.remote], said)
    project = subject.require_project()
    if not adapters:
        return warning("no adapter says where Spark is", "write an `[adapter]` into `rocky.toml`")
    found = [_start(adapter, project) for adapter in adapters]
    return worst_of(found, ", ".join(each.message for each in found))


def _judge_redaction(adapter: Adapter, pattern: str | None) -> Diagnosis:
    """Whether a Spark that others have started hides what `[adapter.conf]` sets on its sessions."""
    shown = uncovered_settings(adapter.conf, pattern)
    if not shown:
        return healthy("no secret is shown")
    listed = ", ".join(f"`{each}`" for each in shown)
    asked = "may show" if pattern is None else "shows"
    return warning(
        f"the Spark at `{written(adapter.remote or '')}` was started by others and {asked} the"
        f" values of {listed} in its event log and on its pages",
        f"set `{REDACTION}` to a pattern that is found in these names where that Spark is started",
    )


def _start(adapter: Adapter, project: Project) -> Diagnosis:
    """What a Spark says of itself. Raises AdapterUnusable."""
    # Here: only who asks for it by name waits for pyspark.
    from rocky.spark.session import DEFAULT_MASTER, connect_spark  # noqa: PLC0415

    try:
        with placed_settings(project, adapter):
            connection = connect_spark(adapter, project.root)
    except SparkUnavailable as failure:
        said, *rest = str(failure).splitlines()
        fix = "; ".join(each.lstrip(" ->=").removeprefix("help: ") for each in rest)
        return critical(said, fix or "look at `[adapter]` in `rocky.toml`")
    try:
        session = connection.session
        place = written(adapter.remote or adapter.master or DEFAULT_MASTER)
        if adapter.remote:
            judged = _judge_redaction(adapter, session.conf.get(REDACTION, SPARKS_OWN))
            if judged.health is not Health.HEALTHY:
                return judged
        if connection.kind == "local":
            return healthy(f"Spark {session.version} at `{place}` started")
        return _try_task(connection, place)
    finally:
        connection.close()


_TASK_SECONDS: Final = 60


def _try_task(connection: Any, place: str) -> Diagnosis:
    """Whether executors do what they are asked: a master answers also where it has none."""
    # Here: as above.
    from rocky.spark.deadline import DeadlinePassed, within  # noqa: PLC0415
    from rocky.spark.failures import SPARK_ERRORS  # noqa: PLC0415

    session = connection.session
    try:
        within(_TASK_SECONDS, session.range(1).collect)
    except SPARK_ERRORS as failure:
        said = connection.explain(failure).message
        return critical(
            f"Spark {session.version} at `{place}` answers, and cannot do a task: {said}",
            "look at `[adapter]` in `rocky.toml` and at the log of that Spark",
        )
    except DeadlinePassed:
        return critical(
            f"Spark {session.version} at `{place}` answers, and no executor has done a task in"
            f" {_TASK_SECONDS} s",
            "see on the master's page which workers there are and what they have free, and what"
            " `spark.executor.cores` and `spark.executor.memory` ask for",
        )
    return healthy(f"Spark {session.version} at `{place}` answers, and executors work")
