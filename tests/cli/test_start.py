"""A signal before a command runs ends it with 130 and without a word."""

import signal
import subprocess
import sys

import pytest

# The process sends itself a signal at the moment at which it begins to import a module.
SIGNAL_ON_IMPORT = """
import os, sys
module, number = sys.argv.pop(1), int(sys.argv.pop(1))
def hook(event, args):
    if event == "import" and args[0] == module:
        os.kill(os.getpid(), number)
sys.addaudithook(hook)
from csim.cli.start import main
main()
"""


def run(module, number, *arguments, **options):
    command = [sys.executable, "-c", SIGNAL_ON_IMPORT, module, str(int(number)), *arguments]
    return subprocess.run(command, capture_output=True, timeout=600, check=False, **options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", ["csim.cli.main", "typer", "csim.folder.reader", "numpy"])
def test_a_signal_while_the_program_loads_ends_it_quietly(tmp_path, module, number):
    ended = run(module, number, "status", str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


@pytest.mark.parametrize("command", ["init", "run", "label", "serve", "export labels", "backup"])
def test_a_signal_while_a_command_loads_ends_it_quietly(tmp_path, command):
    ended = run("csim.errors", signal.SIGINT, *command.split(), str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    ended = run("typer", signal.SIGHUP, "status", str(tmp_path), preexec_fn=ignore)
    assert ended.returncode == 3
    assert b"not a stream folder" in ended.stderr
