"""A location: where a warehouse lies, and what each reader calls it.

One location has several names: obstore and deltalake want `s3://`, Spark wants `s3a://`, and for a
folder Spark wants a `file:` URI that is *not* percent-encoded, because Hadoop takes the text after
the scheme as the path itself: `%20` there is a file name with a per cent sign.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from rocky.errors import StoreUnreadable

_S3_SCHEMES: Final = frozenset({"s3", "s3a"})

# What a setting may be called: by the environment, by Spark, by obstore. Earlier names win, so a
# project's own `[adapter.conf]` goes before the environment.
_S3_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "endpoint": (
        "endpoint",
        "spark.hadoop.fs.s3a.endpoint",
        "fs.s3a.endpoint",
        "AWS_ENDPOINT_URL_S3",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT",
    ),
    "access_key_id": (
        "access_key_id",
        "spark.hadoop.fs.s3a.access.key",
        "fs.s3a.access.key",
        "AWS_ACCESS_KEY_ID",
    ),
    "secret_access_key": (
        "secret_access_key",
        "spark.hadoop.fs.s3a.secret.key",
        "fs.s3a.secret.key",
        "AWS_SECRET_ACCESS_KEY",
    ),
    "session_token": (
        "session_token",
        "spark.hadoop.fs.s3a.session.token",
        "fs.s3a.session.token",
        "AWS_SESSION_TOKEN",
    ),
    "region": (
        "region",
        "spark.hadoop.fs.s3a.endpoint.region",
        "fs.s3a.endpoint.region",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ),
}


@dataclass(frozen=True, slots=True)
class Location:
    """The root of a warehouse. `folder` is None when it lies in an object store.

    `settings` are obstore's; they hold credentials, so they are neither shown nor compared.
    """

    uri: str
    spark_uri: str
    folder: Path | None = None
    bucket: str = ""
    prefix: str = ""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def delta_options(self) -> dict[str, str]:
        """The settings as deltalake takes them."""
        return {_delta_name(name): value for name, value in self.settings.items()}

    def place(self, path: str) -> str:
        """Where a path lies, for people and for deltalake."""
        return f"{self.uri}/{path}" if path else self.uri

    def spark_place(self, path: str) -> str:
        """Where a path lies, for Spark."""
        return f"{self.spark_uri}/{path}" if path else self.spark_uri

    def whole_bucket(self) -> "Location":
        """The bucket that this place is in, with the same settings."""
        below = self.bucket
        return replace(self, uri=f"s3://{below}", spark_uri=f"s3a://{below}", prefix="")


def _delta_name(name: str) -> str:
    return name if name == "allow_http" else f"aws_{name}"


def locate(root: str, base: Path, options: Mapping[str, str]) -> Location:
    """Where `root` lies: a folder, relative to `base`, or an `s3://` URI."""
    if "://" not in root:
        return _folder(base / root)
    parts = urlsplit(root)
    if parts.scheme == "file":
        return _folder(Path(root.removeprefix("file://")))
    if parts.scheme not in _S3_SCHEMES or not parts.netloc:
        raise StoreUnreadable(
            f"`{root}` is not a warehouse: name a folder or an `s3://bucket/path` URI"
        )
    # Not `parts.path`: a `#` or `?` in a key is part of the key.
    prefix = root.split("://", 1)[1].removeprefix(parts.netloc).strip("/")
    below = f"{parts.netloc}/{prefix}".rstrip("/")
    return Location(
        uri=f"s3://{below}",
        spark_uri=f"s3a://{below}",
        bucket=parts.netloc,
        prefix=prefix,
        settings=_s3_settings(options),
    )


def _folder(path: Path) -> Location:
    # Keys of objects know no `..`, so it has to be gone from the root.
    absolute = path.resolve()
    return Location(uri=str(absolute), spark_uri=f"file://{absolute}", folder=absolute)


def _s3_settings(options: Mapping[str, str]) -> dict[str, str]:
    settings = {}
    for name, spellings in _S3_NAMES.items():
        found = next((options[spelling] for spelling in spellings if options.get(spelling)), None)
        if found is not None:
            settings[name] = found
    endpoint = settings.get("endpoint", "")
    if endpoint and "://" not in endpoint:
        settings["endpoint"] = f"https://{endpoint}"
    if endpoint.startswith("http://"):
        settings["allow_http"] = "true"
    if endpoint:
        # A server of one's own may not care for regions, but requests are signed with one.
        settings.setdefault("region", "us-east-1")
    return settings
