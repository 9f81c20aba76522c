"""Waiting in tests. The limit guards against hangs only: a busy machine never reaches it."""

import signal
import time
from contextlib import contextmanager

HANG_SECONDS = 600


def wait_for(condition, pause=0.02):
    """Return when a condition holds; fail if it never does."""
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(pause)


@contextmanager
def no_hang():
    """Fail a block that waits for something that never comes."""

    def give_up(*_):
        raise TimeoutError(f"nothing happened for {HANG_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def hear_signals():
    """Let a new process hear the signals that a test sends, whatever this one ignores.

    Pass it as `preexec_fn`: a shell starts jobs in the background with SIGINT ignored, and `nohup`
    ignores SIGHUP.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
