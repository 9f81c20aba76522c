import numpy as np
import pytest
import torch
from torch.nn import functional

from csim.embed.network import ConvBody, OneVsRest, OpenWorldNetwork, pick_device
from csim.embed.network_trainer import seeded
from csim.errors import SettingsError


def make_body(shape, conv_layers=1, *, channels=3, kernel=5, batch_norm=False):
    with seeded(0):
        return ConvBody(
            shape,
            conv_layers=conv_layers,
            channels=channels,
            kernel=kernel,
            batch_norm=batch_norm,
            hidden_units=11,
            embedding_size=7,
        )


def draw_inputs(shape, count=5, seed=0):
    depth = 3 if len(shape) == 3 else 1
    return torch.rand(count, depth, *shape[:2], generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("kernel", "batch_norm"), [(5, False), (3, True)])
@pytest.mark.parametrize("conv_layers", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 3), (9, 13), (28, 28), (32, 20, 3), (8, 31)])
def test_any_image_from_eight_pixels_up_becomes_a_vector_of_unit_length(
    shape, conv_layers, kernel, batch_norm
):
    vectors = make_body(shape, conv_layers, kernel=kernel, batch_norm=batch_norm)(
        draw_inputs(shape)
    )
    assert vectors.shape == (5, 7)
    assert np.linalg.norm(vectors.detach().numpy(), axis=1) == pytest.approx(np.ones(5), abs=1e-5)


@pytest.mark.parametrize(
    ("shape", "conv_layers"), [((8, 8), 4), ((15, 64), 4), ((9, 8, 3), 4), ((31, 31), 5)]
)
def test_layers_that_would_leave_no_pixel_are_refused(shape, conv_layers):
    with pytest.raises(
        SettingsError,
        match=f"{conv_layers} conv layers leave no pixel .* at most {conv_layers - 1}",
    ):
        make_body(shape, conv_layers)


@pytest.mark.parametrize(("shape", "conv_layers"), [((8, 8), 3), ((16, 64), 4), ((31, 31), 4)])
def test_layers_that_leave_one_pixel_are_taken(shape, conv_layers):
    assert make_body(shape, conv_layers)(draw_inputs(shape)).shape == (5, 7)


def written_out(body, inputs, conv_layers, kernel):
    """Return the maps and vectors of padded convolutions, pooling, ReLU and two linear layers."""
    weights = [parameter.detach() for parameter in body.parameters()]
    maps = inputs
    pad = kernel // 2
    for layer in range(conv_layers):
        filters = weights[2 * layer]
        bias = weights[2 * layer + 1]
        assert filters.shape == (3 * 2**layer, maps.shape[1], kernel, kernel)
        maps = functional.conv2d(
            functional.pad(maps, (pad, pad, pad, pad)), filters, bias, stride=1
        )
        maps = functional.max_pool2d(functional.relu(maps), kernel_size=2, stride=2)
    hidden_weight, hidden_bias, weight, bias = weights[2 * conv_layers :]
    hidden = (maps.flatten(1) @ hidden_weight.T + hidden_bias).clamp(min=0)
    vectors = hidden @ weight.T + bias
    return maps, vectors / (vectors**2).sum(1, keepdim=True).sqrt()


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("conv_layers", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(11, 14), (12, 9, 3)])
def test_the_body_computes_what_the_paper_draws(shape, conv_layers, kernel):
    body = make_body(shape, conv_layers, kernel=kernel)
    inputs = draw_inputs(shape)
    maps, vectors = written_out(body, inputs, conv_layers, kernel)
    assert maps.shape[2:] == (shape[0] // 2**conv_layers, shape[1] // 2**conv_layers)
    assert torch.allclose(body(inputs), vectors, atol=1e-5)


@pytest.mark.parametrize("conv_layers", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(16, 16), (8, 12, 3), (11, 37)])
def test_features_are_the_maps_averaged_over_a_grid_of_at_most_four_by_four(shape, conv_layers):
    body = make_body(shape, conv_layers)
    inputs = draw_inputs(shape)
    maps, expected = written_out(body, inputs, conv_layers, kernel=5)
    vectors, features = body.view(inputs)
    assert torch.allclose(vectors, expected, atol=1e-5)
    _, channels, height, width = maps.shape
    rows = min(4, height)
    columns = min(4, width)
    cells = [
        maps[
            :, c, top * height // rows : -(-(top + 1) * height // rows), left * width // columns :
        ][:, :, : -(-(left + 1) * width // columns) - left * width // columns]
        for c in range(channels)
        for top in range(rows)
        for left in range(columns)
    ]
    assert torch.allclose(
        features, torch.stack([cell.mean(dim=(1, 2)) for cell in cells], dim=1), atol=1e-5
    )


def normalised(values, axes):
    """Return what batch normalisation makes of values in its first batch."""
    middle = values.mean(dim=axes, keepdim=True)
    spread = values.var(dim=axes, keepdim=True, unbiased=False)
    return (values - middle) / (spread + 1e-5).sqrt()


def test_with_batch_norm_maps_and_hidden_layer_are_normalised_over_the_batch():
    body = make_body((8, 8), batch_norm=True)
    inputs = draw_inputs((8, 8), count=20)
    convolution = body.features[0]
    maps = functional.conv2d(inputs, convolution.weight, convolution.bias, padding=2)
    maps = normalised(functional.max_pool2d(maps, 2), (0, 2, 3)).clamp(min=0)
    hidden = maps.flatten(1) @ body.hidden.weight.T + body.hidden.bias
    hidden = normalised(hidden, (0,)).clamp(min=0)
    expected = functional.normalize(hidden @ body.embedding.weight.T + body.embedding.bias, dim=1)
    assert torch.allclose(body.train()(inputs), expected, atol=1e-4)


def test_a_trained_body_with_batch_norm_sees_an_image_alone_as_in_company():
    body = make_body((8, 8), 2, batch_norm=True)
    inputs = draw_inputs((8, 8), count=20)
    body.train()(inputs)  # it takes note of the batch's means
    body.eval()
    with torch.no_grad():
        together = body(inputs)
        alone = torch.cat([body(one[None]) for one in inputs])
        assert torch.allclose(together, alone, atol=1e-5)
        assert torch.allclose(body.view(inputs)[0], together, atol=1e-6)


def test_images_that_are_alike_but_for_one_pixel_get_different_vectors():
    inputs = draw_inputs((8, 8), count=1).repeat(2, 1, 1, 1)
    inputs[1, 0, 3, 4] += 0.5
    first, second = make_body((8, 8))(inputs)
    assert not torch.equal(first, second)


def test_logits_are_the_weights_times_the_vector_plus_the_bias():
    with seeded(1):
        layer = OneVsRest(6, 4, scale=10.0)
        torch.nn.init.normal_(layer.bias)
    vectors = functional.normalize(
        torch.randn(9, 6, generator=torch.Generator().manual_seed(0)), dim=1
    )
    weights = layer.weights().detach().numpy()
    bias = layer.bias.detach().numpy()
    expected = [
        [
            sum(w * v for w, v in zip(row, vector, strict=True)) + b
            for row, b in zip(weights, bias, strict=True)
        ]
        for vector in vectors.numpy()
    ]
    assert layer(vectors).detach().numpy() == pytest.approx(np.array(expected), abs=1e-5)


@pytest.mark.parametrize(
    ("scale", "is_above"), [(10.0, True), (9.3, True), (9.1, False), (5.0, False)]
)
def test_a_scale_above_9_lets_probabilities_pass_the_store_score(scale, is_above):
    with seeded(0):
        layer = OneVsRest(6, 3, scale)
    along = functional.normalize(layer.directions.detach(), dim=1)
    probabilities = torch.sigmoid(layer(along)).diagonal()
    assert (probabilities > 0.99).all() == is_above
    assert torch.sigmoid(layer(-along)).diagonal().detach().numpy() == pytest.approx(
        1 / (1 + np.exp(1.5 * scale)), rel=1e-4
    )


def make_network(class_ids, seed, *, batch_norm=False):
    with seeded(seed):
        body = ConvBody(
            (8, 8),
            conv_layers=1,
            channels=2,
            kernel=3,
            batch_norm=batch_norm,
            hidden_units=5,
            embedding_size=4,
        )
        network = OpenWorldNetwork(body, class_ids)
        torch.nn.init.normal_(network.one_vs_rest.bias)
    return network


def test_growing_keeps_each_old_class_by_its_id_whatever_its_place():
    old = make_network([3, 7, 9], seed=0)
    new = make_network([9, 12, 3], seed=1)
    fresh = make_network([9, 12, 3], seed=1)
    new.continue_from(old.arrays(), old.class_ids)
    inputs = draw_inputs((8, 8))
    (old_vectors, old_logits) = old(inputs)
    (vectors, logits) = new(inputs)
    assert torch.equal(vectors, old_vectors)
    assert torch.allclose(logits[:, [0, 2]], old_logits[:, [2, 0]], atol=1e-6)
    assert torch.equal(new.one_vs_rest.directions[1], fresh.one_vs_rest.directions[1])
    assert torch.equal(new.one_vs_rest.bias[1], fresh.one_vs_rest.bias[1])
    assert new.class_ids == (9, 12, 3)


def test_growing_from_nothing_in_common_keeps_the_body_only():
    old = make_network([1, 2], seed=0)
    new = make_network([5, 6, 7], seed=1)
    fresh = make_network([5, 6, 7], seed=1)
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


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_network_rebuilt_from_its_arrays_computes_the_same(batch_norm):
    network, other = (make_network([4, 2], seed=seed, batch_norm=batch_norm) for seed in (0, 1))
    inputs = draw_inputs((8, 8))
    network.train()(inputs)  # batch normalisation takes note of what it sees
    network.eval()
    other.eval()
    assert not torch.equal(network(inputs)[1], other(inputs)[1])
    other.continue_from(network.arrays(), [4, 2])
    assert torch.equal(network(inputs)[0], other(inputs)[0])
    assert torch.equal(network(inputs)[1], other(inputs)[1])


@pytest.mark.parametrize("batch_norm", [False, True])
def test_an_imprinted_class_begins_where_its_images_lie_on_the_average(batch_norm):
    network = make_network([4, 2, 9], seed=0, batch_norm=batch_norm)
    inputs = draw_inputs((8, 8))
    network.train()(draw_inputs((8, 8), count=30, seed=3))
    before = network.arrays()
    network.imprint(1, inputs)
    after = network.arrays()
    network.eval()
    with torch.no_grad():
        mean = sum(network.body(one[None])[0] for one in inputs) / len(inputs)
    assert after["one_vs_rest.directions"][1] == pytest.approx(
        (mean / mean.norm()).numpy(), abs=1e-5
    )
    before["one_vs_rest.directions"][1] = after["one_vs_rest.directions"][1]
    assert all((before[name] == after[name]).all() for name in before)  # nothing else has moved


def test_an_imprinted_class_is_the_best_of_its_own_images():
    network = OpenWorldNetwork(make_body((8, 8)), [4, 2])
    one = 0.1 * draw_inputs((8, 8), count=6)
    other = 0.1 * draw_inputs((8, 8), count=6, seed=1)
    one[:, :, :4] += 0.9  # bright above
    other[:, :, :, :4] += 0.9  # bright on the left
    network.imprint(0, one)
    network.imprint(1, other)
    with torch.no_grad():
        assert network(one)[1].argmax(1).tolist() == [0] * 6
        assert network(other)[1].argmax(1).tolist() == [1] * 6


def test_what_was_imprinted_can_still_be_learned():
    network = make_network([4, 2], seed=0)
    inputs = draw_inputs((8, 8))
    network.imprint(1, inputs)
    network(inputs)[1][:, 1].sum().backward()
    assert network.one_vs_rest.directions.requires_grad
    assert network.one_vs_rest.directions.grad[1].abs().sum() > 0


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
