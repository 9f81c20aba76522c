import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from csim import __version__
from csim.cli.main import in_one_line
from csim.errors import CsimError, InputError, SettingsError


def csim(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "csim", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_help_names_the_commands():
    done = csim("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout


def test_the_version_is_that_of_the_package():
    assert csim("--version").stdout.strip() == f"csim {__version__}"


def test_an_unknown_command_ends_with_code_2_and_no_traceback():
    done = csim("dmeo")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_does_not_wait_for_heavy_libraries():
    heavy = "torch", "matplotlib", "sklearn", "scipy"
    program = f"import csim.cli.main, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("error", [CsimError, InputError, SettingsError])
def test_what_csim_refuses_is_one_line_on_stderr_and_code_2(error):
    app = typer.Typer()

    @app.command()
    @in_one_line
    def refuse(size: int = typer.Option(3, min=0)) -> None:
        """Refuse everything."""
        raise error(f"size must be less than 3, got {size}")

    done = CliRunner().invoke(app, ["--size", "5"])
    assert done.exit_code == 2
    assert done.stderr == "csim: size must be less than 3, got 5\n"
    assert done.stdout == ""


def test_a_bug_of_our_own_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        in_one_line(lambda: 1 / 0)()
