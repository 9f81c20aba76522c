import sys

import av
import numpy as np
import pytest
from sources.image_files import save

from csim.errors import InputError, SettingsError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.decode import decode
from csim.sources.video import Video

HEIGHT = 48
WIDTH = 64
RATE = 10


def frame(number):
    """Return a picture whose shade tells its number, with a light mark in its upper left corner."""
    image = np.full((HEIGHT, WIDTH, 3), 20 + 5 * number, np.uint8)
    image[:16, :16] = 250
    return image


def film(path, count=30, **options):
    with av.open(str(path), "w", **options) as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width = WIDTH
        stream.height = HEIGHT
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 2_000_000
        for number in range(count):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame(number), format="rgb24")))
        container.mux(stream.encode())
    return path


def numbers(video):
    return [int(arrival.id.split("#")[1]) for arrival in video]


@pytest.mark.parametrize("suffix", ["mp4", "avi", "mkv", "mov"])
def test_all_frames_come_in_order_and_as_they_were_filmed(tmp_path, suffix):
    found = list(Video(film(tmp_path / f"pond.{suffix}")))
    assert [arrival.id for arrival in found] == [
        f"pond.{suffix}#{number:06d}" for number in range(30)
    ]
    for number, arrival in enumerate(found):
        image = decode(arrival, (HEIGHT, WIDTH, 3)).image.astype(int)
        assert abs(image[32:, 32:] - frame(number)[32:, 32:]).max() < 12
        assert image[4, 4].min() > 220


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (0.1, range(30)),
        (0.3, range(0, 30, 3)),
        (1, [0, 10, 20]),
        (0.25, [0, 3, 5, 8, 10, 13, 15, 18, 20, 23, 25, 28]),
    ],
)
def test_a_frame_is_taken_every_so_many_seconds_and_keeps_its_number(tmp_path, every, expected):
    assert numbers(Video(film(tmp_path / "a.mp4"), every=every)) == list(expected)


def test_a_pause_longer_than_the_film_takes_its_first_frame(tmp_path):
    assert numbers(Video(film(tmp_path / "a.mp4"), every=1e6)) == [0]


def turned(content, matrix):
    """Return an MP4 with a rotation matrix in the 36 bytes of its track header."""
    start = content.index(b"tkhd") + 4 + 40
    return (
        content[:start]
        + b"".join(value.to_bytes(4, "big", signed=True) for value in matrix)
        + content[start + 36 :]
    )


ONE = 1 << 16


@pytest.mark.parametrize(
    ("matrix", "turns"),
    [((0, ONE, 0, -ONE, 0, 0, 0, 0, 1 << 30), -1), ((0, -ONE, 0, ONE, 0, 0, 0, 0, 1 << 30), 1),
     ((-ONE, 0, 0, 0, -ONE, 0, 0, 0, 1 << 30), 2)],
)  # fmt: skip
def test_frames_of_a_camera_held_sideways_are_turned_upright(tmp_path, matrix, turns):
    plain = film(tmp_path / "plain.mp4", count=3)
    held = save(turned(plain.read_bytes(), matrix), tmp_path / "held.mp4")
    for one, other in zip(Video(plain), Video(held), strict=True):
        assert (np.rot90(one.picture, turns) == other.picture).all()


def test_a_damaged_file_gives_what_came_before_and_ends_with_a_trouble(tmp_path):
    content = bytearray(film(tmp_path / "a.mkv").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 3000] = bytes(3000)
    found = list(Video(save(bytes(content), tmp_path / "bad.mkv")))
    assert all(isinstance(one, Arrival | Trouble) for one in found)
    assert len(found) >= 5


def test_a_file_that_is_cut_off_or_no_video_is_a_trouble(tmp_path):
    content = film(tmp_path / "a.mp4").read_bytes()
    for spoilt in (
        content[:-200],
        content[: len(content) // 2],
        b"",
        b"a letter",
        bytes(5000),
        content[:40],
    ):
        *_, last = Video(save(spoilt, tmp_path / "bad.mp4"))
        assert isinstance(last, Trouble)
        assert last.kind == "damaged"
        assert last.id == "bad.mp4#000000"


@pytest.mark.parametrize("every", [None, 0.2])
def test_a_film_that_ends_before_it_says_is_a_trouble_with_an_id_of_its_own(tmp_path, every):
    content = film(tmp_path / "a.mp4", container_options={"movflags": "faststart"}).read_bytes()
    *frames, last = Video(save(content[: len(content) // 2], tmp_path / "cut.mp4"), every=every)
    assert last.kind == "damaged"
    assert "30 frames" in last.reason
    assert frames
    assert last.id not in [arrival.id for arrival in frames]


@pytest.mark.parametrize("seed", range(10))
def test_flipped_bits_are_never_an_error(tmp_path, seed):
    content = bytearray(film(tmp_path / "a.mp4", count=10).read_bytes())
    rng = np.random.default_rng(seed)
    for index in rng.integers(0, len(content), 30):
        content[index] ^= 1 << int(rng.integers(8))
    for found in Video(save(bytes(content), tmp_path / "bad.mp4")):
        assert isinstance(found, Arrival | Trouble)


def test_a_file_with_sound_alone_is_a_trouble(tmp_path):
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=44_100)
        silence = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
        )
        silence.sample_rate = 44_100
        container.mux(stream.encode(silence))
        container.mux(stream.encode())
    (found,) = Video(tmp_path / "a.mp4")
    assert found.kind == "damaged"


def test_a_playlist_in_disguise_opens_nothing(tmp_path):
    film(tmp_path / "secret.mp4")
    playlist = (
        f"#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n{tmp_path}/secret.mp4\n#EXT-X-ENDLIST\n"
    )
    (found,) = Video(save(playlist.encode(), tmp_path / "list.mp4"))
    assert found.kind == "damaged"
    (found,) = Video(save(b"ffconcat version 1.0\nfile secret.mp4\n", tmp_path / "more.mp4"))
    assert found.kind == "damaged"


def test_a_file_that_is_gone_or_closed_is_a_trouble(public_folder, as_nobody):
    (found,) = Video(public_folder / "gone.mp4")
    assert (found.id, found.kind) == ("gone.mp4", "vanished")
    film(public_folder / "closed.mp4").chmod(0)
    with as_nobody():
        (found,) = Video(public_folder / "closed.mp4")
    assert found.kind == "unreadable"


def test_the_file_is_closed_when_one_stops_halfway(tmp_path):
    frames = iter(Video(film(tmp_path / "a.mp4")))
    next(frames)
    frames.close()
    (tmp_path / "a.mp4").unlink()


@pytest.mark.parametrize("every", [0, -1, float("nan"), float("inf")])
def test_a_pause_that_is_no_time_is_refused(tmp_path, every):
    with pytest.raises(SettingsError, match="every"):
        Video(tmp_path / "a.mp4", every=every)


def test_without_pyav_one_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InputError, match=r"pip install av"):
        Video(tmp_path / "a.mp4")
