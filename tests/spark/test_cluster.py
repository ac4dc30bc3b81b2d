"""A real cluster: a standalone master, two workers, Spark Connect and an S3 server, and what goes wrong there.

Workers know nothing of Rocky: their Python has no library at all. All tables lie in a bucket of a
server with true conditional puts, behind a proxy that can fail as networks do.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections import Counter
from pathlib import Path
from threading import Thread

import pytest
from benchmarks.twenty_models import CONFIG, write_project
from blake3 import blake3
from pyspark.sql.connect.client import retries

from rocky.spark.java import choose_java
from rocky.store.data_file import is_addressed
from rocky.store.objects import locate_file
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import open_warehouse
from tests.servers.faults import http_faults
from tests.servers.maven import maven_jars
from tests.servers.s3 import s3_environment
from tests.servers.s3proxy import s3proxy_server
from tests.spark import tour
from tests.spark.jars import S3, S3_EXCLUDED
from tests.spark.servers import ConnectServer, StandaloneCluster
from tests.store.tables import Name

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]

ORDERS = 300
BUCKET = "lake"
LOCAL = 'master = "local[2]"\nwarehouse = "warehouse"\n'
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def java() -> str:
    found = choose_java(os.environ)
    if found.from_wheel:
        pytest.skip("executors are started by Spark's launcher: the wheel's Java lacks a module")
    return found.program


@pytest.fixture(scope="module")
def s3_jars() -> list[Path]:
    """Hadoop's client for S3, without what Spark comes with."""
    found = maven_jars(*S3.split(","), excluded=S3_EXCLUDED)
    shipped = ("netty-", "slf4j-", "commons-", "httpc")
    return [jar for jar in found if not jar.name.startswith(shipped) or "client" in jar.name]


