"""Write the model in use as one ONNX graph: pixels in, class and accept or reject out.

Any ONNX runtime runs it, without csim and without torch:

    images          input: uint8, (n, h, w) or (n, h, w, 3), any n; with a pretrained encoder
                    in the size that it takes
    vectors         float, (n, d), unit length
    features        float, (n, f)
    probabilities   float, (n, K), a column per class
    class_id        int64, (n,), the best class
    accepted        bool, (n,), whether the image counts as known

The metadata `classes` is a JSON list of the columns' class ids and names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from csim import __version__
from csim.embed.graph import Graph, add_body
from csim.embed.whitening import Whitening
from csim.errors import InputError
from csim.export.destination import atomic_output
from csim.export.model import describe, model_in_use
from csim.folder.reader import Reader
from csim.records import Model

_FLOAT = 1  # ONNX's numbers for types
_HALF = 10
_DOUBLE = 11
_INT = 6
_BOOL = 9
_OUTPUTS = {
    "vectors": ("FLOAT", 2),
    "features": ("FLOAT", 2),
    "probabilities": ("FLOAT", 2),
    "class_id": ("INT64", 1),
    "accepted": ("BOOL", 1),
}


def write_onnx(reader: Reader, path: Path, *, overwrite: bool = False) -> dict[str, Any]:
    """Write the model in use as an ONNX file; return what the model's card says.

    Parameters
    ----------
    reader
        Of a stream folder.
    path
        The file.
    overwrite
        Whether to replace an existing file.
    """
    with atomic_output(path, outside=reader.layout.root, overwrite=overwrite) as file:
        model = model_in_use(reader)
        with reader.transaction():
            card = describe(reader, model)
        file.write_bytes(_payload(model, card))
    return card


def _payload(model: Model, card: dict[str, Any]) -> bytes:
    columns = card["columns"]
    class_ids = [*dict.fromkeys(c["class_id"] for c in columns if c["class_id"] is not None)]
    entry_of = {column["class_id"]: column for column in columns}
    thresholds = [entry_of[class_id]["threshold"] for class_id in class_ids]
    if not class_ids or None in thresholds:
        raise InputError(
            f"the folder holds no thresholds for model {model.version} yet, which it writes with "
            "the next snapshot; let `csim run` go on, then export again"
        )
    graph = Graph()
    shape = _add_network(graph, model)
    weights = graph.constant(model.weights.T.astype(np.float32))
    logits = graph.add("Gemm", "vectors", weights, graph.constant(model.bias.astype(np.float32)))
    _add_fold(graph, _add_logistic(graph, logits), columns, class_ids)
    _add_decision(graph, class_ids, thresholds, rule=card["settings"]["threshold"])
    classes = [{"class_id": c, "name": entry_of[c]["name"]} for c in class_ids]
    metadata = {
        "classes": json.dumps(classes, ensure_ascii=False),
        "model": str(model.version),
        "made_by": f"csim {__version__}",
    }
    return graph.file(shape, _OUTPUTS, metadata)


def _add_network(graph: Graph, model: Model) -> tuple[int, ...]:
    """Add everything from `images` to `vectors` and `features`; return the shape of an image."""
    if model.encoder is None:
        add_body(graph, model.network, model.image_shape)
        return model.image_shape
    if not model.encoder.name.startswith("lite"):
        raise InputError(
            "only csim's own network and lite0 to lite2 can be written as ONNX, this model stands "
            f"on the encoder {model.encoder.name}; export it without --onnx"
        )
    # They import torch, which other exports do without.
    from csim.embed.lite import add_lite  # noqa: PLC0415
    from csim.embed.pretrained import check_identity  # noqa: PLC0415

    shape, identity = add_lite(graph, model.encoder.name, "frozen")
    check_identity(identity, model.encoder)
    halves = graph.add("Cast", "frozen", to=_HALF)  # csim keeps frozen vectors in float16
    frozen = graph.add("Cast", halves, to=_FLOAT)
    Whitening.from_arrays(model.network).add_to(graph, frozen, "vectors")
    graph.add("Identity", "vectors", name="features")
    return shape


def _add_logistic(graph: Graph, logits: str) -> str:
    """Add the probability of each logit.

    Not `Sigmoid`: ONNX Runtime rounds low ones to 0, and then no class is the best of an image that
    resembles none.
    """
    odds_against = graph.add("Exp", graph.add("Neg", logits))
    one = graph.constant(np.float32(1))
    return graph.add("Reciprocal", graph.add("Add", odds_against, one))


def _add_fold(
    graph: Graph, scores: str, columns: list[dict[str, Any]], class_ids: list[int]
) -> None:
    """Add `probabilities`: the highest score of the columns that belong to each class today."""
    of_class = [
        [i for i, c in enumerate(columns) if c["class_id"] == class_id] for class_id in class_ids
    ]
    widest = max(map(len, of_class))
    table = np.array([(indices * widest)[:widest] for indices in of_class], np.int64)  # (K, most)
    gathered = graph.add("Gather", scores, graph.constant(table), axis=1)  # (n, K, most)
    graph.add("ReduceMax", gathered, name="probabilities", axes=[2], keepdims=0)


def _add_decision(graph: Graph, class_ids: list[int], thresholds: list[float], rule: str) -> None:
    """Add `class_id` and `accepted`; by "quantile" only the best class can accept an image."""
    best = graph.add("ArgMax", "probabilities", axis=1, keepdims=0)
    graph.add("Gather", graph.constant(np.array(class_ids)), best, name="class_id")
    scores = graph.add("Cast", "probabilities", to=_DOUBLE)
    lowest = graph.constant(np.array(thresholds, np.float64))
    if rule == "quantile":
        score = graph.add("ReduceMax", scores, axes=[1], keepdims=0)
        threshold = graph.add("Gather", lowest, best)
        graph.add("GreaterOrEqual", score, threshold, name="accepted")
        return
    passes = graph.add("Cast", graph.add("GreaterOrEqual", scores, lowest), to=_INT)
    any_passes = graph.add("ReduceMax", passes, axes=[1], keepdims=0)
    graph.add("Cast", any_passes, name="accepted", to=_BOOL)
