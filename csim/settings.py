"""All settings in one frozen dataclass, and the presets.

`Settings()` is the default preset: it goes beyond the paper to need few labels (docs/method.md).
`Settings.photographs()` is the same for a pretrained encoder. `Settings.paper()` reproduces the
paper. All run through the same engine and the same parts.
The comment above a field gives the paper's symbol, if it has one, and the reason for the default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from csim.encoder_name import check_encoder
from csim.errors import SettingsError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Hold all settings of a stream.

    Raises
    ------
    SettingsError
        If a value is outside its range; the message names the setting.

    Examples
    --------
    >>> Settings(buffer_size=500).buffer_size
    500
    """

    # What turns an image into a vector. "own": csim's network, trained on your images, best for
    # small or grey ones. "lite0", "lite1", "lite2": pretrained on photographs and never trained
    # further; a higher number sees finer detail but takes longer. "hf:NAME" or "hf:DIRECTORY": a
    # model of transformers. "onnx:FILE": your own (docs/encoders.md). The next six settings,
    # `shift` and `flip` are for "own" alone.
    encoder: str = "own"

    # Convolution layers; 1 in the paper. A second layer pays off with many classes
    # (docs/ablation.md). Higher gives larger receptive fields but slower training; each layer
    # halves the image.
    conv_layers: int = 2
    # Feature maps of the first layer; each further layer has twice as many. The paper gives no
    # value; `paper` uses 20. Higher detects more kinds of edges, but time grows in proportion.
    channels: int = 16
    # Width of a convolution in pixels, odd; 5 in the paper. Higher detects larger shapes at once,
    # but time grows with its square.
    kernel: int = 3
    # Normalise over each batch. A network that continues from the last model then learns a new
    # class in far fewer steps. Not in the paper.
    batch_norm: bool = True
    # n, the units of the hidden layer. Higher fits more but costs time and memory: below 100 the
    # paper loses accuracy, above 200 it gains none.
    hidden_units: int = 200
    # d', the length of a vector. The paper gives no value. Higher leaves more room for new classes.
    embedding_size: int = 200

    # Scale of the cosine in the one-vs-rest layer; training hardly changes it. Higher allows scores
    # nearer 0 and 1. Below 9.2 no score exceeds T_D = 0.99, so predicted labels are never stored.
    scale: float = 10.0

    # γ. Higher pushes classes farther apart; above 1 the paper overfits.
    margin: float = 1.0
    # β, the weight of the triplet loss. Higher makes known classes tighter but pulls new images
    # onto them, so csim notices fewer. It improved no figure on validation images
    # (docs/training.md), so the default leaves it out. `paper` uses the smallest weight that has an
    # effect.
    beta: float = 0.0
    # Which triplets count. "all-positive" counts every triplet of positive loss: the only reading
    # of the paper that never collapsed.
    mining: Literal["all-positive", "batch-hard", "literal"] = "all-positive"
    # Weight of images in the cross-entropy. "triplets" is the paper's objective: by the number of
    # triplets that hold an image. "even" is the plain mean, the same for rare and common classes.
    class_loss: Literal["triplets", "even"] = "even"

    # S_mini. Higher puts more triplets into a batch and takes fewer steps.
    batch_size: int = 64
    # n_e. Higher fits the first labelled images better but takes longer in proportion.
    epochs: int = 14
    # Batches of each later training, which continues where the previous one stopped; the model is
    # the mean weights of about the last half. Higher fits better but takes longer in proportion; 0
    # starts from random weights and trains for `epochs`, unless `update_epochs` is set.
    update_steps: int = 30
    # Epochs of each later training instead of `update_steps`: from the previous model, at the full
    # learning rate. A reading of the paper's "retrain" (docs/tuning.md). Higher fits better but
    # takes longer in proportion; 0 leaves it to `update_steps`.
    update_epochs: int = 0
    # Of Adam. Higher learns faster, until training no longer converges.
    learning_rate: float = 1e-3
    # The same for the `update_steps`, whose mean bears a higher rate (docs/speed.md). Higher learns
    # more in few steps, until training no longer converges.
    update_rate: float = 2e-3
    # "balanced" draws every class equally often, so that old classes do not outnumber a new one.
    batches: Literal["plain", "balanced"] = "balanced"
    # Shift each training image at random by at most this many pixels; 0 in the paper. Higher learns
    # more from few images, until objects leave the picture.
    shift: int = 2
    # Mirror half of the training images: right for photographs, wrong for letters, so off by
    # default.
    flip: bool = False
    # "auto" uses a GPU if there is one. "onnx" trains on the CPU and embeds with ONNX Runtime,
    # 1.7 times as fast as torch; it needs the extra "onnx". Or give any name that torch knows.
    device: str = "auto"

    # "quantile" guarantees a share of accepted known images. "mean-bound" is the paper's Student
    # bound: it rejects a large share of known images, and with them nearly all new ones. csim fits
    # it again on the store after every search. "mean-bound-model" fits it once per model, on the
    # images that the model was trained on: the paper's text allows both.
    threshold: Literal["mean-bound", "mean-bound-model", "quantile"] = "quantile"
    # For "quantile": the share of known images to accept at arrival. Higher rejects fewer known
    # images, but accepts more unknown ones as known at first.
    keep: float = 0.98
    # α, for "mean-bound" and "mean-bound-model". Higher raises the threshold and rejects more. At
    # 0.5 it is the mean score; with 200 images, 0.99 is 0.17 standard deviations above the mean.
    alpha: float = 0.05

    # Which images csim asks about. "new-or-doubtful": recent images, accepted or not, where one
    # answer resolves the most doubt or novelty. "doubtful": the same by doubt alone. "rejected":
    # groups of rejected images, as in the paper. The last two ask about single images and accept
    # every image at arrival: "least-sure" those of greatest doubt, "random" any. They are the usual
    # methods without csim, for comparison.
    questions: Literal["new-or-doubtful", "doubtful", "rejected", "least-sure", "random"] = (
        "new-or-doubtful"
    )
    # The most questions per image of the stream, at every moment; 1 sets no limit, as in the paper.
    # Higher asks more. A rejected image that no question covers gets its best class in the end.
    budget: float = 0.05
    # Share of the budget that goes to images drawn at random, to estimate the accuracy without the
    # truth (docs/metrics.md). Higher narrows the estimate, but leaves fewer questions to learn
    # from; 0 estimates nothing. The published results are without it; `csim init` sets 0.1.
    audit: float = 0.0
    # Size of the recent window: the latest items that csim can ask about and revise. Higher finds
    # rarer classes and corrects more labels, but uses more memory and labels stay provisional
    # longer. Not for "rejected".
    recent: int = 2000
    # The most images that one answer labels, the one asked about included. The others must be
    # nearer to it than to any labelled image, and have the same best class. Higher labels more
    # images per answer, and more of them wrongly. Not for "rejected", where an answer labels its
    # whole group.
    spread: int = 20
    # Items between two searches for questions; more while 50 questions wait. Higher chooses among
    # more images at a time and takes less time, but finds new classes later. Above `recent`, a
    # search sees a sample: with four times `recent`, every fourth image. Not for "rejected".
    ask_every: int = 125
    # S_B, for "rejected". Higher collects more images of a new class before asking, so answers come
    # later.
    buffer_size: int = 1000
    # Radius of DBSCAN. Higher joins more candidates into one question, but groups may be mixed.
    # Tuned for `paper`: above 0.05 one mixed group of early candidates harms the store for long
    # (docs/tuning.md).
    eps: float = 0.02
    # minPts of DBSCAN. Higher leaves more candidates as groups of one, each a question of its own.
    min_points: int = 5
    # The image that a question shows: the most central member is typical, a random one is the
    # paper's choice. For "new-or-doubtful" and "doubtful", "medoid" means the image whose answer
    # resolves the most.
    representative: Literal["medoid", "random"] = "medoid"

    # Images kept for open and recent questions. Higher accepts later answers and undos, but uses
    # more memory.
    ledger_size: int = 10_000

    # S_D, images stored per class; 200 in the paper. Higher keeps older images, but uses more
    # memory.
    store_size: int = 1000
    # Of these, the most whose label is inferred: spread from an answer, or predicted. Higher learns
    # more from inferred labels, and from their mistakes.
    store_inferred: int = 50
    # T_D; 0.99 in the paper. csim stores an accepted image under its predicted class if its score
    # is above this. Higher stores fewer but more certain images; 1 stores none.
    store_score: float = 1.0
    # "protect-told" never replaces a label from a person by an inferred one; "oldest" is the
    # paper's.
    eviction: Literal["protect-told", "oldest"] = "protect-told"

    # S_update; 100 in the paper. csim learns a new class once it has more stored images than this.
    # Higher learns later but better.
    update_size: int = 0
    # Train again after this many new answers too. Higher trains less often; 0 never trains for
    # that, as in the paper.
    update_labels: int = 15
    # These answers must also be this share of all earlier ones, so that a long stream trains ever
    # more rarely. Higher trains less often.
    update_growth: float = 0.02

    # Seed of everything random: representatives, initial weights, batches.
    seed: int = 0

    def __new__(cls, **values: Any) -> Settings:  # noqa: ANN401
        """Raise a `SettingsError` for the old name of a setting."""
        _refuse_old_names(values)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if name in _RANGES:
                _check_number(name, value, kind)
            elif choices := get_args(kind):
                if value not in choices:
                    raise SettingsError(
                        f"{name} must be one of {', '.join(choices)}; got {value!r}"
                    )
            elif not isinstance(value, kind):
                raise SettingsError(f"{name} must be of type {kind.__name__}, got {value!r}")
        check_encoder(self.encoder)
        if self.ledger_size < self.buffer_size:
            raise SettingsError(
                f"ledger_size must be at least buffer_size ({self.buffer_size}), "
                f"got {self.ledger_size}; a full buffer becomes questions at once"
            )
        if self.update_steps and self.update_epochs:
            raise SettingsError(
                f"only one of update_steps and update_epochs may be above 0, got "
                f"{self.update_steps} and {self.update_epochs}; set the other to 0"
            )
        if self.kernel % 2 == 0:
            raise SettingsError(
                f"kernel must be an odd number, got {self.kernel}; an even one has no centre"
            )
        if self.update_size >= self.store_size:
            raise SettingsError(
                f"update_size must be less than store_size ({self.store_size}), "
                f"got {self.update_size}; "
                "csim learns a class once it has more than update_size stored images"
            )

    @classmethod
    def paper(cls, **changes: Any) -> Settings:  # noqa: ANN401
        """Return the preset that reproduces the paper, with `changes` applied."""
        return cls(**(_PAPER | changes))

    @classmethod
    def photographs(cls, **changes: Any) -> Settings:  # noqa: ANN401
        """Return the preset for a pretrained encoder, with `changes` applied.

        Training is quick then, so csim learns from every few answers. It searches as soon as the
        budget allows two questions. `csim init` takes this preset if the encoder is not "own".

        >>> Settings.photographs().ask_every, Settings.photographs(budget=0.01).ask_every
        (40, 125)
        """
        preset = cls(**(_PHOTOGRAPHS | changes))
        wanted = _QUESTIONS_PER_SEARCH / max(preset.budget, 1e-9)
        every = round(min(preset.ask_every, max(_PHOTOGRAPH_SEARCHES, wanted)))
        return preset if "ask_every" in changes else dataclasses.replace(preset, ask_every=every)

    def for_rate(self, images_per_second: float) -> Settings:
        """Return these settings for a fast stream: search at most 2.5 times a second.

        A search takes the same time at any rate, so `ask_every` grows with the rate. Where it
        exceeds `recent`, a search sees a sample of the images.

        >>> Settings().for_rate(1000).ask_every, Settings().for_rate(20_000).ask_every
        (400, 8000)
        """
        wanted = round(images_per_second * _SECONDS_BETWEEN_SEARCHES)
        return dataclasses.replace(self, ask_every=max(self.ask_every, wanted))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Return settings from the values that `to_dict` returned.

        >>> Settings.from_dict(Settings(seed=7).to_dict()).seed
        7
        """
        _refuse_old_names(values)
        if unknown := set(values) - {f.name for f in dataclasses.fields(cls)}:
            raise SettingsError(
                f"no setting is called {min(unknown)!r}; see docs/settings.md for the list"
            )
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values."""
        return dataclasses.asdict(self)


