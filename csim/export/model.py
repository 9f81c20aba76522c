"""Write the model in use as plain arrays in one safetensors file, with a JSON card beside it.

The arrays are `weights` (K, d) and `bias` (K,) of the one-vs-rest layer, a row per class, and
every weight of the network as `network.` and its name. The card gives the class of each row today,
what the model was trained on and how to compute with it. Its sha256 shows whether the two files
belong together. There is no pickle and no code to run.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from csim import __version__, checkpoint
from csim.errors import CheckpointError, InputError
from csim.export.destination import atomic_output
from csim.folder.reader import Reader
from csim.records import JUNK, ClassId, Model

_USE = (
    "arrays = safetensors.numpy.load_file(file);"
    " x = images / 255, float32, (n, 1 or 3, height, width)",
    "for each convolution of network.body.features:"
    " x = relu(batch_norm(max_pool_2x2(convolve(x, padding='same'))))",
    "x = relu(norm(hidden(x.reshape(n, -1)))), x = embedding(x), each of network.body;"
    " vectors = x / length(x)",
    "scores = 1 / (1 + exp(-(vectors @ arrays['weights'].T + arrays['bias']))), (n, K):"
    " a column per entry of columns",
)
_USE_FROZEN = (
    "arrays = safetensors.numpy.load_file(file);"
    " x = the encoder's vectors of RGB images of image_shape, (n, d); see encoder",
    "x = x - arrays['network.body.mean']; axes = arrays['network.body.axes']",
    "x = x - (x @ axes.T * arrays['network.body.damping']) @ axes; vectors = x / length(x)",
    _USE[-1],
)
_ACCEPT_BY_ANY = (
    "of columns of one class_id take the highest; the best is accepted if any reaches its threshold"
)
_ACCEPT = {
    "quantile": "of columns of one class_id take the highest;"
    " the best class is accepted if it reaches its threshold",
    "mean-bound": _ACCEPT_BY_ANY,
    "mean-bound-model": _ACCEPT_BY_ANY,
}

_JUNK = f"the class_id {JUNK} is junk: an image that is accepted as junk has no class"


def write_model(reader: Reader, path: Path, *, overwrite: bool = False) -> dict[str, Any]:
    """Write the model in use and its card; return the card.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        The name of both files, with or without `.safetensors`.
    overwrite
        Whether to replace existing files.
    """
    if os.path.isdir(path):  # unlike Path.is_dir, it returns False for a name that is too long
        raise InputError(
            f"{path} must be a name for the model's two files, it is a folder; add a file name"
        )
    outside = reader.layout.root
    path, card_path = files_of(path)
    with atomic_output(card_path, outside=outside, overwrite=overwrite) as card_file:
        model = model_in_use(reader)
        payload = _payload(model)
        with reader.transaction():
            card = describe(reader, model) | {
                "file": path.name,
                "sha256": hashlib.sha256(payload).hexdigest(),
            }
        card_file.write_text(
            json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
        )
        with atomic_output(path, outside=outside, overwrite=overwrite) as model_file:
            model_file.write_bytes(payload)
    return card


def files_of(path: Path) -> tuple[Path, Path]:
    """Return the paths of the model and its card.

    >>> [file.name for file in files_of(Path("birds.v2"))]
    ['birds.v2.safetensors', 'birds.v2.json']
    """
    name = path.name.removesuffix(".safetensors")
    return path.with_name(f"{name}.safetensors"), path.with_name(f"{name}.json")


def model_in_use(reader: Reader) -> Model:
    """Return the model in use, read from its file."""
    while True:
        version = reader.models.in_use()
        try:
            return checkpoint.model_from(checkpoint.read(reader.layout.model(version)))
        except CheckpointError:
            # The engine deletes a model's file when it installs a newer one: then read that one.
            if reader.models.in_use() == version:
                raise


def _payload(model: Model) -> bytes:
    arrays = {"weights": model.weights, "bias": model.bias}
    arrays |= {f"network.{name}": array for name, array in model.network.items()}
    contiguous = {name: np.array(array, order="C") for name, array in arrays.items()}
    return bytes(save(contiguous, metadata={"made_by": f"csim {__version__}"}))


def describe(reader: Reader, model: Model) -> dict[str, Any]:
    """Return the card of a model: classes, thresholds, settings, and how to compute with it."""
    settings = reader.config.settings
    (trained,) = (row for row in reader.models.all() if row.version == model.version)
    thresholds_from, lowest = _thresholds(reader, model)
    current = reader.current_classes()
    columns: list[dict[str, Any]] = []
    for class_id in model.class_ids:
        if class_id == JUNK:
            columns.append({"class_id": JUNK, "name": None, "threshold": lowest.get(JUNK)})
        elif (found := current.get(class_id)) is None:  # the class was removed
            columns.append({"class_id": None, "name": None, "threshold": None})
        else:
            threshold = lowest.get(found.id)
            columns.append({"class_id": found.id, "name": found.name, "threshold": threshold})
    return {
        "model": model.version,
        "columns": columns,
        "image_shape": list(reader.config.image_shape),
        "encoder": None if model.encoder is None else asdict(model.encoder),
        "images": trained.images,  # that it was trained on
        "position": trained.due_at,  # of the stream when its training began
        "in_use_from": trained.installed_at,
        "thresholds_from": thresholds_from,
        "settings": settings.to_dict(),
        "made_by": f"csim {__version__}",
        "use": [
            *(_USE if model.encoder is None else _USE_FROZEN),
            _ACCEPT[settings.threshold],
            *([_JUNK] if JUNK in model.class_ids else []),
        ],
    }


def _thresholds(reader: Reader, model: Model) -> tuple[int | None, dict[ClassId, float]]:
    """Return the position of the newest snapshot with the model, and its thresholds by class.

    Return None and no thresholds if there is no such snapshot.
    """
    snapshot = reader.models.newest_snapshot(model.version)
    if snapshot is None:
        return None, {}
    try:
        head = checkpoint.read(reader.layout.snapshot(snapshot.step))["head"]
    except CheckpointError:
        return None, {}
    # A threshold of minus infinity accepts every score, as 0 does, which JSON can hold.
    lowest = (value if math.isfinite(value) else 0.0 for value in head["lowest"].tolist())
    return snapshot.position, dict(zip(head["class_ids"], lowest, strict=True))
