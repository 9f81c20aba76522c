import numpy as np
import pytest
import torch
from torch.nn import functional

from csim.embed.network import CentredBody, ConvBody, OneVsRest, OpenWorldNetwork, pick_device
from csim.embed.training import seeded
from csim.errors import SettingsError


def make_body(shape, conv_layers=1, channels=3, hidden_units=11, embedding_size=7):
    with seeded(0):
        return ConvBody(
            shape,
            conv_layers=conv_layers,
            channels=channels,
            hidden_units=hidden_units,
            embedding_size=embedding_size,
        )


def draw_inputs(shape, count=5, seed=0):
    depth = 3 if len(shape) == 3 else 1
    return torch.rand(count, depth, *shape[:2], generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("conv_layers", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 3), (9, 13), (28, 28), (32, 20, 3), (8, 31)])
def test_any_image_from_eight_pixels_up_becomes_a_vector_of_unit_length(shape, conv_layers):
    vectors = make_body(shape, conv_layers)(draw_inputs(shape))
    assert vectors.shape == (5, 7)
    assert np.linalg.norm(vectors.detach().numpy(), axis=1) == pytest.approx(np.ones(5), abs=1e-5)


@pytest.mark.parametrize(("shape", "conv_layers"), [((8, 8), 4), ((15, 64), 4), ((9, 8, 3), 4), ((31, 31), 5)])
def test_layers_that_would_leave_no_pixel_are_refused(shape, conv_layers):
    with pytest.raises(SettingsError, match=f"{conv_layers} conv layers leave no pixel .* at most {conv_layers - 1}"):
        make_body(shape, conv_layers)


@pytest.mark.parametrize(("shape", "conv_layers"), [((8, 8), 3), ((16, 64), 4), ((31, 31), 4)])
def test_layers_that_leave_one_pixel_are_taken(shape, conv_layers):
    assert make_body(shape, conv_layers)(draw_inputs(shape)).shape == (5, 7)


