"""Classify an endless stream of images in which new classes keep appearing.

How an image travels:

    source → embed → accept or reject → discover → ask → store → retrain

1. `sources`   reads images from arrays, data sets, folders and videos.
2. `embed`     turns each image into a vector of unit length.
3. `decide`    accepts the image under a class, or rejects it because it fits none.
4. `discover`  searches the recent images for groups that are new or doubtful.
5. `ask`       asks a person one question per group.
6. `store`     keeps the labelled images, a limited number per class.
7. `retrain`   trains a new model on them; then the recent images are decided again.

`engine` orders the stages. `build` makes them from `Settings`. Start with `StreamClassifier`.
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

# Public names are imported on first use, so that `import csim` stays fast.
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
