"""The docs hold: code blocks run, and nothing that a user meets is undocumented."""

import dataclasses
import inspect
import io
import re
import typing
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import typer

import csim
from csim import errors, records
from csim.classes import Classes, ClassSummary
from csim.cli.lazy_group import LazyGroup
from csim.cli.main import app
from csim.cli.reference import reference
from csim.settings import Settings
from csim.threads import one_thread

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE
    )


def is_tour(page: Path) -> bool:
    """Tell whether a page's Python needs what its commands have done before."""
    return page.name in ("walkthrough.md", "photographs.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page, "python") and not is_tour(page)],
    ids=lambda page: page.name,
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    with one_thread(), redirect_stdout(io.StringIO()) as printed:
        for block in blocks(page, "python"):
            exec(compile(block, str(page), "exec"), space)  # noqa: S102
    if shown := "".join(blocks(page, "text")):  # its numbers differ between machines
        assert sorted(without_numbers(printed.getvalue())) == sorted(without_numbers(shown))


def without_numbers(text: str) -> list[str]:
    return [re.sub(r"\d+", "0", line) for line in text.splitlines()]


def test_every_setting_is_documented_with_its_defaults():
    rows = re.findall(
        r"^\| `(\w+)` \| (\S+) \| (\S+) \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE
    )
    default = Settings()
    paper = Settings.paper()
    expected = [
        (f.name, str(getattr(default, f.name)), str(getattr(paper, f.name)))
        for f in dataclasses.fields(Settings)
    ]
    assert rows == expected


def test_every_event_is_documented_with_its_fields():
    rows = dict(
        re.findall(
            r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|",
            (ROOT / "docs/events.md").read_text(),
            re.MULTILINE,
        )
    )
    events = {event.__name__: event for event in typing.get_args(records.Event)}
    assert set(rows) == set(events)
    for name, event in events.items():
        fields = {field.name for field in dataclasses.fields(event)} - {"position"}
        assert fields <= set(re.findall(r"`(\w+)`", rows[name])), name


def test_every_command_is_in_the_reference_and_has_an_example_in_its_help():
    commands = list(walk(typer.main.get_command(app), "csim"))
    page = (ROOT / "docs/cli.md").read_text()
    assert len(commands) > 30
    for name, command in commands:
        assert f"\n## {name}\n" in page, f"{name} is not in docs/cli.md"
        assert f"Example: {name}" in command.help, f"{name} has no example in its help"


def walk(command, name):
    if isinstance(command, LazyGroup):
        for child in command.commands:
            yield from walk(command.load(child), f"{name} {child}")
    else:
        yield name, command


def test_the_reference_of_commands_is_current():
    assert (ROOT / "docs/cli.md").read_text() == reference(), (
        "run: python -m csim.cli.reference > docs/cli.md"
    )


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_public_name_and_method_is_in_the_reference():
    page = (ROOT / "docs/api.md").read_text()
    exported = [getattr(csim, name) for name in csim.__all__ if name != "__version__"]
    raised = [error for _, error in inspect.getmembers(errors, inspect.isclass)]
    for public in [*exported, *raised, Classes, ClassSummary]:
        assert f"`{public.__name__}" in page, f"{public.__name__} is not in docs/api.md"
    for owner in (csim.StreamClassifier, Classes, csim.TruthLabeller):
        for name in vars(owner):
            assert name.startswith("_") or f"`{name}" in page, f"{name} is not in docs/api.md"
    for name in inspect.signature(csim.StreamClassifier).parameters:
        assert f"`{name}`" in page, f"{name} is not in docs/api.md"
    for field in dataclasses.fields(ClassSummary):
        assert f"`{field.name}`" in page, f"{field.name} is not in docs/api.md"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, f"{page.name} is not in it"


def test_the_version_is_one():
    assert f'version = "{csim.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f'version: "{csim.__version__}"' in (ROOT / "CITATION.cff").read_text()
    assert csim.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_the_map_of_the_flow_is_the_same_in_its_three_places():
    stages = ("sources", "embed", "decide", "discover", "ask", "store", "retrain")
    readme = (ROOT / "README.md").read_text()
    package = (ROOT / "csim/__init__.py").read_text()
    assert [readme.index(f"(csim/{stage})") for stage in stages] == sorted(
        readme.index(f"(csim/{s})") for s in stages
    )
    assert [package.index(f"`{stage}`") for stage in stages] == sorted(
        package.index(f"`{s}`") for s in stages
    )
    flow = "source → embed → accept or reject → discover → ask → store → retrain"
    assert flow in package
    assert flow in (ROOT / "csim/engine.py").read_text()
