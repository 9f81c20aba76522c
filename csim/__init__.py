"""Classify an endless stream of images in which new kinds of things keep appearing.

How an image travels:

    source → embed → accept or reject → discover → ask → store → retrain

1. `sources`   images come in, from arrays, data sets or folders.
2. `embed`     a network turns each into a vector of unit length.
3. `decide`    the vector is given a class, or rejected because it is like none.
4. `discover`  among the recent images, what is new or in doubt falls into groups.
5. `ask`       a person is asked one question per group.
6. `store`     the answer labels the group; a bounded number of images per class is kept.
7. `retrain`   a new model learns from them, and the recent images are decided about anew.

`engine` puts the stages in order, `build` makes them from `Settings`, `StreamClassifier` is the face of it all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csim.ask.labellers import CallbackLabeller as CallbackLabeller
    from csim.ask.labellers import TerminalLabeller as TerminalLabeller
    from csim.ask.labellers import TruthLabeller as TruthLabeller
    from csim.classifier import StreamClassifier as StreamClassifier
    from csim.errors import CsimError as CsimError
    from csim.settings import Settings as Settings
    from csim.sources.image_folder import read_images as read_images
    from csim.sources.image_folder import read_labelled as read_labelled

__version__ = "0.1.0"

# Public names are found when they are first used, so that `import csim` stays light.
_HOMES = {
    "StreamClassifier": "csim.classifier",
    "Settings": "csim.settings",
    "CsimError": "csim.errors",
    "TruthLabeller": "csim.ask.labellers",
    "CallbackLabeller": "csim.ask.labellers",
    "TerminalLabeller": "csim.ask.labellers",
    "read_images": "csim.sources.image_folder",
    "read_labelled": "csim.sources.image_folder",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'csim' has no attribute {name!r}")
