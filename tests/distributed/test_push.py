import json
import threading

import numpy as np
import pytest
from digit_folder import arrivals, rows
from distributed.test_redis_source import taken
from typer.testing import CliRunner
from waiting import no_hang, wait_for

from csim.cli.main import app
from csim.distributed.push import Pusher
from csim.sources.directory import Directory


def csim(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def as_json(*arguments):
    done = csim(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for place, arrival in enumerate(arrivals(40), start=1):
        (folder / f"{place:03d}.png").write_bytes(arrival.kept)
    return folder


def test_files_that_are_pushed_are_classified_and_predicted_once(server, name, photos, folder):
    url = server.url(name)
    out = server.url(f"{name}-out")
    assert as_json("push", url, photos, "--source", "pond") == {"sent": 40, "troubles": 0}
    assert as_json("push", url, photos / "001.png")["sent"] == 1
    done = as_json("run", folder, url, "--limit", 40, "--out", out)
    assert (done["taken"], done["position"]) == (40, 40)
    assert taken(folder) == [f"{place:03d}.png" for place in range(1, 41)]
    lines = [json.loads(fields[b"line"]) for _, fields in server.client().xrange(f"{name}-out")]
    arrived = [line["item"] for line in lines if line["decision"] in ("accepted", "rejected")]
    assert arrived == taken(folder)


def test_paths_are_sent_instead_of_files_and_read_on_the_other_side(server, name, photos, folder):
    url = server.url(name)
    assert as_json("push", url, photos, "--files", photos.parent)["sent"] == 40
    [(_, fields)] = server.client().xrange(name, count=1)
    assert b"image" not in fields
    assert fields[b"path"] == b"photos/001.png"
    done = as_json("run", folder, url, "--limit", 40, "--files", photos.parent)
    assert done["taken"] == 40
    outside = as_json("push", url, photos, "--files", folder)
    assert outside == {"sent": 0, "troubles": 40}


def test_arrays_are_sent_without_loss(server, name, tmp_path, folder):
    images = np.stack([arrival.image for arrival in arrivals(5)])
    np.savez(tmp_path / "pond.npz", images)
    assert as_json("push", server.url(name), tmp_path / "pond.npz")["sent"] == 5
    csim("run", folder, server.url(name), "--limit", 5)
    pixels = rows(folder, "SELECT pixels FROM steps WHERE kind = 'observe'")
    assert b"".join(row[0] for row in pixels) == images.tobytes()


def test_a_file_that_cannot_be_read_is_reported_and_the_others_are_sent(server, name, photos):
    (photos / "002.png").unlink()
    (photos / "002.png").symlink_to(photos / "gone.png")
    done = csim("push", server.url(name), photos)
    assert done.exit_code == 0
    assert "39 images sent" in done.stdout
    assert "1 could not be read; the last: 002.png" in done.stderr


def test_a_full_stream_is_waited_for(server, broker, name, photos):
    pusher = Pusher(broker, most=20)
    source = [*Directory(photos)][:25]
    pusher.push(source, print)
    sending = threading.Thread(target=pusher.push, args=(source, print), daemon=True)
    sending.start()
    client = server.client()
    for _ in range(20):
        assert client.xlen(name) == 25
    client.xtrim(name, maxlen=10, approximate=False)
    with no_hang():
        wait_for(lambda: client.xlen(name) == 35)
        sending.join()
    assert pusher.sent == 50


@pytest.mark.parametrize("command", ["push", "run"])
def test_a_wrong_address_ends_with_a_sentence(command, photos, folder):
    if command == "push":
        done = csim("push", "redis://127.0.0.1:1/pond", photos)
    else:
        done = csim("run", folder, "redis://127.0.0.1:1/pond")
    assert done.exit_code == 7
    assert "must answer, but it does not" in done.stderr
    assert "Traceback" not in done.stderr


def test_exports_can_be_limited_to_one_camera(server, name, photos, folder, tmp_path):
    url = server.url(name)
    as_json("push", url, photos / "001.png", photos / "002.png", "--source", "pond")
    as_json("push", url, photos / "003.png", "--source", "gate")
    as_json("push", url, photos / "004.png")
    assert as_json("run", folder, url, "--limit", 4)["taken"] == 4
    labels = tmp_path / "labels.jsonl"
    assert as_json("export", "labels", folder, labels, "--source", "pond")["rows"] == 2
    items = [json.loads(line)["item"] for line in labels.read_text().splitlines()]
    assert items == [str(photos / "001.png"), str(photos / "002.png")]
    assert as_json("export", "labels", folder, labels, "--force")["rows"] == 4
    copied = as_json("export", "images", folder, tmp_path / "gate", "--all", "--source", "gate")
    assert copied["images"] + copied["unnamed"] == 1
    refused = csim("export", "labels", folder, tmp_path / "x.csv", "--source", "roof")
    assert refused.exit_code == 2
    assert "must name a source of the stream (gate, pond), got 'roof'" in refused.stderr
