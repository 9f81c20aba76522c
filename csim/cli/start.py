"""The start of the program: a signal that comes before a command runs ends it quietly.

Loading the commands takes from a tenth of a second to a few seconds. Nothing is held or written
meanwhile, so the process may end at once. Later `exit_codes.report_errors` hears the signals.
"""

from __future__ import annotations

import os
import signal
from typing import NoReturn

_INTERRUPTED = 130  # as in `exit_codes`, which is not loaded yet


def main() -> None:
    """Run the command line."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores SIGHUP
            signal.signal(number, _end)
    from csim.cli.main import app  # noqa: PLC0415 - only now may loading be interrupted

    app()


def _end(*_: object) -> NoReturn:
    os._exit(_INTERRUPTED)
