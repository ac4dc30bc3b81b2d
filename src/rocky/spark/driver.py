"""The driver that this process has started: one, whichever threads use it; the last one stops it.

A process can have one Spark driver only. Two runs in two threads share it, each in a session of its
own, if they ask for the same; a run that asks for other settings is refused, because what the
driver was started with holds for all its sessions.
"""

from collections.abc import Callable, Mapping
from threading import RLock
from typing import Final

from pyspark.sql import SparkSession

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.spark.connection import Connection, Kind, apply_conf, connection_of
from rocky.spark.jvm import Jvm

STARTING: Final = RLock()
"""Held while a driver is looked for, started or stopped: no two threads start one."""


class Driver:
    """A driver that was started here, with what it was asked for, and how many use it."""

    def __init__(
        self,
        session: SparkSession,
        kind: Kind,
        jvm: Jvm | None,
        asked: Mapping[str, str],
        stop: Callable[[], None],
    ) -> None:
        self._session, self._kind, self._jvm = session, kind, jvm
        self._asked = dict(asked)
        self._stop = stop
        self._users = 0

    @property
    def is_running(self) -> bool:
        """Whether somebody uses it: without users it has been stopped."""
        return self._users > 0

    def connect(self, asked: Mapping[str, str], conf: Mapping[str, str]) -> Connection:
        """A session on it with the settings `conf`, for one more user.

        Raises AdapterUnusable where other things are `asked` of it than when it was started,
        SparkUnavailable when it is gone.
        """
        names = sorted(
            name
            for name in self._asked.keys() | asked.keys()
            if self._asked.get(name) != asked.get(name)
        )
        if names:
            raise AdapterUnusable(
                "another run of this process uses a Spark that was started with another"
                f" {_shown(names[0])}, and a process has one Spark only: let that run end first, or"
                " start this one in a process of its own"
            )
        # The first has the session that Spark was started with, as if it were alone.
        session = self._session
        if self._users:
            end = None if self._jvm is None else self._jvm.ending()
            if end is not None:
                raise SparkUnavailable(f"the Spark of another run of this process: {end.message}")
            session = self._session.newSession()
            apply_conf(session, conf)
        self._users += 1
        return connection_of(session, self._kind, _Leave(self), self._jvm)

    def leave(self) -> None:
        """One user less; the last one stops it."""
        with STARTING:
            self._users -= 1
            if self._users == 0:
                self._stop()


def _shown(name: str) -> str:
    return name if " " in name else f"`{name}`"


class _Leave:
    """Leaves a driver, once."""

    def __init__(self, driver: Driver) -> None:
        self._driver: Driver | None = driver

    def __call__(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            driver.leave()