@pytest.mark.parametrize("conv_layers", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(11, 14), (12, 9, 3)])
def test_the_body_computes_what_the_paper_draws(shape, conv_layers):
    """5×5 convolutions of stride 1 and padding 2, ReLU, 2×2 pooling, hidden layer, ReLU, embedding, unit length."""
    body = make_body(shape, conv_layers)
    weights = [parameter.detach() for parameter in body.parameters()]
    inputs = draw_inputs(shape)
    maps = inputs
    for layer in range(conv_layers):
        kernel, bias = weights[2 * layer], weights[2 * layer + 1]
        assert kernel.shape == (3, maps.shape[1], 5, 5)
        maps = functional.conv2d(functional.pad(maps, (2, 2, 2, 2)), kernel, bias, stride=1)
        maps = functional.max_pool2d(functional.relu(maps), kernel_size=2, stride=2)
    assert maps.shape[2:] == (shape[0] // 2**conv_layers, shape[1] // 2**conv_layers)
    hidden_weight, hidden_bias, weight, bias = weights[2 * conv_layers :]
    hidden = (maps.flatten(1) @ hidden_weight.T + hidden_bias).clamp(min=0)
    expected = hidden @ weight.T + bias
    expected = expected / (expected**2).sum(1, keepdim=True).sqrt()
    assert torch.allclose(body(inputs), expected, atol=1e-5)


def test_images_that_are_alike_but_for_one_pixel_get_different_vectors():
    inputs = draw_inputs((8, 8), count=1).repeat(2, 1, 1, 1)
    inputs[1, 0, 3, 4] += 0.5
    first, second = make_body((8, 8))(inputs)
    assert not torch.equal(first, second)


def test_a_foreign_encoders_vectors_are_seen_from_their_mean_at_unit_length():
    mean = torch.tensor([1.0, 1.0])
    body = CentredBody(mean)
    mean[:] = 100  # the caller's own
    vectors = body(torch.tensor([[4.0, 5.0], [1.0, -2.0]]))
    assert torch.allclose(vectors, torch.tensor([[0.6, 0.8], [0.0, -1.0]]))
    assert torch.isfinite(body(torch.tensor([[1.0, 1.0]]))).all()


def test_the_mean_of_a_foreign_encoder_is_part_of_the_arrays_and_is_taken_over():
    old, new = (OpenWorldNetwork(CentredBody(torch.full((3,), mean)), [1, 2]) for mean in (0.25, 0.75))
    new.continue_from(old.arrays(), [1, 2])
    inputs = torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(new(inputs)[1], old(inputs)[1])


def test_logits_are_the_weights_times_the_vector_plus_the_bias():
    with seeded(1):
        layer = OneVsRest(6, 4, scale=10.0)
        torch.nn.init.normal_(layer.bias)
    vectors = functional.normalize(torch.randn(9, 6, generator=torch.Generator().manual_seed(0)), dim=1)
    weights, bias = layer.weights().detach().numpy(), layer.bias.detach().numpy()
    expected = [[sum(w * v for w, v in zip(row, vector, strict=True)) + b for row, b in zip(weights, bias, strict=True)]
                for vector in vectors.numpy()]  # fmt: skip
    assert layer(vectors).detach().numpy() == pytest.approx(np.array(expected), abs=1e-5)


@pytest.mark.parametrize(("scale", "is_above"), [(10.0, True), (9.3, True), (9.1, False), (5.0, False)])
def test_a_scale_above_9_lets_probabilities_pass_the_store_score(scale, is_above):
    with seeded(0):
        layer = OneVsRest(6, 3, scale)
    along = functional.normalize(layer.directions.detach(), dim=1)
    probabilities = torch.sigmoid(layer(along)).diagonal()
    assert (probabilities > 0.99).all() == is_above
    assert torch.sigmoid(layer(-along)).diagonal().detach().numpy() == pytest.approx(
        1 / (1 + np.exp(1.5 * scale)), rel=1e-4
    )


def make_network(class_ids, seed):
    with seeded(seed):
        body = ConvBody((8, 8), conv_layers=1, channels=2, hidden_units=5, embedding_size=4)
        network = OpenWorldNetwork(body, class_ids)
        torch.nn.init.normal_(network.one_vs_rest.bias)
    return network


def test_growing_keeps_each_old_class_by_its_id_whatever_its_place():
    old = make_network([3, 7, 9], seed=0)
    new = make_network([9, 12, 3], seed=1)
    fresh = make_network([9, 12, 3], seed=1)
    new.continue_from(old.arrays(), old.class_ids)
    inputs = draw_inputs((8, 8))
    (old_vectors, old_logits), (vectors, logits) = old(inputs), new(inputs)
    assert torch.equal(vectors, old_vectors)
    assert torch.allclose(logits[:, [0, 2]], old_logits[:, [2, 0]], atol=1e-6)
    assert torch.equal(new.one_vs_rest.directions[1], fresh.one_vs_rest.directions[1])
    assert torch.equal(new.one_vs_rest.bias[1], fresh.one_vs_rest.bias[1])
    assert new.class_ids == (9, 12, 3)


def test_growing_from_nothing_in_common_keeps_the_body_only():
    old, new, fresh = make_network([1, 2], seed=0), make_network([5, 6, 7], seed=1), make_network([5, 6, 7], seed=1)
    new.continue_from(old.arrays(), old.class_ids)
    assert torch.equal(new.body.hidden.weight, old.body.hidden.weight)
    assert torch.equal(new.one_vs_rest.directions, fresh.one_vs_rest.directions)


def test_growing_leaves_the_earlier_arrays_alone():
    arrays = make_network([1, 2], seed=0).arrays()
    before = {name: array.copy() for name, array in arrays.items()}
    new = make_network([2, 1], seed=1)
    new.continue_from(arrays, [1, 2])
    with torch.no_grad():
        for parameter in new.parameters():
            parameter.add_(1)
    assert all((arrays[name] == before[name]).all() for name in before)


def test_a_network_rebuilt_from_its_arrays_computes_the_same():
    network, other = make_network([4, 2], seed=0), make_network([4, 2], seed=1)
    inputs = draw_inputs((8, 8))
    assert not torch.equal(network(inputs)[1], other(inputs)[1])
    other.continue_from(network.arrays(), [4, 2])
    assert torch.equal(network(inputs)[0], other(inputs)[0])
    assert torch.equal(network(inputs)[1], other(inputs)[1])


def test_arrays_are_copies():
    network = make_network([4, 2], seed=0)
    arrays = network.arrays()
    for array in arrays.values():
        array[...] = 0
    assert network.body.hidden.weight.abs().sum() > 0
    assert set(arrays) == set(network.state_dict())


def test_automatic_choice_of_device_takes_what_is_there():
    wanted = "cuda" if torch.cuda.is_available() else "cpu"
    assert pick_device("auto").type == wanted
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "", "cpu zero"])
def test_a_device_that_torch_does_not_know_is_refused(name):
    with pytest.raises(SettingsError, match="device"):
        pick_device(name)


def test_a_device_that_is_not_there_is_refused_before_anything_is_moved_to_it():
    with pytest.raises(SettingsError, match="cuda:63"):
        pick_device("cuda:63")