_SECONDS_BETWEEN_SEARCHES = 0.4  # at least
_PAPER: dict[str, Any] = {
    "conv_layers": 1,
    "channels": 20,
    "kernel": 5,
    "batch_norm": False,
    "scale": 5.0,
    "beta": 0.01,
    "class_loss": "triplets",
    "epochs": 10,
    "update_steps": 0,
    "update_rate": 1e-3,  # as `learning_rate`, for those who set `update_steps`
    "batches": "plain",
    "shift": 0,
    "threshold": "mean-bound-model",
    "alpha": 0.5,
    "questions": "rejected",
    "budget": 1.0,
    "representative": "random",
    "store_size": 200,
    "store_inferred": 200,
    "store_score": 0.99,
    "eviction": "oldest",
    "update_size": 100,
    "update_labels": 0,
}

# Chosen on fruits and traffic signs (docs/encoders.md).
_PHOTOGRAPHS: dict[str, Any] = {"encoder": "lite0", "update_labels": 5}
_QUESTIONS_PER_SEARCH = 2  # that the budget allows: a search without a question is wasted
_PHOTOGRAPH_SEARCHES = 40  # items apart at least: more searches would cost more than the encoder

_RANGES: dict[str, tuple[float, float]] = {
    "conv_layers": (0, 16),
    "channels": (1, 4096),
    "kernel": (1, 31),
    "hidden_units": (1, 10**6),
    "embedding_size": (2, 10**6),
    "scale": (0.1, 1000),
    "margin": (0, 100),
    "beta": (0, 1000),
    "batch_size": (2, 10**6),
    "epochs": (1, 10**6),
    "learning_rate": (1e-9, 10),
    "update_rate": (1e-9, 10),
    "update_steps": (0, 10**9),
    "update_epochs": (0, 10**6),
    "shift": (0, 1000),
    "keep": (1e-6, 1 - 1e-6),
    "alpha": (1e-6, 1 - 1e-6),
    "buffer_size": (1, 10**9),
    "budget": (0, 1),
    "audit": (0, 1),
    "recent": (1, 10**9),
    "spread": (1, 10**9),
    "ask_every": (1, 10**9),
    "eps": (1e-6, 2),
    "min_points": (1, 10**9),
    "ledger_size": (1, 10**9),
    "store_size": (2, 10**9),
    "store_inferred": (0, 10**9),
    "store_score": (0, 1),
    "update_size": (0, 10**9),
    "update_labels": (0, 10**9),
    "update_growth": (0, 10),
    "seed": (0, 2**62),
}

_RENAMED = {"look": "ask_every"}
# Settings that an earlier version did not have, with the value that gives what it did.
_ADDED: dict[str, Any] = {
    "encoder": "own",
    "update_epochs": 0,
    "audit": 0.0,
    "update_rate": 1e-3,
    "update_growth": 0.02,
}


def brought_up_to_date(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that an earlier version saved, as they are called and mean the same today.

    >>> brought_up_to_date({"look": 50})["ask_every"]
    50
    """
    return _ADDED | {_RENAMED.get(name, name): value for name, value in values.items()}


def _refuse_old_names(values: Mapping[str, Any]) -> None:
    for name in values:
        if name in _RENAMED:
            raise SettingsError(
                f"the setting {name!r} has a new name; write {_RENAMED[name]!r} instead"
            )


def _check_number(name: str, value: object, kind: type) -> None:
    allowed = int if kind is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, allowed):
        wanted = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {wanted}, got {value!r}")
    low, high = _RANGES[name]
    if not low <= value <= high:  # also false for NaN
        raise SettingsError(f"{name} must lie between {low:g} and {high:g}, got {value!r}")
