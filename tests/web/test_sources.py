"""Images of one camera, on the page and as an export."""

from dataclasses import replace

import pytest
from digit_folder import arrivals
from web.serving import serving

from csim.folder.reader import Reader
from csim.folder.stream import Stream


@pytest.fixture
def cameras(empty):
    """Return a folder whose images are of two cameras in turn, and of none."""
    names = ("pond", "lake & sea", None)
    images = [
        replace(arrival, source_name=names[index % 3]) for index, arrival in enumerate(arrivals(60))
    ]
    with Stream(empty, trainer=None) as stream:
        stream.take(images)
    return empty


def images_shown(client, source=""):
    """Return the ids of the images that the pages of all classes show."""
    classes = client.get("/v1/classes").json()["classes"]
    pages = [client.get(f"/classes/{row['id']}", params={"source": source}).text for row in classes]
    return {
        number
        for number in range(1, 61)
        if any(f'value="image {number}"' in page for page in pages)
    }


def test_a_class_shows_the_images_of_one_camera_or_of_all(cameras):
    with Reader(cameras) as reader:
        assert reader.counts.sources() == ["lake & sea", "pond"]
    with serving(cameras) as (client, _):
        pond = images_shown(client, "pond")
        sea = images_shown(client, "lake & sea")
        assert {number % 3 for number in pond} == {1}
        assert {number % 3 for number in sea} == {2}
        assert pond | sea < images_shown(client)
        page = client.get("/classes/0", params={"source": "lake & sea"}).text
        assert "source=lake%20%26%20sea" in page  # the tabs keep the camera


def test_labels_of_one_camera_can_be_downloaded(cameras):
    with serving(cameras) as (client, _):
        answer = client.get("/v1/exports/labels.csv", params={"source": "pond"})
        assert len(answer.text.splitlines()) == 1 + 20
        for file_name, source in (("labels.csv", "nowhere"), ("predictions.csv", "pond")):
            refused = client.get(f"/v1/exports/{file_name}", params={"source": source})
            assert refused.status_code == 422


def test_a_stream_of_one_camera_has_no_choice_of_cameras(shown):
    assert 'name="source"' not in shown.get("/classes/0").text
