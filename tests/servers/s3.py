"""An S3-compatible server on loopback, with a bucket."""

import logging
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer

BUCKET = "states"
SECRET = "s3-secret-that-nobody-sees"


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server with the bucket."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")):
        pass
    try:
        yield endpoint
    finally:
        server.stop()


def s3_environment(endpoint: str) -> dict[str, str]:
    """The settings that reach a server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key-id-that-nobody-sees",
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }
