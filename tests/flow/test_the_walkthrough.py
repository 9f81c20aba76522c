"""The walkthrough of the docs, from labelled files to a labelled export, runs as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from csim.sources.image_folder import read_labelled

PAGE = Path(__file__).parents[2] / "docs" / "walkthrough.md"


@pytest.mark.slow
@pytest.mark.long
def test_the_walkthrough_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    space: dict[str, object] = {}
    said = {}
    steps = re.findall(
        r"^```(python|sh)\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE
    )
    assert len(steps) > 8
    for language, block in steps:
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), space)  # noqa: S102
            continue
        for command in block.strip().splitlines():
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                env=os.environ | {"PATH": path},
                capture_output=True,
                text=True,
                timeout=600,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            said[command] = done.stdout
    assert "questions open" in said["csim run digits photos/incoming --out predictions.jsonl"]
    names = set(os.listdir("labelled-images"))
    assert len(names) >= 8  # of ten digits; three were known, and one was merged into another
    images, labels = read_labelled("labelled-images")
    assert len(images) == len(labels) > 250  # the warm-up and the answers
    assert set(labels) == names
    assert Path("report.html").stat().st_size > 20_000
    assert len(Path("predictions.jsonl").read_text().splitlines()) > 1000
    assert len(Path("labels.csv").read_text().splitlines()) > 1000
