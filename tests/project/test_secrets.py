"""Secrets of sources: what Spark is told and people are not."""

import pytest

from rocky.pipelines.replication.source import option_texts
from rocky.pipelines.replication.spark_discovery import JdbcTables
from rocky.project.configuration.pipelines import ReplicationSource
from rocky.project.secrets import (
    hide_option,
    hide_password,
    text_without_secrets,
    url_without_password,
)
from rocky.project.toml.variables import Substituted


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jdbc:postgresql://h/db", "jdbc:postgresql://h/db"),
        (
            "jdbc:postgresql://h/db?user=u&password=p%40ss",
            "jdbc:postgresql://h/db?user=u&password=***",
        ),
        (
            "jdbc:sqlserver://h;user=u;Password=x;encrypt=true",
            "jdbc:sqlserver://h;user=u;Password=***;encrypt=true",
        ),
        ("jdbc:mysql://u:p@h/db", "jdbc:mysql://u:***@h/db"),
        (Substituted("jdbc:x://u:p@h", "${URL}"), "${URL}"),
    ],
)
def test_an_address_is_shown_without_its_password(url, shown):
    assert shown == url_without_password(url)
    assert repr(shown) == repr(hide_password(url))
    assert url == hide_password(url)


@pytest.mark.parametrize(
    "key", ["password", "sslPassword", "token", "fs.s3a.secret.key", "AccessKey"]
)
def test_an_option_that_looks_like_a_secret_does_not_show_itself(key):
    value = hide_option(key, "hunter2")

    assert "hunter2" == value
    assert "'***'" == repr(value)


def test_other_options_show_themselves():
    options = option_texts(
        ReplicationSource(options={"fetchsize": 10, "header": True, "user": "u"})
    )

    assert {"fetchsize": "10", "header": "true", "user": "u"} == options
    assert "{'fetchsize': '10', 'header': 'true', 'user': 'u'}" == repr(options)


def test_a_message_is_told_without_secrets():
    said = "cannot reach jdbc:x://h?password=abc as s3cr3t"

    assert "cannot reach jdbc:x://h?password=*** as ${PW}" == text_without_secrets(
        said, [Substituted("s3cr3t", "${PW}")]
    )


def test_a_discovery_of_a_database_shows_neither_address_nor_options():
    tables = JdbcTables("jdbc:x://u:p@h", {"password": "p"}, lambda: None, lambda _: True)

    assert "p@h" not in repr(tables)
    assert "password" not in repr(tables)


@pytest.mark.parametrize(
    ("url", "dbtable", "driver"),
    [
        ("jdbc:postgresql://h/db", '"s"."odd ""t"""', "org.postgresql.Driver"),
        ("jdbc:mysql://h/db", '`s`.`odd "t"`', "com.mysql.cj.jdbc.Driver"),
        ("jdbc:other://h/db", '"s"."odd ""t"""', None),
    ],
)
def test_a_table_is_named_as_its_database_quotes_names(url, dbtable, driver):
    tables = JdbcTables(url, {"user": "u"}, lambda: None, lambda _: True)
    options = tables.read_options("s", 'odd "t"')

    assert (dbtable, driver, url) == (options["dbtable"], options.get("driver"), options["url"])
