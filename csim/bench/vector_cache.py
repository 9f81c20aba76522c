"""Remember the vectors of pretrained encoders on disk, so that several runs embed an image once.

A table runs the same photographs through several methods, budgets and seeds. An image's content is
the key, so nothing needs to know which data set it belongs to. The figures do not depend on the
cache: an encoder gives an image the same vector, but for rounding.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from csim import atomic
from csim.bench.datasets.files import cache_folder
from csim.build import open_frozen
from csim.embed.gallery import Encoder
from csim.records import EncoderId, Floats, Images
from csim.settings import Settings

_FORMAT = 3  # of the files; higher with every change of what vectors of lite0 hold
_KEY_BYTES = 16
_NEW_VECTORS = 256  # written at a time


class CachedEncoder:
    """Embed images with an encoder, each content once on this machine.

    Parameters
    ----------
    encoder
        The encoder.
    identity
        Its name and checksum, which name the file.
    image_shape
        The shape that it takes.
    folder
        Where the file is.
    """

    def __init__(
        self,
        encoder: Encoder,
        identity: EncoderId,
        image_shape: tuple[int, ...] | None,
        folder: Path,
    ) -> None:
        self.identity: EncoderId | None = identity
        self.image_shape = image_shape
        self._encoder = encoder
        kind = identity.name.partition(":")[0]
        self._path = folder / f"{kind}-{identity.sha256[:16]}-{_FORMAT}.safetensors"
        self._vectors = _read(self._path)
        self._unwritten = 0

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        keys = [hashlib.blake2b(image, digest_size=_KEY_BYTES).digest() for image in images]
        new = {key: index for index, key in enumerate(keys) if key not in self._vectors}
        if new:
            made = self._encoder.embed(images[list(new.values())])
            self._vectors |= dict(zip(new, made, strict=True))
            self._unwritten += len(new)
        if self._unwritten >= _NEW_VECTORS:
            self._write()
        return np.stack([self._vectors[key] for key in keys])

    def _write(self) -> None:
        self._vectors = _read(self._path) | self._vectors  # another process may have written
        self._path.parent.mkdir(parents=True, exist_ok=True)
        keys = np.frombuffer(b"".join(self._vectors), np.uint8).reshape(-1, _KEY_BYTES)
        vectors = np.stack(list(self._vectors.values()))
        atomic.write_file(self._path, save({"keys": keys, "vectors": vectors}))
        self._unwritten = 0


def open_cached(settings: Settings, folder: Path | None = None) -> CachedEncoder | None:
    """Return the pretrained encoder of the settings with its cache; None for csim's own network.

    Parameters
    ----------
    settings
        Name the encoder.
    folder
        Where the vectors are; the cache of data sets if not given.
    """
    frozen = open_frozen(settings)
    if frozen is None:
        return None
    assert frozen.identity is not None
    place = folder or cache_folder() / "vectors"
    return CachedEncoder(frozen, frozen.identity, frozen.image_shape, place)


def _read(path: Path) -> dict[bytes, Floats]:
    """Return the vectors in a file by key; none if there is no readable file."""
    try:
        arrays = load_file(path)
        return {
            key.tobytes(): row for key, row in zip(arrays["keys"], arrays["vectors"], strict=True)
        }
    except (OSError, SafetensorError, KeyError, ValueError):
        return {}
