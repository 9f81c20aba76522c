"""Stream folders with a frozen encoder: the digit stream as colour images of 8×8 pixels."""

from dataclasses import replace

from digit_folder import SETTINGS, arrivals
from digit_stream import digit_stream

from csim.folder.layout import Config
from csim.folder.make import make
from csim.sources.arrival import Arrival
from csim.sources.decode import decode

SHAPE = (8, 8, 3)


def colour(count, start=0):
    """Return images of the digit stream as a colour stream decodes them."""
    return [
        decode(Arrival(arrival.id, arrival.image), SHAPE) for arrival in arrivals(count)[start:]
    ]


def make_colour(root, encoder, **changes):
    """Make a folder that knows three digits, with the encoder of a name."""
    stream = digit_stream()
    images = [
        decode(Arrival(f"labelled/{index}", image), SHAPE)
        for index, image in enumerate(stream.warm_up)
    ]
    settings = replace(SETTINGS, encoder=encoder, update_labels=5, **changes)
    make(root, Config(settings, SHAPE, retrain_lag=30), images, stream.warm_up_names)
    return root
