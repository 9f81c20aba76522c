"""The cost of a stream of photographs, on few drawn ones."""

import numpy as np
import pytest
from embed.photographs import draw_photographs

from csim.bench.datasets import DataSet
from csim.bench.scenario import make
from csim.bench.speed.photographs import memory_per_image, time_stream


@pytest.fixture(scope="module")
def stream():
    images = draw_photographs(240)
    images[::3, ..., 0] = 255 - images[::3, ..., 0] // 4
    images[1::3, ..., 1] = 255 - images[1::3, ..., 1] // 4
    names = [str(index % 3) for index in range(len(images))]
    return make("paper", DataSet("drawn", images, names), known_share=0.7, seed=0)


@pytest.mark.slow
def test_every_photograph_passes_through_the_encoder_once(stream):
    pace = time_stream(stream)
    assert pace.passes == 1
    assert 0 < pace.encoder < pace.stream


@pytest.mark.slow
def test_memory_per_photograph_holds_its_vector_and_little_else(stream):
    few, many = 50, len(stream.images)  # the first search comes before
    # What does not grow, as the axes of the projection, weighs much beside so few images.
    in_few, in_many = (count * memory_per_image(stream, count) for count in (few, many))
    assert 1328 * np.float16().nbytes < (in_many - in_few) / (many - few) < 8000
