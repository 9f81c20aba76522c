"""A simulated year, here of a few days, shows what a folder keeps and that it stays small."""

import pytest
from digit_folder import rows

from csim.bench.durability.year import simulate

DAY = 86_400


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    work = tmp_path_factory.mktemp("year")
    return work / "stream", simulate(work, images=150_000, answers=60, history="12h")


def test_a_year_ends_with_all_answers_and_most_images_folded(year):
    folder, found = year
    assert (found.images, found.answers) == (156_160, 60)
    assert found.folded > 80_000
    listed = rows(folder, "SELECT count(*) FROM items WHERE place > 0")[0][0]
    assert listed + found.folded == found.images + 64  # taken by a real engine at the end
    assert rows(folder, "SELECT sum(images) FROM class_totals") == [(found.images + 64,)]
    assert rows(folder, "SELECT count(*) FROM items WHERE is_told AND place > 0")[0][0] == 60


def test_old_steps_and_revisions_go_with_their_images(year):
    folder, found = year
    ((step, place),) = rows(folder, "SELECT step, place FROM folded_until")
    assert place > 80_000
    gone = "SELECT count(*) FROM events WHERE kind = 'Revised' AND step <= ?"
    assert rows(folder, gone, step) == [(0,)]
    steps = rows(folder, "SELECT count(*) FROM steps WHERE kind = 'observe' AND step <= ?", step)
    assert steps[0][0] <= 60  # those of images that people labelled
    assert found.size < 40_000_000


def test_no_statement_of_a_year_reads_a_whole_table(year):
    _, found = year
    assert found.statements > 40
    assert found.scans == ()
