"""`csim label`, `status` and `export` with --url do to a service what they do to a folder."""

import json
import shutil

import pytest
from digit_folder import rows
from typer.testing import CliRunner
from web.serving import serving

from csim.cli.main import app
from csim.web.security import Token

pytestmark = pytest.mark.slow

SECRET = "an example of a long token"  # noqa: S105


def csim(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


@pytest.fixture
def served(asked_base, tmp_path):
    """Yield a folder with open questions and the URL at which it is served."""
    folder = shutil.copytree(asked_base, tmp_path / "stream")
    with serving(folder) as (client, _):
        yield folder, str(client.base_url)


def test_status_is_that_of_the_folder(served):
    folder, url = served
    there = csim("status", "--url", url)
    assert there.exit_code == 0, there.output
    here = csim("status", folder)
    assert there.output.replace(f"--url {url}", str(folder)).split() == here.output.split()
    values = json.loads(csim("status", "--url", url, "--json").output)
    assert values.pop("service")["engine"] == "running"
    assert values == json.loads(csim("status", folder, "--json").output)


def test_label_lists_and_answers_questions(served):
    folder, url = served
    listed = csim("label", "--url", url, "--json").output
    assert json.loads(listed) == json.loads(csim("label", folder, "--json").output) != []
    done = csim("label", "--url", url, input="heron\nu\ncrane\nk\nu\nk\ns\nu\ne\nq\n")
    assert done.exit_code == 0, done.output
    assert "That is the new class heron" in done.output
    assert done.output.count("is open again") == 3  # after a name, a skip and a split
    assert "2 answers saved." in done.output
    assert "csim run" not in done.output
    states = rows(
        folder, "SELECT status, name FROM questions LEFT JOIN classes ON today = class_id"
    )
    assert ("answered", "crane") in states
    assert ("skipped", None) in states
    assert "heron" not in [name for _, name in states]
    assert rows(folder, "SELECT count(*) FROM leases") == [(0,)]  # the last question was released


def test_an_answer_that_the_service_refuses_is_shown_and_the_session_goes_on(served):
    folder, url = served
    first = json.loads(csim("label", folder, "--json").output)
    done = csim("label", "--url", url, input="s\n" * (len(first) + 1) + "q\n")
    assert done.exit_code == 0, done.output
    assert "csim cannot split it" in done.output or rows(
        folder, "SELECT 1 FROM questions WHERE status = 'split'"
    )


def test_exports_are_those_of_the_folder(served, tmp_path):
    folder, url = served
    for kind, name in (("labels", "a.csv"), ("predictions", "b.jsonl")):
        done = csim("export", kind, tmp_path / name, "--url", url)
        assert done.exit_code == 0, done.output
        csim("export", kind, folder, tmp_path / f"folder-{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"folder-{name}").read_bytes()
    assert csim("export", "model", tmp_path / "m", "--url", url).exit_code == 0
    csim("export", "model", folder, tmp_path / "here")
    model = (tmp_path / "m.safetensors").read_bytes()
    assert model == (tmp_path / "here.safetensors").read_bytes()
    assert json.loads((tmp_path / "m.json").read_text())["file"] == "m.safetensors"
    again = csim("export", "labels", tmp_path / "a.csv", "--url", url)
    assert again.exit_code == 2
    assert "must not exist yet" in again.output


def test_a_token_comes_from_a_file_or_the_environment(asked_base, tmp_path):
    folder = shutil.copytree(asked_base, tmp_path / "stream")
    (tmp_path / "token").write_text(SECRET + "\n")
    with serving(folder, token=Token(SECRET.encode())) as (client, _):
        url = str(client.base_url)
        refused = csim("status", "--url", url)
        assert (refused.exit_code, "a token is needed" in refused.output) == (2, True)
        assert csim("status", "--url", url, "--token-file", tmp_path / "token").exit_code == 0
        assert csim("status", "--url", url, env={"CSIM_TOKEN": SECRET}).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["status"], "a stream folder or --url"),
        (["status", "birds", "--url", "http://127.0.0.1:1"], "exclude each other"),
        (["status", "--url", "127.0.0.1:1"], "must begin with http://"),
        (["label", "--url", "http://127.0.0.1:1", "--from", "a.csv"], "need a stream folder"),
        (["export", "labels", "labels.csv"], "a stream folder and a file"),
        (["export", "labels", "birds", "a.csv", "--url", "http://127.0.0.1:1"], "only the file"),
        (["export", "labels", "a.txt", "--url", "http://127.0.0.1:1"], "must end in .csv"),
        (["export", "labels", "a.csv", "--warm-up", "--url", "http://127.0.0.1:1"], "--warm-up"),
        (["status", "--url", "http://127.0.0.1:1", "--token-file", "none"], "with a token"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, words):
    done = csim(*arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
