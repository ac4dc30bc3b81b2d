"""What people and programs see of transfers of a state that is kept elsewhere.

A program gets one JSON line on standard error for each; a person only hears of what went wrong,
which the run itself warns of.
"""

import sys

from rocky.cli.console import write_note
from rocky.cli.options import Settings
from rocky.remote.events import SyncListener, format_event


def sync_listener(settings: Settings) -> SyncListener | None:
    """Who hears of transfers in this invocation."""
    if settings.quiet or (sys.stderr.isatty() and not settings.json):
        return None
    return lambda event: write_note(format_event(event))
