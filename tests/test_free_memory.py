"""Memory that was freed goes back to the system, where the C library can do so."""

import ctypes
import subprocess
import sys

import pytest

from csim import free_memory

SHOW = """
from csim.bench.durability.pace import resident
from csim.free_memory import return_free_memory
blocks = [bytes(60_000) for _ in range(2000)]
some = blocks[::50]  # between those that are freed
full = resident()
del blocks
return_free_memory()
print(full - resident())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc")
def test_most_of_what_was_freed_goes_back():
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 60  # of 118 MB


def test_a_c_library_that_cannot_is_left_alone(monkeypatch):
    monkeypatch.setattr(free_memory.ctypes, "CDLL", lambda _: object())
    free_memory._trim.cache_clear()
    try:
        assert free_memory._trim() is None
        free_memory.return_free_memory()
    finally:
        free_memory._trim.cache_clear()
