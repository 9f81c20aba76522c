"""How much work a call does, counted in lines of Python that run: the same on every machine."""

import sys


def lines_run(call):
    """Return how many lines run during a call; every turn of a loop counts."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
