"""State ↔ one file: named arrays and JSON in the safetensors format, no pickle.

The header holds the format number, everything that is not an array as JSON, and a sha256 of that
JSON and the arrays, because safetensors does not notice a flipped bit. A file that is damaged, not
csim's or newer is refused before anything is built from it. Formats 4 to 6 are upgraded when they
are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from csim import atomic
from csim.ask.audit import Audit
from csim.errors import CheckpointError, StorageError
from csim.records import EncoderId, Model, State
from csim.settings import brought_up_to_date

# 4 to 5: views from outside, the last search, names of settings. 5 to 6: the audit.
# 6 to 7: encoders by name, junk, images labelled unasked. 7 to 8: weights in training, expected
# scores.
FORMAT = 8
_ARRAY = "$array"
_PLAIN = (str, int, float, bool, type(None))

Arrays = dict[str, npt.NDArray[Any]]


def model_state(model: Model) -> State:
    """Return a model as plain values and arrays."""
    values = {name: getattr(model, name) for name in Model.__slots__}
    return values | {"encoder": None if model.encoder is None else asdict(model.encoder)}


def model_from(state: State) -> Model:
    """Return the model that `model_state` turned into plain values."""
    named = state["encoder"]
    return Model(
        **state
        | {
            "class_ids": tuple(state["class_ids"]),
            "image_shape": tuple(state["image_shape"]),
            "encoder": None if named is None else EncoderId(**named),
        }
    )


def write(path: Path, state: State) -> None:
    """Write a state to a file, atomically: a crash leaves the old file or the new one."""
    arrays: Arrays = {}
    text = json.dumps(_take_apart(state, "", arrays))
    header = {"csim": str(FORMAT), "state": text, "sha256": _digest(text, arrays)}
    atomic.write_file(path, save(arrays, metadata=header))


def read(path: Path) -> State:
    """Return the state in a file; raise CheckpointError if it cannot be read."""
    if path.is_dir():
        raise CheckpointError(f"{path} must be a file, it is a folder; give a file made by save()")
    try:
        path.open("rb").close()  # safetensors reports a file that is closed to us as missing
        with safe_open(path, framework="numpy") as file:
            header: Mapping[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no file {path}; check the path") from error
    except PermissionError as error:
        raise StorageError(
            f"{path} must be readable for you, it is not ({error.strerror}); check its permissions"
        ) from error
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is not a whole csim file ({error}); restore it from a copy"
        ) from error
    if not {"csim", "state", "sha256"} <= set(header) or not header["csim"].isdecimal():
        raise CheckpointError(
            f"{path} holds arrays but was not written by csim; give a file made by save()"
        )
    found = int(header["csim"])
    if found not in (FORMAT, *_UPGRADES):
        wanted = "a newer csim" if found > FORMAT else "the csim that wrote it"
        raise CheckpointError(
            f"{path} has format {found}, this program reads {FORMAT}; use {wanted}"
        )
    if _digest(header["state"], arrays) != header["sha256"]:
        raise CheckpointError(
            f"{path} is damaged: its content does not match its checksum; restore it from a copy"
        )
    state: State = _put_together(json.loads(header["state"]), arrays)
    return state if found == FORMAT else _UPGRADES[found](state)


def checksum(path: Path) -> str:
    """Return the sha256 of the content of a file that `write` wrote."""
    with safe_open(path, framework="numpy") as file:
        return str(file.metadata()["sha256"])


def _from_format_5(state: State) -> State:
    """Return a state of format 5 as it would be written today: nothing was drawn for an audit."""
    upgraded = dict(state)
    if "settings" in state:
        upgraded["settings"] = brought_up_to_date(state["settings"])
    if "dialogue" in state:
        dialogue = state["dialogue"]
        ledger = dialogue["ledger"]
        upgraded["dialogue"] = {
            **dialogue,
            "ledger": {**ledger, "is_audit": [False] * len(ledger["id"])},
            "audit": Audit(0, seed=0).state(),
        }
    return _from_format_6(upgraded)


def _from_format_6(state: State) -> State:
    """Return a state of format 6 as it would be written today.

    No encoder has a name, nothing is junk, and csim asked every question.
    """
    upgraded = dict(state)
    if "dialogue" in state:
        dialogue = state["dialogue"]
        ledger = dialogue["ledger"]
        upgraded["dialogue"] = {
            **dialogue,
            "ledger": {**ledger, "is_given": [False] * len(ledger["id"])},
            "catalogue": {**dialogue["catalogue"], "junk": 0},
        }
    if "held_out" in state:  # of a model
        upgraded["encoder"] = None
    if isinstance(model := state.get("model"), dict):  # of a classifier
        upgraded["model"] = _from_format_6(model)
        upgraded["image_shape"] = model["image_shape"]
    return upgraded


def _from_format_4(state: State) -> State:
    """Return a state of format 4 as it would be written today."""
    upgraded = dict(state)
    if isinstance(model := state.get("model"), dict):
        upgraded["model"] = _from_format_4(model)
    if "held_out" in state:  # of a model
        upgraded["trained"] = np.zeros((0, 0), np.float32)
        upgraded["trained_ids"] = np.zeros(0, np.int64)
    if "discovery" in state:
        pool = dict(state["discovery"]["pool"])
        last_search = pool.pop("last_look", 0)
        upgraded["discovery"] = state["discovery"] | {"pool": pool, "last_search": last_search}
        empty = np.zeros((0, 0), np.float32)
        upgraded["gallery"] = {"ids": [], "positions": [], "vectors": empty, "features": empty}
    return _from_format_5(upgraded)


def _from_format_7(state: State) -> State:
    """Return a state of format 7: the views from outside had ids too, which nothing reads."""
    return state


_UPGRADES = {4: _from_format_4, 5: _from_format_5, 6: _from_format_6, 7: _from_format_7}


def _take_apart(value: Any, path: str, arrays: Arrays) -> Any:  # noqa: ANN401
    if isinstance(value, np.ndarray):
        arrays[path] = np.ascontiguousarray(value).reshape(value.shape)  # it makes rows of numbers
        return {_ARRAY: path}
    if isinstance(value, Mapping):
        return {key: _take_apart(entry, f"{path}/{key}", arrays) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        if all(
            type(entry) in _PLAIN for entry in value
        ):  # long lists of ids are many, and quick to pass over
            return list(value)
        return [_take_apart(entry, f"{path}/{place}", arrays) for place, entry in enumerate(value)]
    return value


def _put_together(value: Any, arrays: Arrays) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {key: _put_together(entry, arrays) for key, entry in value.items()}
    return [_put_together(entry, arrays) for entry in value] if isinstance(value, list) else value


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
