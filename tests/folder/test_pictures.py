import hashlib
import sqlite3
from contextlib import closing

import pytest
from digit_folder import arrivals, decoded, rows, save
from folder.story import tell

from csim.folder.layout import Layout
from csim.folder.stream import Stream
from csim.messages import Named, Skip


def held(stream):
    """Return the images that the engine itself still holds, by going through its parts."""
    engine = stream._engine
    ids = {item.id for item in engine.discovery.pool.items()}
    for class_id in engine.dialogue.catalogue.names():
        ids |= {item.id for item in engine.store.items(class_id)}
    for entry in engine.dialogue.ledger._entries.values():
        ids |= {item.id for item in entry.question.members}
    return ids


def kept(folder):
    return {
        item_id for (item_id,) in rows(folder, "SELECT id FROM items WHERE picture IS NOT NULL")
    }


def limit(folder, most):
    """Change a folder's room for pictures, as if it had been made with it."""
    with closing(sqlite3.connect(Layout(folder).database)) as connection:
        connection.execute("UPDATE config SET value = ? WHERE name = 'picture_room'", (str(most),))
        connection.commit()


def advanced(folder, until=330):
    """Answer some questions and go on; return the stream, with a snapshot just written."""
    tell(folder, [Named(1, "heron"), Named(2, "owl"), Skip(3)])
    stream = Stream(folder, trainer=None)
    stream.take(arrivals(until)[stream.position :])
    save(stream)
    return stream


def test_kept_are_the_images_that_the_engine_holds_and_those_a_person_was_asked_about(asked):
    with advanced(asked) as stream:
        about = {
            item_id
            for (item_id,) in rows(
                asked, "SELECT i.id FROM questions JOIN items i ON i.place = representative"
            )
        }
        told = {item_id for (item_id,) in rows(asked, "SELECT id FROM items WHERE is_told")}
        assert kept(asked) == held(stream) | about | told
    everything = {item_id for (item_id,) in rows(asked, "SELECT id FROM items")}
    assert len(everything - kept(asked)) > 50  # others are not


def test_what_is_kept_is_the_very_file_under_its_own_hash(asked):
    advanced(asked).close()
    files = {arrival.id: arrival.kept for arrival in arrivals(330)}
    query = (
        "SELECT i.id, p.sha256, p.file FROM items i JOIN pictures p ON p.sha256 = i.picture"
        " WHERE place > 0"
    )
    found = rows(asked, query)
    assert len(found) > 100
    assert all(
        file == files[item_id] and sha256 == hashlib.sha256(file).digest()
        for item_id, sha256, file in found
    )


def test_each_content_is_kept_once_and_goes_with_its_last_image(folder):
    once = arrivals(30)
    again = decoded([arrival.image for arrival in once], "the same again")
    with Stream(folder, trainer=None) as stream:
        stream.take([*once, *again])
    distinct = {file for (file,) in rows(folder, "SELECT file FROM pictures")}
    assert rows(folder, "SELECT count(*) FROM pictures") == [(len(distinct),)]
    assert rows(folder, "SELECT count(*) FROM items WHERE place > 0 AND picture NOTNULL") == [(60,)]
    assert {arrival.kept for arrival in once} <= distinct
    with closing(sqlite3.connect(Layout(folder).database)) as connection:
        # One of the two images loses its picture.
        connection.execute("UPDATE items SET picture = NULL WHERE id = 'image 1'")
        connection.commit()
    with Stream(folder, trainer=None) as stream:
        save(stream)
    assert {file for (file,) in rows(folder, "SELECT file FROM pictures")} == distinct


def test_no_picture_is_without_an_image_and_none_of_an_image_is_missing(asked):
    advanced(asked).close()
    pictures = {sha256 for (sha256,) in rows(asked, "SELECT sha256 FROM pictures")}
    assert pictures == {
        sha256 for (sha256,) in rows(asked, "SELECT picture FROM items WHERE picture NOTNULL")
    }


def of_open_questions(folder):
    return {
        place
        for (place,) in rows(
            folder,
            "SELECT place FROM members JOIN questions ON id = question_id WHERE status = 'open'",
        )
    }


@pytest.mark.parametrize("most", [40_000, 30_000, 20_000])
def test_without_room_the_oldest_go_first_and_never_what_an_open_question_shows(asked, most):
    before = {place for (place,) in rows(asked, "SELECT place FROM items WHERE picture NOTNULL")}
    limit(asked, most)
    advanced(asked, until=210).close()
    (size,) = rows(asked, "SELECT sum(length(file)) FROM pictures")[0]
    assert size <= most
    left = {place for (place,) in rows(asked, "SELECT place FROM items WHERE picture NOTNULL")}
    shown = of_open_questions(asked)
    assert shown
    assert shown <= left
    gone = (before | set(range(201, 211))) - left
    assert gone
    assert max(gone) < min(left - shown)


def test_with_no_room_at_all_only_what_open_questions_show_is_kept(asked):
    limit(asked, 0)
    advanced(asked).close()
    left = {place for (place,) in rows(asked, "SELECT place FROM items WHERE picture NOTNULL")}
    assert left == of_open_questions(asked) != set()


def test_dropping_pictures_changes_nothing_else(asked, asked_base, tmp_path):
    query = (
        "SELECT place, id, class_id, question_id, is_told FROM items"
        " WHERE place <= 200 ORDER BY place"
    )
    before = rows(asked, query), rows(asked, "SELECT * FROM members")
    limit(asked, 0)
    with Stream(asked, trainer=None) as stream:
        save(stream)
    assert (rows(asked, query), rows(asked, "SELECT * FROM members")) == before
