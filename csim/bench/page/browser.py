"""The page in chromium: how long a person waits for the next question."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Page, sync_playwright

from csim.errors import InputError

CHROMIUM = "/usr/bin/chromium"
_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
# From the key press until the next question with its picture is painted.
_WATCH = """() => {
  window.waits = [];
  let pressed = 0;
  addEventListener("keydown", () => { pressed = performance.now(); }, true);
  new MutationObserver(async () => {
    const start = pressed;
    const picture = document.querySelector(".representative img");
    if (!start || !picture) return;
    pressed = 0;
    await picture.decode();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.waits.push(performance.now() - start);
    }));
  }).observe(document.getElementById("stage"), { childList: true });
}"""


@contextmanager
def labelling(url: str) -> Iterator[Page]:
    """Open the question view and watch how long each next question takes."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_OPTIONS))
        except Exception as error:
            raise InputError(
                f"{CHROMIUM} must start, it did not; install it: apt-get install chromium"
            ) from error
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.evaluate(_WATCH)
        yield page
        browser.close()


def answer(page: Page, questions: int, *, think: float) -> tuple[list[float], float]:
    """Answer questions by keys; return the waits in milliseconds, and the seconds in all.

    Parameters
    ----------
    page
        The question view.
    questions
        How many. Higher steadies the figures.
    think
        Seconds before each key. Higher gives the page more time to fetch the next question.
    """
    before = page.evaluate("waits.length")
    start = time.perf_counter()
    for number in range(questions):
        page.wait_for_timeout(1000 * think)
        page.keyboard.press("Enter")  # digits would start a name: these classes are numbers
        page.wait_for_function("done => waits.length >= done", arg=before + number + 1)
    seconds = time.perf_counter() - start
    page.wait_for_function("() => localStorage.getItem('csim-unsent') === '[]'")
    return page.evaluate("before => waits.slice(before)", before), seconds


def read_times(url: str, path: str, repeats: int) -> list[float]:
    """Return how many milliseconds a path takes, each time.

    Parameters
    ----------
    url
        Of the service.
    path
        What to get.
    repeats
        How often. Higher steadies the figure.
    """
    found = []
    with httpx.Client(base_url=url, timeout=60) as client:
        for _ in range(repeats):
            start = time.perf_counter()
            client.get(path).raise_for_status()
            found.append(1000 * (time.perf_counter() - start))
    return found
