"""The page docs/cli.md: one section per command, the same on every terminal."""

import re

import pytest

from csim.cli.exit_codes import EXIT_CODES
from csim.cli.reference import reference


@pytest.fixture(scope="module")
def page():
    return reference()


def section(page, name):
    return page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def test_a_section_has_help_usage_arguments_options_and_examples(page):
    text = section(page, "csim label")
    assert "Answer the open questions of a stream." in text
    assert "```\ncsim label [OPTIONS] [FOLDER]\n```" in text
    assert "| `FOLDER` | The stream folder; leave it out with --url. |  |" in text
    assert "| `--json` |" in text
    assert "```sh\ncsim label birds\ncsim label birds --from answers.csv\n" in text
    assert "csim export labels [OPTIONS] [FOLDER] OUT" in section(page, "csim export labels")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("csim demo", r"\| `--seed` \|.*\| `0` \|"),
        ("csim init", r"\| `--labelled` \|.*\| required \|"),
        ("csim init", r"\| `--size` \|.*\| their own size \|"),
        ("csim run", r"\| `--watch` \|.*\| off \|"),
        ("csim run", r"\| `--ask`, `--no-ask` \|.*\| `--ask` \|"),
        ("csim run", r"\| `--limit` \|.*\|  \|"),
        ("csim bench mining", r"\| `--seed` \|.*\| `0`, `1`, `2` \|"),
    ],
)
def test_an_option_has_its_default(page, name, row):
    assert re.search(f"^{row}$", section(page, name), re.MULTILINE)


def test_hidden_options_are_left_out(page):
    assert "`--keep`" not in page


def test_exit_codes_are_listed(page):
    codes = re.findall(r"^\| (\d+) \|", section(page, "Exit codes"), re.MULTILINE)
    assert codes == [str(code) for code in EXIT_CODES]


def test_every_link_of_the_contents_has_its_section(page):
    links = re.findall(r"\]\(#([\w-]+)\)", page)
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert links == [title.replace(" ", "-") for title in titles if title != "Exit codes"]


def test_the_page_does_not_depend_on_the_terminal(page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert reference() == page
    assert "\x1b" not in page