@pytest.fixture(scope="module")
def s3(java, s3_jars, tmp_path_factory):
    with s3proxy_server(java, tmp_path_factory.mktemp("s3"), BUCKET) as endpoint:  # noqa: SIM117
        with http_faults(endpoint) as proxy:
            yield proxy


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    """A Python of this version that has no library at all."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python3"


@pytest.fixture(scope="module")
def cluster(s3, bare_python, tmp_path_factory):
    started = StandaloneCluster(tmp_path_factory.mktemp("cluster"), bare_python)
    yield started
    started.stop()


def settings_of(s3, jars: list[Path]) -> dict[str, str]:
    return {
        "spark.jars": ",".join(map(str, jars)),
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.hadoop.fs.s3a.endpoint": s3.url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": "key",
        "spark.hadoop.fs.s3a.secret.key": "secret",
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }


@pytest.fixture
def conf(s3, s3_jars) -> dict[str, str]:
    s3.heal()
    s3.seen.clear()
    s3.created.clear()
    return settings_of(s3, s3_jars)


@pytest.fixture(scope="module")
def laptop(spark, tmp_path_factory) -> dict[str, list[str]]:
    """The files of every table as one local core writes them."""
    root = tour.write_tour(tmp_path_factory.mktemp("laptop") / "project", ORDERS)
    told = tour.go(root, spark)
    assert TOLD == told
    return tour.files_of("warehouse", root, {})


TOLD = {
    "errors": [],
    "warnings": [],
    "promoted": ["rpt_stale"],
    "built_after": [],
    "findings": [],
}


def adapter_of(address: str, place: str, conf: dict[str, str]) -> str:
    """The settings of a project that is run on a Spark."""
    kind = "remote" if address.startswith("sc:") else "master"
    lines = "".join(f'"{name}" = "{value}"\n' for name, value in conf.items())
    return f'{kind} = "{address}"\nwarehouse = "{place}"\n\n[adapter.conf]\n{lines}\n'


def driver(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that drives Spark, on a machine where nobody said which Python executors have."""
    unsaid = ("PYSPARK_PYTHON", "SPARK_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in unsaid}
    paths = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
    return subprocess.run(
        [sys.executable, "-m", "tests.spark.tour", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env={**environment, "PYTHONPATH": paths},
    )


def answer_of(done: subprocess.CompletedProcess[str]) -> dict:
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def commits_in(s3) -> list[str]:
    """The commits that somebody tried to put."""
    put = [path for method, path in s3.seen if method == "PUT"]
    return [path for path in put if "/_delta_log/" in path and path.endswith(".json")]


def test_on_a_cluster_every_table_has_the_files_of_a_laptop(laptop, cluster, s3, conf, tmp_path):
    place = f"s3://{BUCKET}/tour"
    root = tour.write_tour(tmp_path / "project", ORDERS, adapter_of(cluster.address, place, conf))

    told = answer_of(driver(root, "tour"))

    assert TOLD == told
    assert laptop == tour.files_of(place, root, conf)
    commits = commits_in(s3)
    assert len(laptop) < len(commits)
    assert set(commits) <= set(s3.created), "commits are conditional puts"


SLOW = """\
from pyspark.sql import functions as F


def model(orders):
    @F.udf("bigint", useArrow=False)
    def delayed(n):
        import os
        import time

        from pyspark import TaskContext

        task = TaskContext.get()
        if task.attemptNumber() == 0 and n % 200 == 199:
            {misfortune}
        return n

    return orders.repartition(4, "order_id").select(delayed("order_id").alias("order_id"))
"""
OF_SLOW = """\
inputs = {{ orders = "raw.orders" }}
output = [{{ name = "order_id", type = "bigint" }}]

[store]
canonical = {canonical}
"""


def write_slow(root: Path, misfortune: str, canonical: str, adapter: str) -> Path:
    """A project of one more model, to whose tasks something happens at their first try."""
    write_project(root, orders=1_000)
    (root / "rocky.toml").write_text(CONFIG.replace(LOCAL, adapter))
    (root / "models/slow.py").write_text(SLOW.format(misfortune=misfortune))
    (root / "models/slow.toml").write_text(OF_SLOW.format(canonical=canonical))
    for each in (root / "models").glob("*.sql"):
        if each.stem not in ("stg_orders", "stg_customers"):
            each.unlink()
    for each in (root / "models").glob("*.toml"):
        if each.stem != "slow":
            each.unlink()
    (root / "models/after.sql").write_text("SELECT count(*) AS n, sum(order_id) AS s FROM slow\n")
    return root


def leave(mark: Path) -> str:
    """What a task does to be noticed: it says where it works, and takes its time."""
    return f"open({str(mark)!r}, 'w').write(os.getcwd()), time.sleep(3)"


def rows_of(place: str, name: str, root: Path, conf: dict[str, str]) -> list[tuple]:
    """The rows of a table, each file held against its name."""
    table = table_of(place, name, root, conf)
    snapshot = table.snapshot()
    assert snapshot is not None
    for file in snapshot.files:
        data = locate_file(table.objects, table.prefix, file.path).read()
        assert f"{blake3(data).hexdigest()}.parquet" == file.name
    return sorted(load_rows(table, snapshot, 10_000))


def table_of(place: str, name: str, root: Path, conf: dict[str, str]):
    warehouse = open_warehouse(place, base=root, options=conf)
    return warehouse.table(Name("spark_catalog", "default", name))


@pytest.mark.parametrize("canonical", ["true", "false"])
def test_a_worker_killed_in_mid_stage_loses_and_doubles_nothing(cluster, conf, tmp_path, canonical):
    place = f"s3://{BUCKET}/killed-{canonical}"
    adapter = adapter_of(cluster.address, place, conf)
    mark = tmp_path / "mark"
    root = write_slow(tmp_path / "project", leave(mark), canonical, adapter)

    told = answer_of(driver(root, "assassin", str(mark), json.dumps(cluster.groups)))
    cluster.mend()

    assert told.pop("struck") in cluster.workers
    assert {"errors": [], "warnings": [], "findings": []} == told
    assert [(n,) for n in range(1_000)] == rows_of(place, "slow", root, conf)
    assert [(1_000, 499_500)] == rows_of(place, "after", root, conf)


SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.1",
}


@pytest.mark.parametrize(
    "misfortune",
    ["time.sleep(30)", "raise OSError('the disk of this task is gone')"],
    ids=["speculated", "retried"],
)
def test_a_task_that_runs_twice_leaves_its_rows_once(cluster, conf, tmp_path, misfortune):
    place = f"s3://{BUCKET}/twice-{len(misfortune)}"
    # One file for each task, written as its rows come: what fails has been writing.
    adapter = adapter_of(cluster.address, place, conf | SPECULATION)
    if "sleep" in misfortune:
        misfortune = f"if task.partitionId() == 0:\n                {misfortune}"
    root = write_slow(tmp_path / "project", misfortune, "false", adapter)

    told = answer_of(driver(root, "run"))

    assert {"errors": [], "warnings": [], "findings": []} == told
    assert [(n,) for n in range(1_000)] == rows_of(place, "slow", root, conf)
    table = table_of(place, "slow", root, conf)
    lying = {info.path.rpartition("/")[2] for info in table.objects.list(table.prefix)}
    named = {file.name for file in table.snapshot().files}
    assert named == {name for name in lying if is_addressed(name)}, "nothing is left over"
    assert [] == list(table.objects.list(f"{table.prefix}/_staging"))


@pytest.fixture
def idle_master(bare_python, tmp_path_factory):
    """A master that has no worker."""
    started = StandaloneCluster(tmp_path_factory.mktemp("idle"), bare_python, workers=0)
    yield started
    started.stop()


def test_a_master_without_workers_is_told_of_while_a_run_waits(java, idle_master, tmp_path):
    root = write_project(tmp_path / "project", orders=ORDERS)
    adapter = f'master = "{idle_master.address}"\nwarehouse = "warehouse"\n'
    (root / "rocky.toml").write_text(CONFIG.replace(LOCAL, adapter))
    command = [sys.executable, "-m", "rocky.cli", "run"]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        told = []
        for line in run.stderr:
            told.append(line)
            if "start more workers" in line:
                run.send_signal(signal.SIGINT)
        assert run.wait(120) == 130

    said = "".join(told)
    assert f"s for an executor of `{idle_master.address}`: each needs 1g of memory" in said
    assert "  --> rocky.toml:" in said
    found = subprocess.run(
        [sys.executable, "-m", "rocky.cli", "doctor", "--check", "spark", "-o", "json"],
        cwd=root, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert "no executor has done a task in 60 s" in found.stdout


def test_executors_without_a_fitting_python_leave_hashing_to_the_driver(
    laptop, cluster, conf, tmp_path
):
    place = f"s3://{BUCKET}/no python"
    root = write_project(tmp_path / "project", orders=ORDERS)
    adapter = adapter_of(cluster.address, place, conf | {"spark.pyspark.python": "/no/python3"})
    (root / "rocky.toml").write_text(CONFIG.replace(LOCAL, adapter))
    for each in (root / "models").iterdir():
        if not each.stem.startswith("stg_"):
            each.unlink()

    told = answer_of(driver(root, "run"))

    (warning,) = told.pop("warnings")
    assert warning.startswith("Spark's executors cannot hash files (`/no/python3` would not start")
    assert {"errors": [], "findings": []} == told
    files = tour.files_of(place, root, conf)
    assert {name: laptop[name] for name in files} == files


STATE = """
[state]
backend = "s3"
s3_bucket = "lake"
s3_prefix = "state/"
on_upload_failure = "fail"
"""


def test_a_killed_driver_is_taken_over_by_another_machine(
    laptop, cluster, s3, conf, tmp_path, monkeypatch
):
    for name, value in s3_environment(s3.url).items():
        monkeypatch.setenv(name, value)
    place = f"s3://{BUCKET}/taken over"
    adapter = adapter_of(cluster.address, place, conf)
    one, other = (write_project(tmp_path / name, orders=ORDERS) for name in ("one", "other"))
    for root in (one, other):
        (root / "rocky.toml").write_text(CONFIG.replace(LOCAL, adapter) + STATE)
    # The state and the sources are what they share, besides the tables.
    shutil.rmtree(other / "data")
    shutil.copytree(one / "data", other / "data")

    killed = driver(one, "die")
    told = answer_of(driver(other, "run"))

    assert -signal.SIGKILL == killed.returncode, killed.stderr
    assert {"errors": [], "warnings": [], "findings": []} == told
    files = tour.files_of(place, other, conf)
    assert {name: laptop[name] for name in files if "rpt_stale" not in name} == {
        name: found for name, found in files.items() if "rpt_stale" not in name
    }
    assert 20 == len(files)


class Weather:
    """What becomes of requests, by their count: refused, cut, slow, or done and not answered."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def __call__(self, method: str, path: str) -> str | None:
        kind = "commit" if method == "PUT" and "/_delta_log/0" in path else method
        self.counts[kind] += 1
        found = self._judge(kind, self.counts[kind])
        if found is not None:
            self.faults[f"{kind} {found}"] += 1
        return found

    def _judge(self, kind: str, count: int) -> str | None:
        if kind == "commit":
            return {1: "lost", 2: "412", 3: "503", 0: "drop"}.get(count % 7)
        if kind == "GET" and count % 13 == 5:
            return "cut"
        return {3: "503", 7: "drop", 11: "slow", 15: "lost"}.get(count % 29)


def test_an_s3_that_errs_stalls_and_cuts_connections_harms_no_table(
    laptop, cluster, s3, conf, tmp_path
):
    place = f"s3://{BUCKET}/stormy"
    root = write_project(tmp_path / "project", orders=ORDERS)
    adapter = adapter_of(cluster.address, place, conf)
    (root / "rocky.toml").write_text(CONFIG.replace(LOCAL, adapter))
    weather = s3.judge = Weather()

    told = answer_of(driver(root, "run"))
    s3.heal()

    assert {"errors": [], "warnings": [], "findings": []} == told
    files = tour.files_of(place, root, conf)
    assert 20 == len(files)
    for name, found in files.items():
        assert name.endswith("rpt_stale") or laptop[name] == found
        table = table_of(place, name.rpartition("/")[2], root, conf)
        assert 0 == table.snapshot().version, "no commit was made twice"
    every = {"commit lost", "commit 412", "commit 503", "commit drop", "GET cut", "PUT 503"}
    assert every <= set(weather.faults), weather.faults


@pytest.fixture(scope="module")
def connect(cluster, s3, s3_jars, bare_python, tmp_path_factory):
    """A Spark Connect server whose executors are the cluster's: nobody else gets any after it."""
    settings = settings_of(s3, s3_jars) | {
        "spark.master": cluster.address,
        "spark.pyspark.python": str(bare_python),
    }
    server = ConnectServer(tmp_path_factory.mktemp("connect"), settings)
    yield server
    server.kill()


@pytest.fixture
def no_proxy(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_proxy")
def test_through_connect_every_table_has_the_files_of_a_laptop(laptop, connect, conf, tmp_path):
    place = f"s3://{BUCKET}/connected"
    hadoop = {name: value for name, value in conf.items() if name.startswith("spark.hadoop.")}
    adapter = adapter_of(connect.address, place, hadoop)
    root = tour.write_tour(tmp_path / "project", ORDERS, adapter)

    told = tour.go(root, None)

    assert TOLD == told
    assert laptop == tour.files_of(place, root, conf)


# What the client says when it cannot release a session that is gone.
@pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED")
@pytest.mark.usefixtures("no_proxy")
def test_a_connect_session_lost_in_mid_run_fails_the_run_and_the_next_one_finishes(
    connect, conf, tmp_path, monkeypatch
):
    # The client waits ten minutes for a server that is gone; here it is twenty seconds.
    usual = retries.DefaultPolicy.__init__.__defaults__
    monkeypatch.setattr(retries.DefaultPolicy.__init__, "__defaults__", (5, *usual[1:]))
    place = f"s3://{BUCKET}/disconnected"
    hadoop = {name: value for name, value in conf.items() if name.startswith("spark.hadoop.")}
    adapter = adapter_of(connect.address, place, hadoop)
    mark = tmp_path / "mark"
    root = write_slow(tmp_path / "project", leave(mark), "true", adapter)
    struck = []

    def cut() -> None:
        while not mark.exists():
            time.sleep(0.02)
        connect.kill()
        struck.append(mark)

    watch = Thread(target=cut, daemon=True)
    watch.start()
    lost = tour.run(root)
    text = (root / "rocky.toml").read_text().splitlines()
    text[text.index(next(line for line in text if line.startswith("remote")))] = (
        f'remote = "{connect.address}"'
    )
    (root / "rocky.toml").write_text("\n".join(text))
    told = tour.run(root)

    assert [mark] == struck
    assert ["connection_lost"] == sorted({each.split(": ")[1] for each in lost["errors"][:1]})
    assert [] == lost["findings"]
    assert {"errors": [], "warnings": [], "findings": []} == told
    assert [(n,) for n in range(1_000)] == rows_of(place, "slow", root, conf)
