"""Write access: what the one process that runs a stream folder holds, from its start to its end."""

from __future__ import annotations

from contextlib import ExitStack

from threadpoolctl import threadpool_limits

from csim.folder.database import check, open_for_engine
from csim.folder.layout import Layout
from csim.folder.lock import Lock


class WriteAccess:
    """Hold a folder's lock, a connection to its database and a limit of one thread until `release`.

    With one thread, sums come out the same to the last bit when csim replays a step.
    """

    def __init__(self, layout: Layout) -> None:
        check(layout.database)
        with ExitStack() as held:
            self._lock = Lock(layout.lock)
            held.callback(self._lock.release)
            held.callback(threadpool_limits(limits=1).restore_original_limits)
            self.connection = open_for_engine(layout.database)
            held.callback(self.connection.close)
            self.check()
            self._held = held.pop_all()

    def check(self) -> None:
        """Raise a FolderError if somebody has moved the folder or put another in its place.

        csim calls this before it writes or deletes a file by its path. The database stays the one
        that was opened, wherever it is now.
        """
        self._lock.check()

    def release(self) -> None:
        """Close the connection and let another process run the folder."""
        self._held.close()
