"""The command line: the composition root.

Importing it makes an interrupt quiet: loading the commands takes long enough to be stopped.
"""

import os
import sys
from types import TracebackType

_INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, which is not loaded yet when this is needed."""


def leave_interrupted(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """An exception hook: an interrupt ends the process with 130, all else is shown as ever."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    if sys.stderr is not None:
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
    # Python itself would end as killed by the signal, which is no exit code of ours.
    os._exit(_INTERRUPTED)


if sys.excepthook is sys.__excepthook__:
    sys.excepthook = leave_interrupted
