"""Debian's chromium on the real page, at two widths; every page is watched for errors."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import sync_playwright
from web.serving import serving

CHROMIUM = Path("/usr/bin/chromium")
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
WIDE = 1280
NARROW = 390
# Names that run from right to left, with emoji, and with what HTML would take for its own.
NAMES = ("heron", "🦩 flamingo", "עיט <b>&amp;")


@pytest.fixture(scope="module")
def browser():
    """Start chromium. It ends with the module: its event loop would disturb other tests."""
    assert CHROMIUM.exists(), "chromium is missing; install it: apt-get install chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield chromium
        chromium.close()


@pytest.fixture(params=[WIDE, NARROW])
def width(request):
    """Return the width of the browser's window: every story happens on a desk and on a phone."""
    return request.param


@pytest.fixture
def open_page(browser, width):
    """Return a function that opens a page of a service; at the end no page may have complained."""
    usual = width
    contexts = []
    complaints = []

    def open_one(url, path="/", *, width=usual, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        watch(page, urlsplit(url).netloc, complaints)
        page.goto(url + path)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def watch(page, host, complaints):
    """Note errors and warnings of a page, and requests to other hosts."""

    def on_console(message):
        # Chromium reports a refused connection itself while a server restarts.
        if message.type in ("error", "warning") and "ERR_CONNECTION" not in message.text:
            complaints.append(f"{message.type}: {message.text}")

    def on_request(request):
        if urlsplit(request.url).netloc != host:
            complaints.append(f"request to {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
    page.on("request", on_request)


@pytest.fixture(scope="session")
def named_base(asked_base, tmp_path_factory):
    """Return a folder with open questions whose classes have difficult names; read-only."""
    root = shutil.copytree(asked_base, tmp_path_factory.mktemp("named") / "stream")
    with serving(root) as (client, _):
        for class_id, name in enumerate(NAMES):
            client.patch(f"/v1/classes/{class_id}", json={"name": name}).raise_for_status()
    return root


@pytest.fixture
def service(named_base, tmp_path):
    """Return an HTTP client of a service with open questions and difficult names."""
    root = shutil.copytree(named_base, tmp_path / "stream")
    with serving(root) as (client, _):
        yield client


def url_of(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def question_id(page):
    return int(page.get_attribute("form.question", "data-id"))


def next_question(page, before):
    """Wait until another question, or none, is on the screen; return its id."""
    page.wait_for_function(
        "before => document.querySelector('#stage > *')?.dataset.id !== String(before)", arg=before
    )
    return question_id(page) if page.query_selector("form.question") else None
