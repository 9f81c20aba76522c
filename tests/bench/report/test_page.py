"""The page of a folder of results: whole, in order, and safe whatever the files hold."""

import re

import pytest
from matplotlib.figure import Figure
from report.small_log import Page

from csim.bench.json_lines import put
from csim.bench.layout.sheet import Sheet, drawing
from csim.bench.layout.table import Table
from csim.bench.report import page
from csim.bench.report.runs import read
from csim.bench.report.sheets import USUAL, find
from csim.errors import InputError

NASTY = "<script>alert('&')</script>"


def table(name, title="A title", note="a note", cell="paper"):
    rows = [
        {"method": cell, "seed": seed, "accuracy %": 80.0 + seed, "words": "none"}
        for seed in (0, 1)
    ]
    return Table(name, title, [note], ["method"], rows)


def picture():
    with drawing():
        figure = Figure(figsize=(4, 3))
        figure.subplots().plot([1, 2, 3], "o-")
        return figure


def leave_run(folder, name, **changes):
    content = {
        "method": "paper",
        "data": "mnist",
        "seed": 0,
        "stream": {"images": 1500},
        "figures": {},
        "cost": {"seconds": 3600.0},
        "origin": {
            "commit": "abc123",
            "machine": "m",
            "python": "3.11",
            "time": "2026-01-02T03:04:05+00:00",
        },
        **changes,
    }
    put(folder / "runs" / "mnist.jsonl", name, content)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two pictures, a table without one, a quick table and three runs."""
    Sheet(table("stream", "Over the stream"), picture()).write(tmp_path)
    Sheet(table("stream-r0.5-quick", "Over the stream"), picture()).write(tmp_path)
    table("speed", "What it costs", "command: `csim bench speed`").write(tmp_path)
    for seed in (0, 1):
        leave_run(tmp_path, f"a{seed}", seed=seed)
    leave_run(tmp_path, "b", method="default", origin={"commit": "abc123+"})
    return tmp_path


def html(folder):
    return page.render(find(folder), read(folder))


def problems(text):
    """Return what is wrong with a page; links to the files beside it are not."""
    return [
        found
        for found in Page(text).problems
        if not re.match(r"href leads outside: [\w.-]+\.(csv|png)$", found)
    ]


def words(folder):
    return " ".join(Page(html(folder)).words)


def test_a_page_is_whole_and_needs_no_other_file(folder):
    text = html(folder)
    assert text.startswith("<!DOCTYPE html>")
    assert problems(text) == []
    assert "http" not in text
    assert Page(text).count("h1") == 1
    assert Page(text).count("img") == 2


def test_a_page_is_read_on_phones_in_the_dark_and_on_paper(folder):
    text = html(folder)
    assert '<meta name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert '<html lang="en">' in text


def test_sections_stand_in_order_and_the_contents_lead_to_all_of_them(folder):
    found = Page(html(folder))
    sections = [section["id"] for section in found.all("section")]
    assert sections == [
        "table-stream",
        "table-stream-r0_2e_5-quick",
        "table-speed",
        "missing",
        "origin",
    ]
    links = [link["href"] for link in found.all("a") if link["href"].startswith("#")]
    assert links == [f"#{section}" for section in sections]


def test_the_summary_says_what_was_measured(folder):
    text = words(folder)
    assert (
        "3 tables, 2 of them with a picture, made from 3 runs: 2 methods (paper, default) on 1 "
        "data set" in text
    )
    assert "2 seeds (0, 1). The methods classified 4,500 images" in text
    assert "Quick tables, of few images and one seed: stream-r0.5-quick." in text
    assert re.search(r"hours of one core 3\.0", text)


def test_the_end_says_by_which_commit_and_how_often(folder):
    text = words(folder)
    assert "abc123, abc123+" in text
    assert "A + after a commit: files differed from it." in text
    assert "2026-01-02 03:04 to 2026-01-02 03:04" in text
    assert re.search(r"method mnist paper 2 default 1", text)


def test_without_runs_the_page_says_so(folder):
    for path in (folder / "runs").iterdir():
        path.unlink()
    text = words(folder)
    assert "The folder has no runs of streams." in text
    assert "There are no runs in runs/." in text
    assert problems(html(folder)) == []


def test_a_table_shows_its_cells_under_its_head_and_figures_to_the_right(folder):
    text = html(folder)
    assert (
        '<th scope="col">method</th><th scope="col" class="figure">accuracy %</th>'
        '<th scope="col">words</th>' in text
    )
    assert (
        '<th scope="row"><div>paper</div></th><td class="figure">80.5 ± 0.7</td><td>none</td>'
        in text
    )


@pytest.mark.parametrize("cell", ["80.5 ± 0.7", "–", "", "-2.0", "1,000", "0"])
def test_figures_and_their_absence_are_set_to_the_right(cell):
    assert page.is_figure(cell)


@pytest.mark.parametrize("cell", ["28×28", "speed ≥ 20", "n³ cube", "5-NN", "paper", "1st quarter"])
def test_words_are_set_to_the_left(cell):
    assert not page.is_figure(cell)


def test_variants_of_a_table_are_told_apart(folder):
    text = html(folder)
    assert "<h2>Over the stream</h2>" in text
    assert "<h2>Over the stream <small>r = 0.5, quick</small></h2>" in text


def test_notes_are_folded_and_commands_are_code(folder):
    text = html(folder)
    assert Page(text).count("details") == 3
    assert "<li>command: <code>csim bench speed</code></li>" in text


def test_the_files_of_a_table_are_linked_if_they_are_there(folder):
    (folder / "stream-r0.5-quick.png").unlink()
    links = [
        link["href"] for link in Page(html(folder)).all("a") if not link["href"].startswith("#")
    ]
    assert links == ["stream.csv", "stream.png", "stream-r0.5-quick.csv", "speed.csv"]


def test_what_is_not_made_yet_is_listed_with_its_command(folder):
    text = html(folder)
    for name in USUAL:
        told = f"not made yet: <code>csim bench {name}</code>" in text
        assert told == (name not in ("stream", "speed"))


def test_a_full_folder_misses_nothing(tmp_path):
    for name in USUAL:
        table(name).write(tmp_path)
    assert "not made yet" not in html(tmp_path)
    assert 'id="missing"' not in html(tmp_path)


def test_damaged_files_are_named_and_do_not_break_the_page(folder):
    (folder / "novelty.md").write_text(
        "# Half\n\n| a | b |\n| --- | --- |\n| 1 |\n", encoding="utf-8"
    )
    (folder / "stream.png").write_bytes(b"no picture")
    (folder / "runs" / "half.jsonl").write_text("{", encoding="utf-8")
    text = html(folder)
    assert problems(text) == []
    told = " ".join(Page(text).words)
    assert "novelty.md : every row must have 2 cells, row 1 has 1" in told
    assert "stream.png is damaged: it must be a PNG picture" in told
    assert "runs/half.jsonl, line 1 : Expecting property name" in told
    assert Page(text).count("img") == 1
    assert '<a href="#damaged">' in text


def test_whatever_stands_in_files_stays_text(tmp_path):
    Sheet(table("stream", NASTY, f"{NASTY} `{NASTY}`", NASTY), picture()).write(tmp_path)
    (tmp_path / f"{NASTY.replace('/', '')}.md").write_text("no table", encoding="utf-8")
    leave_run(tmp_path, "a", method=NASTY, data=NASTY, origin={"commit": NASTY, "time": NASTY})
    text = html(tmp_path)
    assert problems(text) == []
    assert "<script" not in text
    assert Page(text).words.count(NASTY) >= 4


def test_ids_do_not_clash(folder):
    ids = re.findall(r' id="([^"]+)"', html(folder))
    assert len(ids) == len(set(ids))


def test_writing_leaves_the_page_in_the_folder_and_tells_what_it_is_made_of(folder):
    found, runs = page.write(folder)
    assert [sheet.name for sheet in found.sheets] == ["stream", "stream-r0.5-quick", "speed"]
    assert len(runs) == 3
    first = (folder / "report.html").read_bytes()
    assert first == html(folder).encode()
    page.write(folder)
    assert (folder / "report.html").read_bytes() == first


def test_a_page_that_cannot_be_written_is_refused(folder):
    (folder / "report.html").mkdir()
    with pytest.raises(InputError, match=r"report\.html must be a file that csim can write"):
        page.write(folder)
