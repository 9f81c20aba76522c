import contextlib
import csv
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import no_hang

from csim.errors import InputError
from csim.export import answers as module
from csim.export.answers import read_answers
from csim.messages import Correct, Named, Skip, Split, Undo


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refuse(tmp_path, name, content, words):
    with pytest.raises(InputError, match=words):
        read_answers(write(tmp_path, name, content))


def test_json_lines_say_all_that_a_person_can_say(tmp_path):
    lines = [
        {"question": 3, "name": " heron "},
        {"question": 4, "skip": True, "by": "Ann"},
        {"question": 5, "split": True},
        {"question": 6, "split": [["a", "b"], ["c\u2028d"]]},
        {"question": 3, "undo": True},
        {"question": 7, "correct": "鷺"},
    ]
    content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    expected = [
        Named(3, "heron"),
        Skip(4),
        Split(5),
        Split(6, (("a", "b"), ("c\u2028d",))),
        Undo(3),
        Correct(7, "鷺"),
    ]
    assert read_answers(write(tmp_path, "a.jsonl", content)) == expected
    assert (
        read_answers(
            write(tmp_path, "A.JSONL", "\ufeff" + content.replace("\n", "\r\n\r\n") + "\r\n")
        )
        == expected
    )


def test_what_the_label_command_lists_can_be_filled_in_and_given_back(tmp_path):
    line = {
        "question": 3,
        "position": 9,
        "representative": "a",
        "members": ["a"],
        "guesses": [],
        "name": "heron",
    }
    assert read_answers(write(tmp_path, "a.jsonl", json.dumps(line))) == [Named(3, "heron")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "must be JSON"),
        ("[3]", "a JSON object, got list"),
        ("null", "a JSON object, got NoneType"),
        ('{"question": 3}', "it has none"),
        ('{"question": 3, "nmae": "heron"}', "it has none"),
        ('{"question": 3, "name": "a", "skip": true}', "it has name, skip"),
        ('{"name": "a"}', "got 'None'"),
        ('{"question": "3", "name": "a"}', "got '3'"),
        ('{"question": 3.0, "name": "a"}', "got '3.0'"),
        ('{"question": true, "name": "a"}', "got 'True'"),
        ('{"question": 0, "name": "a"}', "from 1 up"),
        ('{"question": 3, "name": ""}', "at least one visible character"),
        ('{"question": 3, "name": "a\\nb"}', "one line without control characters"),
        ('{"question": 3, "name": null}', "must be text, got NoneType"),
        ('{"question": 3, "correct": 5}', "must be text, got int"),
        ('{"question": 3, "name": "\\ud800"}', "visible character"),
        ('{"question": 3, "skip": false}', "skip must be true, got false"),
        ('{"question": 3, "split": []}', "a list of parts"),
        ('{"question": 3, "split": [["a"], "b"]}', "a list of parts"),
        ('{"question": 3, "split": [["a"], [1]]}', "a list of parts"),
        ('{"question": ' + "1" * 5000 + ', "name": "a"}', "must be JSON"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_a_wrong_line_is_named_with_the_reason(tmp_path, line, words):
    good = '{"question": 1, "name": "heron"}\n\n'
    refuse(tmp_path, "a.jsonl", good + line + "\n" + good, rf"a\.jsonl: line 3: .*{words}")


def test_csv_with_its_columns_in_any_order_and_others_beside_them(tmp_path):
    rows = [["name", "seen by", "question"], [' say "hi", ok ', "Ann", " 3 "], ["=1+1", "", "12"]]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    assert read_answers(path) == [Named(3, 'say "hi", ok'), Named(12, "=1+1")]
    assert read_answers(write(tmp_path, "b.csv", "question,name\n")) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: it must name the columns question and name"),
        ("question;name\n3;heron\n", "line 1: it must name the columns"),
        ("question,nmae\n3,heron\n", "line 1: it must name the columns"),
        ("question,name\n1,heron\n2,\n", "line 3: a class name must have"),
        ("question,name\n1,heron\n2\n", "line 3: it must have as many values"),
        ("question,name\n1,heron, grey\n", "line 2: it must have as many values"),
        ("question,name\nx,heron\n", "line 2: question must be a whole number from 1 up.*'x'"),
        ("question,name\n-3,heron\n", "line 2: question must be"),
        ("question,name\n1e3,heron\n", "line 2: question must be"),
        ("question,name\n" + "9" * 5000 + ",heron\n", "line 2: question must be"),
        ('question,name\n1,"heron"x\n', "line 2: it must be CSV"),
        ('question,name\n1,"heron\n', "it must be CSV"),
        ("question,name\n1," + "x" * 200_000 + "\n", "line 2: it must be CSV"),
        ('question,name\n1,"two\nlines"\n', "line 3: .*one line"),
    ],
)
def test_a_wrong_row_is_named_with_the_reason(tmp_path, content, words):
    refuse(tmp_path, "a.csv", content, words)


def test_other_files_are_refused_before_they_are_read(tmp_path):
    refuse(tmp_path, "a.txt", "", r"must end in \.jsonl, \.csv, \.json")
    refuse(tmp_path, "a", "", "must end in")
    with pytest.raises(InputError, match="must be a file, it is not"):
        read_answers(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="must be a file"):
        read_answers(tmp_path / "folder.csv")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with no_hang(), pytest.raises(InputError, match="must be a file"):
        read_answers(tmp_path / "pipe.csv")


def test_a_file_that_is_too_large_is_refused_by_its_size(tmp_path):
    with (tmp_path / "large.jsonl").open("wb") as file:
        file.truncate(module.MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(InputError, match="at most 262,144,000 bytes, it has 262,144,001"):
        read_answers(tmp_path / "large.jsonl")


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    refuse(
        tmp_path,
        "a.csv",
        "question,name\n1,héron\n".encode("latin-1"),
        "must be UTF-8 text, byte 17",
    )
    refuse(tmp_path, "a.jsonl", '{"question": 1}'.encode("utf-16"), "must be UTF-8")


@given(
    st.binary(max_size=200) | st.text().map(str.encode),
    st.sampled_from([".csv", ".jsonl", ".json"]),
)
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path_factory, content, ending):
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert isinstance(read_answers(path), list)


def test_the_order_of_the_file_is_kept(tmp_path):
    content = "question,name\n" + "".join(f"{1 + 7 * n % 500},class {n}\n" for n in range(500))
    answers = read_answers(write(tmp_path, "a.csv", content))
    assert [answer.name for answer in answers] == [f"class {n}" for n in range(500)]
