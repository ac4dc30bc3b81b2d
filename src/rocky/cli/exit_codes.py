"""Exit codes: what `rocky` tells the shell.

A usage mistake (an unknown option, a missing argument) is 1, not 2 as in most tools: 2 says
that a run built some of its tables.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """One meaning a code, for every command."""

    OK = 0
    FAILED = 1
    PARTIAL = 2
    CRITICAL = 3
    WARNINGS = 4
    INTERRUPTED = 130
