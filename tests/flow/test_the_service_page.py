"""The walk of docs/service.md works: by curl, and by the client."""

import doctest
import json
import re
import subprocess
from pathlib import Path

import httpx
import numpy as np
import pytest
from digit_folder import png
from waiting import HANG_SECONDS
from web.serving import serving

from csim.folder.layout import Config
from csim.folder.make import make
from csim.folder.stream import Stream
from csim.settings import Settings
from csim.sources.arrival import Decoded

PAGE = (Path(__file__).parents[2] / "docs/service.md").read_text()
ADDRESS = "http://127.0.0.1:8000"
SETTINGS = Settings(epochs=2, recent=100, ask_every=50, channels=8, budget=0.1, update_size=999)


def image(name, shade, rng):
    pixels = rng.normal(shade, 20, (8, 8)).clip(0, 255).astype(np.uint8)
    return Decoded(name, pixels, png(pixels))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Return the address of a service with questions, and a directory with images."""
    work = tmp_path_factory.mktemp("service")
    rng = np.random.default_rng(0)
    shades = {"dark": 40, "light": 200}
    labelled = [image(f"{name} {n}", shades[name], rng) for name in shades for n in range(20)]
    names = [item.id.split()[0] for item in labelled]
    make(work / "birds", Config(SETTINGS, (8, 8)), labelled, names)
    with Stream(work / "birds", trainer=None) as stream:
        stream.take([image(f"early {n}", rng.choice([40, 120, 200]), rng) for n in range(100)])
    for number, name in enumerate(("swan", "heron", "crane")):
        (work / f"{name}.png").write_bytes(image(name, 60 * number + 40, rng).kept)
    with serving(work / "birds") as (client, _):
        yield str(client.base_url), work


@pytest.mark.slow
def test_every_curl_command_works_in_order(service):
    url, work = service
    commands = [
        block
        for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
        if block.startswith("curl")
    ]
    assert len(commands) == 5
    for block in commands:
        done = subprocess.run(
            ["/bin/sh", "-euc", block.replace(ADDRESS, url).replace("--silent", "--silent --fail")],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        assert done.returncode == 0, (block, done.stdout)
        assert done.stdout


def test_the_answer_that_the_page_shows_has_the_fields_of_a_real_one(service):
    url, work = service
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    sent = httpx.post(
        f"{url}/v1/images",
        content=(work / "swan.png").read_bytes(),
        headers={"Content-Type": "image/png"},
        timeout=HANG_SECONDS,
    )
    assert set(sent.json()["images"][0]) == set(json.loads(shown)["images"][0])


@pytest.mark.slow
def test_the_python_of_the_page_does_what_it_shows(service, monkeypatch):
    url, work = service
    monkeypatch.chdir(work)
    (block,) = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)
    parser = doctest.DocTestParser()
    test = parser.get_doctest(block.replace(ADDRESS, url), {}, "service.md", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
