"""Work to be done side by side: worker processes find it by its module's name."""

import os
import signal
import time
from pathlib import Path

import torch

from csim.errors import InputError


def count(case, tell):
    """Tell ten parts; return the case doubled and what the process is like."""
    for part in range(1, 11):
        tell(part, 10)
    return (
        case * 2,
        torch.get_num_threads(),
        os.getpid(),
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    )


def refuse_the_first(case, tell, *, folder):
    """Refuse case 0; any other takes ten minutes and leaves a file."""
    if case == 0:
        raise InputError("the first case cannot be taken; leave it out")
    time.sleep(600)
    (Path(folder) / str(case)).touch()


def end_at_once(case, tell):
    """Be killed, as a process is that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(case, tell, *, folder):
    """Leave a file that is called as the process is, and sleep."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)
