"""Of all that a JVM prints, the first line that says what is wrong; and which setting it is about."""

import pytest

from rocky.spark.output import blamed_settings, first_error, last_lines

NO_MASTER = """\
WARNING: Using incubator modules: jdk.incubator.vector
26/11/16 11:24:22 WARN Utils: Your hostname, vm, resolves to a loopback address
Exception in thread "main" org.apache.spark.SparkException: Master must either be yarn or start with spark, k8s, or local
\tat org.apache.spark.deploy.SparkSubmit.error(SparkSubmit.scala:1065)
"""
NO_HEAP = """\
Invalid maximum heap size: -Xmx2 gigs
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
"""
NO_PACKAGE = """\
:: loading settings :: url = jar:file:/x.jar!/org/apache/ivy/core/settings/ivysettings.xml
\t\tmodule not found: org.nowhere#nothing_2.13;1.0
\t\t::          UNRESOLVED DEPENDENCIES         ::
Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: org.nowhere#nothing_2.13;1.0: not found]
\tat org.apache.spark.util.MavenUtils$.resolveMavenCoordinates(MavenUtils.scala:494)
"""
NO_MEMORY = """\
Error occurred during initialization of VM
Could not reserve enough space for 943718400KB object heap
"""
NO_MASTERS = """\
26/11/16 11:52:30 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform
26/11/16 11:53:40 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive! Giving up.
26/11/16 11:53:41 ERROR SparkContext: Error initializing SparkContext.
"""
NO_CLASS = (
    "java.lang.ClassNotFoundException: no.such.Serializer\n\tat java.base/java.net.URLClassLoader\n"
)


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (NO_MASTER, "Master must either be yarn or start with spark, k8s, or local"),
        (NO_HEAP, "Invalid maximum heap size: -Xmx2 gigs"),
        (NO_PACKAGE, "unresolved dependency: org.nowhere#nothing_2.13;1.0: not found"),
        (NO_MEMORY, "Could not reserve enough space for 943718400KB object heap"),
        (NO_MASTERS, "Application has been killed. Reason: All masters are unresponsive! Giving up."),
        (NO_CLASS, "there is no class `no.such.Serializer`"),
        ("WARNING: something\nUsing Spark's default log4j profile\n", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_first_error_is_sparks_own_and_not_its_chatter(output, error):
    assert error == first_error(output)


@pytest.mark.parametrize(
    ("error", "conf", "names"),
    [
        (first_error(NO_HEAP), {"spark.driver.memory": "2 gigs"}, ("spark.driver.memory",)),
        (first_error(NO_PACKAGE), {"spark.jars.packages": "org.nowhere:nothing_2.13:1.0"}, ("spark.jars.packages",)),
        (first_error(NO_MASTER), {"master": "loca[2]", "spark.x": "1"}, ("master",)),
        ("`spark.foo` should be a number", {"spark.foo": "x", "spark.bar": "y"}, ("spark.foo",)),
        (first_error(NO_CLASS), {"spark.serializer": "no.such.Serializer"}, ("spark.serializer",)),
        ("something else", {"spark.foo": "true", "spark.bar": "else"}, ()),
    ],
)  # fmt: skip
def test_an_error_is_traced_to_the_setting_that_it_is_about(error, conf, names):
    assert names == blamed_settings(error, conf)[0]


def test_the_last_lines_leave_out_empty_ones():
    assert ("b", "  c") == last_lines("a\n\nb\n\n  c\n\n", 2)


def test_what_every_start_prints_is_no_last_line():
    start = "".join(NO_MASTERS.splitlines(keepends=True)[:1])

    assert () == last_lines(f"WARNING: x\n{start}Setting default log level to WARN\n", 5)
    assert 2 == len(last_lines(NO_MASTERS, 5))
