"""`[adapter]`: the engine that runs the models.

There is one kind, Spark, reached by `master` or by `remote`; `conf` goes to it unread.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.documents import Problem
from rocky.project.rules import Factor, NonNegative, Problems, ReadBy
from rocky.project.shapes import wrong_type
from rocky.project.variables import Keys


class Retry(NamedTuple):
    """Backing off from a failing service. A threshold of 0 switches the breaker off."""

    max_retries: NonNegative = 3
    initial_backoff_ms: NonNegative = 1000
    max_backoff_ms: NonNegative = 30000
    backoff_multiplier: Factor = 2.0
    jitter: bool = True
    circuit_breaker_threshold: NonNegative = 5
    circuit_breaker_recovery_timeout_secs: NonNegative | None = None
    max_retries_per_run: NonNegative | None = None


def _read_conf(value: Any, at: Keys, problems: Problems) -> Any:
    """Spark settings as texts. `spark.sql.x = 1` is nested tables in TOML: flattened here."""
    if not isinstance(value, dict):
        return wrong_type("a table of Spark settings", value, at, problems)
    settings: dict[str, str] = {}
    for key, one in value.items():
        if isinstance(one, dict):
            below = _read_conf(one, (*at, key), problems)
            settings.update({f"{key}.{name}": text for name, text in below.items()})
        elif isinstance(one, bool):
            settings[key] = "true" if one else "false"
        elif isinstance(one, str):
            settings[key] = one
        elif isinstance(one, int | float):
            settings[key] = str(one)
        else:
            problems.append(Problem((*at, key), f"the Spark setting `{key}` must be one value"))
    return settings


NO_CONF: Final[Mapping[str, str]] = {}
SparkConf = Annotated[Mapping[str, str], ReadBy(_read_conf)]


class Adapter(NamedTuple):
    """How to reach Spark and where its tables live."""

    type: Literal["spark"] = "spark"
    kind: Literal["data", "discovery"] | None = None
    master: str | None = None
    remote: str | None = None
    warehouse: str = "warehouse"
    iceberg: bool = False
    register: bool = False
    conf: SparkConf = NO_CONF
    retry: Retry = Retry()
