"""A table as Markdown, CSV and JSON."""

import csv
import io
import json

import pytest

from csim.bench.layout.table import Table, figure
from csim.settings import Settings

ROWS = [
    {"data set": "digits", "seed": 0, "accuracy %": 80.0, "AUC": None},
    {"data set": "digits", "seed": 1, "accuracy %": 90.0, "AUC": None},
    {"data set": "letters", "seed": 0, "accuracy %": 70.0, "AUC": 0.5},
    {"data set": "letters", "seed": 1, "accuracy %": 70.0, "AUC": 0.75},
]


@pytest.fixture
def table():
    return Table(
        "some-name", "A title", ["one note"], ["data set"], ROWS, settings=Settings.paper(beta=0.25)
    )


def test_markdown_shows_the_mean_over_seeds_and_a_dash_for_what_cannot_be_had(table):
    lines = table.markdown().splitlines()
    assert lines[0] == "# A title"
    assert lines[2:6] == [
        "| data set | accuracy % | AUC |",
        "| --- | --- | --- |",
        "| digits | 85.0 ± 7.1 | – |",
        "| letters | 70.0 ± 0.0 | 0.625 ± 0.177 |",
    ]


def test_markdown_says_of_how_many_seeds_a_mean_is_if_some_have_none():
    rows = [
        {"data set": "digits", "seed": seed, "delay": delay}
        for seed, delay in enumerate((None, 20.0, 30.0))
    ]
    assert "| digits | 25.0 ± 7.1 (2 of 3) |" in Table("x", "X", [], ["data set"], rows).markdown()


def test_without_settings_of_its_own_a_table_lists_none():
    assert (
        "settings"
        not in Table("x", "X", [], ["data set"], ROWS, command="csim bench x --quick").markdown()
    )


def test_markdown_tells_how_to_make_the_table_again(table):
    text = table.markdown()
    assert "- one note" in text
    assert "`csim bench some-name --seed 0 --seed 1`" in text
    assert "beta=0.25" in text
    assert "torch 2" in text
    assert "cores" in text


def test_csv_and_json_hold_every_seed(table):
    written = list(csv.DictReader(io.StringIO(table.csv())))
    assert [(row["seed"], row["accuracy %"], row["AUC"]) for row in written][1:3] == [
        ("1", "90.0", ""),
        ("0", "70.0", "0.5"),
    ]
    assert json.loads(table.json())["rows"] == ROWS
    assert "\n" not in table.json()


def test_writing_leaves_two_files_and_writing_again_the_same(table, tmp_path):
    table.write(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    table.write(tmp_path)
    assert sorted(first) == ["some-name.csv", "some-name.md"]
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("numbers", "text"), [([0.0], "0.000"), ([1e-6, 3e-6], "0.0000 ± 0.0000"), ([-0.5], "-0.500")]
)
def test_a_figure_has_three_digits_that_count_and_never_more_than_four_places(numbers, text):
    assert figure(numbers) == text
