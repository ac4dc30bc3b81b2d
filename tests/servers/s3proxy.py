"""S3Proxy on loopback: an S3-compatible server in a process of its own, with true conditional puts."""

import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.maven import maven_jars
from tests.servers.s3 import make_bucket

S3PROXY = "org.gaul:s3proxy:4.1.0:jar-with-dependencies"
_START_SECONDS = 120


@contextmanager
def s3proxy_server(java: str, folder: Path, bucket: str) -> Iterator[str]:
    """The address of a server with a bucket; its objects lie below the folder."""
    jar = maven_jars(S3PROXY)[0]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    objects = folder / "objects"
    objects.mkdir(parents=True)
    settings = folder / "s3proxy.properties"
    settings.write_text(
        "s3proxy.authorization=none\n"
        f"s3proxy.endpoint={endpoint}\n"
        "jclouds.provider=filesystem-nio2\n"
        "jclouds.identity=any\n"
        "jclouds.credential=any\n"
        f"jclouds.filesystem.basedir={objects}\n"
    )
    with (folder / "s3proxy.log").open("w") as log:
        server = subprocess.Popen(
            [java, "-Xmx256m", "-jar", str(jar), "--properties", str(settings)],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(server, endpoint, folder / "s3proxy.log")
        make_bucket(endpoint, bucket)
        yield endpoint
    finally:
        server.kill()
        server.wait()


def _wait(server: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        with suppress(OSError):
            # Any answer will do.
            with suppress(urllib.error.HTTPError):
                urllib.request.urlopen(endpoint, timeout=5).close()
            return
        time.sleep(0.2)
    raise AssertionError(f"no server after {_START_SECONDS} seconds: {log.read_text()}")
