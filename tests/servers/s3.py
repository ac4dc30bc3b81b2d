"""An S3-compatible server on loopback, with a bucket."""

import logging
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

BUCKET = "states"
SECRET = "s3-secret-that-nobody-sees"


@contextmanager
def s3_server(bucket: str = BUCKET) -> Iterator[str]:
    """The address of a server with a bucket."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - too much for who starts none

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    make_bucket(endpoint, bucket)
    try:
        yield endpoint
    finally:
        server.stop()


def make_bucket(endpoint: str, bucket: str) -> None:
    """S3 makes a bucket by a put of its name, which clients of objects have no call for."""
    request = urllib.request.Request(f"{endpoint}/{bucket}", method="PUT")
    with urllib.request.urlopen(request) as answer:
        assert 200 == answer.status


def s3_environment(endpoint: str) -> dict[str, str]:
    """The settings that reach a server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key-id-that-nobody-sees",
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }
