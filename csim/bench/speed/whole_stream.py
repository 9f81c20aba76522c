"""The time of a whole stream against the bare forward pass of its images.

The forward pass is measured in between, on the images that have just come. So other work on the
machine slows both sides.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from csim.bench.case import Case
from csim.bench.datasets import DataSet
from csim.bench.run import run
from csim.build import make_body
from csim.embed.inputs import to_inputs
from csim.embed.network import OpenWorldNetwork
from csim.records import Event, Images
from csim.settings import Settings

_EVERY = 500  # images of the stream between two forward passes
_BATCH = 256
_CLASSES = 10


@dataclass(frozen=True)
class StreamSeconds:
    """Hold the seconds of a stream, of its training, and of the forward pass of all its images."""

    total: float
    training: float
    forward: float


def time_stream(case: Case, data: DataSet) -> StreamSeconds:
    """Return what a stream took: learning and answers included, the forward pass left out.

    Parameters
    ----------
    case
        The method and the stream.
    data
        Its images.
    """
    stream = case.stream(data)
    network = OpenWorldNetwork(make_body(Settings(), data.images.shape[1:]), range(_CLASSES)).eval()
    pauses: list[float] = []  # seconds of each forward pass

    def pause(_: list[Event], position: int) -> None:
        if position // _EVERY > len(pauses):
            pauses.append(_forward(network, stream.images[position - _EVERY : position]))

    found = run(stream, case.open_method, seed=case.seed, on_events=pause)
    per_image = float(np.median(pauses)) / _EVERY
    return StreamSeconds(
        total=found.seconds - sum(pauses),
        training=found.seconds_training,
        forward=per_image * len(stream.images),
    )


def _forward(network: OpenWorldNetwork, images: Images) -> float:
    """Return the seconds of torch's forward pass, in batches."""
    start = time.perf_counter()
    with torch.inference_mode():
        for first in range(0, len(images), _BATCH):
            inputs = to_inputs(images[first : first + _BATCH], torch.device("cpu"))
            torch.sigmoid(network(inputs)[1])
    return time.perf_counter() - start
