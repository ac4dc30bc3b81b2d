"""The text of a seed's file: that which was compiled, or none.

A seed is read once to learn its columns and once to load it. In between somebody may have edited
it; then its table would not be what its hash says.
"""

from pathlib import Path

from blake3 import blake3

from rocky.errors import RockyError
from rocky.project.seeds import SeedTable


def read_seed_text(seed: SeedTable, root: Path) -> str:
    """A seed's CSV, without a byte order mark. Raises RockyError when it is another by now."""
    try:
        data = (root / seed.path).read_bytes()
    except OSError as error:
        raise RockyError(
            f"seed `{seed.name}` cannot be read any more: {error.strerror or error}"
        ) from error
    if blake3(data).digest() != seed.content_hash:
        raise RockyError(f"seed `{seed.name}` changed while it was read; run again")
    return data.decode("utf-8-sig")
