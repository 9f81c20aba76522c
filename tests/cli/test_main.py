"""The command `csim`: its list of commands, what it imports, and how it ends on errors."""

import inspect
import os
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from csim import __version__
from csim.cli.lazy_group import GroupEntry
from csim.cli.main import COMMANDS, app

ENTRIES = [
    (f"{entry.name} {child.name}", child)
    for entry in COMMANDS
    if isinstance(entry, GroupEntry)
    for child in entry.entries
] + [(entry.name, entry) for entry in COMMANDS if not isinstance(entry, GroupEntry)]
GROUPS = [entry for entry in COMMANDS if isinstance(entry, GroupEntry)]


def run_python(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | variables,
    )


def csim(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "csim", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def modules_after(*arguments):
    """Return the modules that a command has imported when it ends."""
    done = run_python(
        "import sys\n"
        "from csim.cli.main import app\n"
        "try:\n"
        f"    app({list(arguments)})\n"
        "except SystemExit:\n"
        "    print('MODULES', *sys.modules)\n"
    )
    *_, last = done.stdout.splitlines()
    assert last.startswith("MODULES "), done.stderr
    return set(last.split())


@pytest.mark.parametrize("group", [[], *([entry.name] for entry in GROUPS)], ids=" ".join)
def test_help_imports_no_heavy_library_and_no_command(group):
    modules = modules_after(*group, "--help")
    heavy = {"torch", "numpy", "matplotlib", "sklearn", "scipy", "PIL"}
    commands = {entry.target.partition(":")[0] for _, entry in ENTRIES}
    assert modules & (heavy | commands) == set()


def test_a_command_imports_no_other_command():
    modules = modules_after("status", "not-a-folder")
    commands = {entry.target.partition(":")[0] for _, entry in ENTRIES}
    assert modules & commands == {"csim.cli.status"}
    assert "torch" not in modules


@pytest.mark.parametrize(("name", "entry"), ENTRIES, ids=[name for name, _ in ENTRIES])
def test_the_help_in_the_table_is_the_first_line_of_the_docstring(name, entry):
    module, _, function = entry.target.partition(":")
    docstring = inspect.getdoc(getattr(import_module(module), function))
    assert docstring.splitlines()[0] == entry.help
    assert f"Example: csim {name}" in docstring


@pytest.mark.parametrize(
    "group", [None, *GROUPS], ids=lambda group: group.name if group else "csim"
)
def test_help_lists_every_command_once_in_the_order_of_the_table(group):
    entries = group.entries if group else COMMANDS
    done = CliRunner().invoke(app, [*([group.name] if group else []), "--help"])
    assert done.exit_code == 0
    lines = [line.strip("│ ").split() for line in done.output.partition("Commands")[2].splitlines()]
    names = [entry.name for entry in entries]
    assert [words[0] for words in lines if words and words[0] in names] == names


def test_a_group_without_a_command_shows_its_help():
    done = csim("bench")
    assert done.returncode == 2
    assert "durability" in done.stdout + done.stderr


def test_the_version_is_that_of_the_package():
    assert csim("--version").stdout.strip() == f"csim {__version__}"


@pytest.mark.parametrize(
    ("words", "suggestion"), [(["dmeo"], "demo"), (["bench", "strem"], "stream")]
)
def test_an_unknown_command_ends_with_code_2_and_a_suggestion(words, suggestion):
    done = csim(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"Did you mean '{suggestion}'" in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("csim be", ["bench"]),
        ("csim bench over", ["over-stream"]),
        ("csim classes re", ["rename", "remove", "restore"]),
        ("csim status --js", ["--json"]),
    ],
)
def test_completion_offers_commands_and_options(words, offered):
    done = run_python(
        "from csim.cli.main import app; app(prog_name='csim')",
        _CSIM_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert done.stdout.split() == offered, done.stderr
