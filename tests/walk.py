"""Run a page of the docs: its blocks of shell commands and of Python, in their order."""

import os
import re
import subprocess
import sys
from pathlib import Path

from waiting import HANG_SECONDS

_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
DOCS = Path(__file__).parents[1] / "docs"


def run_page(name, least_blocks):
    """Run a page in the current folder; return what each command printed, by command.

    Blocks of Python share their names. Every command must end with code 0, and there must be at
    least so many blocks.
    """
    page = DOCS / name
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names: dict[str, object] = {}
    printed = {}
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    assert len(blocks) >= least_blocks
    for language, block in blocks:
        if language == "python":
            exec(compile(block, str(page), "exec"), names)  # noqa: S102
            continue
        for command in block.strip().splitlines():
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                env=os.environ | {"PATH": path},
                capture_output=True,
                text=True,
                timeout=HANG_SECONDS,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            printed[command] = done.stdout + done.stderr
    return printed
