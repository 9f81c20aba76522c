"""The walkthrough of the docs, from labelled files to a labelled export, runs as written."""

import os
from pathlib import Path

import pytest
from walk import run_page

from csim.sources.image_folder import read_labelled


@pytest.mark.slow
@pytest.mark.long
def test_the_walkthrough_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run_page("walkthrough.md", least_blocks=9)
    assert "questions open" in said["csim run digits photos/incoming --out predictions.jsonl"]
    names = set(os.listdir("labelled-images"))
    assert len(names) >= 8  # of ten digits; three were known, and one was merged into another
    images, labels = read_labelled("labelled-images")
    assert len(images) == len(labels) > 250  # the warm-up and the answers
    assert set(labels) == names
    assert Path("report.html").stat().st_size > 20_000
    assert len(Path("predictions.jsonl").read_text().splitlines()) > 1000
    assert len(Path("labels.csv").read_text().splitlines()) > 1000
