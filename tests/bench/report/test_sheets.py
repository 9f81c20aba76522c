"""Tables read back from the Markdown that the bench writes."""

import pytest

from csim.bench.layout.table import Table
from csim.bench.plans.plan import Plan
from csim.bench.report.sheets import USUAL, base, find, parse, rank, variant
from csim.errors import InputError
from csim.settings import Settings

ROWS = [
    {"data set": "digits", "method": "a, b", "seed": 0, "accuracy %": 80.0, "AUC": None},
    {"data set": "digits", "method": "a, b", "seed": 1, "accuracy %": 90.0, "AUC": None},
    {"data set": "letters", "method": "", "seed": 0, "accuracy %": 70.0, "AUC": 0.5},
]
GOOD = "# A title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- a note\n"


def table(name="stream", title="Over <streams> & more"):
    return Table(name, title, ["a note with `code`", "1 < 2"], ["data set"], ROWS, Settings.paper())


def test_what_a_table_writes_is_read_back():
    written = table()
    sheet = parse("stream", written.markdown())
    assert (sheet.name, sheet.title) == ("stream", "Over <streams> & more")
    assert sheet.head == ["data set", "method", "accuracy %", "AUC"]
    assert sheet.rows == [["digits", "a, b", "85.0 ± 7.1", "–"], ["letters", "", "70.0", "0.500"]]
    assert sheet.notes[:2] == ["a note with `code`", "1 < 2"]
    assert sheet.notes[2] == f"command: `{written.command}`"
    assert sheet.notes[-1].startswith("settings, except those in the columns: encoder=own, conv")


def test_windows_line_ends_and_trailing_blanks_do_no_harm():
    sheet = parse("x", GOOD.replace("\n", "  \r\n"))
    assert (sheet.title, sheet.head, sheet.rows, sheet.notes) == (
        "A title",
        ["a", "b"],
        [["1", "2"]],
        ["a note"],
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "title"),
        ("A page about birds.\n", "title"),
        ("# Birds\n\nNo table here.\n", "table"),
        ("# Birds\n\n| a | b |\n| --- | --- |\n", "a row or more"),
        ("# Birds\n\n| a | b |\n| 1 | 2 |\n| 3 | 4 |\n", "dashes"),
        ("# Birds\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 |\n", "2 cells, row 2 has 1"),
        ("# Birds\n\n| a | b |\n| --- | --- |\n| 1 | x|y |\n", "2 cells, row 1 has 3"),
    ],
)
def test_what_is_no_table_is_refused_with_the_reason(text, why):
    with pytest.raises(InputError, match=why):
        parse("x", text)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(), ""),
        (Plan(known_share=0.5), "r = 0.5"),
        (Plan(thin=1), "whole streams"),
        (Plan(thin=2), "every 2nd image"),
        (Plan().quick(), "quick"),
        (Plan(known_share=0.5).quick(), "r = 0.5, quick"),
    ],
)
def test_the_names_that_plans_give_are_put_into_words(plan, words):
    for name in ("stream", "label-curve", "data-sets"):
        assert variant(f"{name}{plan.suffix}") == words
        assert base(f"{name}{plan.suffix}") == name


def test_words_of_others_stay_as_they_are():
    assert variant("embedding-seed2") == "seed 2"
    assert variant("beta-mine") == "mine"
    assert (base("my-notes"), variant("my-notes")) == ("my-notes", "")
    assert base("streams") == "streams"


def test_usual_tables_stand_in_their_order_with_variants_behind_and_others_last():
    names = [
        "zoo",
        "beta",
        "stream-r0.5",
        "cohesion",
        "stream",
        "data-sets",
        "over-stream",
        "novelty-quick",
        "a-table",
    ]
    assert sorted(names, key=rank) == [
        "data-sets", "stream", "stream-r0.5", "novelty-quick", "over-stream", "cohesion", "beta",
        "a-table", "zoo",
    ]  # fmt: skip


def test_the_order_is_the_papers_tables_first():
    assert list(USUAL) == [
        "data-sets", "reproduced", "stream", "novelty", "over-stream", "label-curve", "convolution",
        "sensitivity", "metric", "embedding", "cohesion", "ablation", "tuning", "photos", "mining",
        "beta", "closed-set", "durability", "service", "page", "year", "speed",
    ]  # fmt: skip


def test_a_folder_is_sorted_into_tables_damaged_files_and_missing_ones(tmp_path):
    for name in ("stream-quick", "beta", "birds"):
        (tmp_path / f"{name}.md").write_text(table(name).markdown(), encoding="utf-8")
    (tmp_path / "novelty.md").write_text("half a", encoding="utf-8")
    (tmp_path / "speed.md").write_bytes(b"\xff\xfe")
    (tmp_path / "mining.md").mkdir()
    (tmp_path / "mining.csv").touch()
    found = find(tmp_path)
    assert [sheet.name for sheet in found.sheets] == ["stream-quick", "beta", "birds"]
    assert list(found.damaged) == ["novelty.md", "mining.md", "speed.md"]
    assert found.damaged["novelty.md"] == "it must begin with a title: # …"
    assert found.missing == [name for name in USUAL if name not in ("stream", "beta")]


def test_a_folder_with_everything_misses_nothing(tmp_path):
    for name in USUAL:
        (tmp_path / f"{name}.md").write_text(GOOD, encoding="utf-8")
    found = find(tmp_path)
    assert [sheet.name for sheet in found.sheets] == list(USUAL)
    assert (found.damaged, found.missing) == ({}, [])


def test_a_folder_that_is_not_there_or_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(InputError, match=r"must be a folder of results.*csim bench stream"):
            find(path)


def test_a_folder_without_a_table_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"it holds none; make one: csim bench"):
        find(tmp_path)
    (tmp_path / "README.md").write_text("Hello", encoding="utf-8")
    with pytest.raises(InputError, match=r"it holds only README\.md"):
        find(tmp_path)
