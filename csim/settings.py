"""All that can be tuned, in one frozen dataclass, and the presets.

`Settings()` is the default preset: the paper's method with the improvements that cost nothing.
`Settings.paper()` reproduces the paper. Both run through the same engine and the same parts.
The comment above a field gives the paper's symbol, if it has one, and the reason for the default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from csim.errors import SettingsError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be tuned.

    Raises
    ------
    SettingsError
        If a value lies outside its range; the message names it.

    Examples
    --------
    >>> Settings(buffer_size=500).buffer_size
    500
    >>> Settings.paper().threshold
    'mean-bound'
    """

    # One layer is the paper's choice: a second gained it nothing and doubled its training time.
    # Raising it gives larger receptive fields and slower training; each layer halves the image.
    conv_layers: int = 1
    # The paper does not say. More channels see more kinds of edges and cost time in proportion.
    channels: int = 20
    # n. Below 100 the paper loses accuracy; above 200 it only gains cost.
    hidden_units: int = 200
    # d'. The paper does not say. A larger embedding leaves more room for new classes.
    embedding_size: int = 200

    # Of the cosine in the one-vs-rest layer; training hardly moves it. Raising it lets scores come nearer to 0 and 1:
    # below 9.2 no score passes T_D = 0.99, so that only what people told, or was grouped with it, is stored.
    scale: float = 10.0

    # γ. Raising it pushes classes farther apart; above 1 the paper overfits.
    margin: float = 1.0
    # β, the weight of the triplet loss. Raising it makes known classes tighter and pulls new images onto them, so
    # that fewer are noticed; no figure gained from it on validation images (docs/training.md), so the default
    # leaves it out. `paper` has the smallest weight that shows.
    beta: float = 0.0
    # Which triplets count: every one of positive loss is the one reading of the paper that never collapsed.
    mining: Literal["all-positive", "batch-hard", "literal"] = "all-positive"
    # How images weigh in the cross-entropy: "triplets" is the paper's objective, each by how many
    # triplets it stands in; "even" is the plain mean, which treats rare and common classes alike.
    class_loss: Literal["triplets", "even"] = "even"

    # S_mini. Larger batches hold more triplets and take fewer steps.
    batch_size: int = 64
    # n_e. More epochs fit the store better and take longer in proportion.
    epochs: int = 10
    # For Adam. Raising it learns faster until it no longer settles.
    learning_rate: float = 1e-3
    # "balanced" draws every class equally often, so that a young class is not drowned.
    batches: Literal["plain", "balanced"] = "balanced"
    # Continue from the model before instead of starting anew: fewer epochs then do. With the paper's ten it gains
    # nothing.
    warm_start: bool = False
    # "auto" takes a GPU if there is one; else any name that torch knows.
    device: str = "auto"

    # "mean-bound" is the paper's Student bound: it rejects a large share of known images, and with them nearly all
    # new ones. "quantile" keeps a promise about known images; as long as only rejected images are looked at, it
    # lets too many new ones through (docs/settings.md).
    threshold: Literal["mean-bound", "quantile"] = "mean-bound"
    # For "quantile": the share of known images to accept. Raising it spends fewer labels on known images
    # and lets more unknown ones through.
    keep: float = 0.95
    # For "quantile": the share of labelled images kept out of training to measure scores on.
    # Raising it makes the promise steadier and the training set smaller.
    hold_out: float = 0.1
    # For "mean-bound": α. Raising it lifts the threshold, at 0.5 to the mean score and then past it, and rejects more.
    alpha: float = 0.05

    # What is asked about: "groups" of rejected images, the paper's way; or single images, every image being given a
    # class at arrival: those the network is "least-sure" of, or any, at "random". The latter two are what people
    # do without csim; they are here to be compared with.
    questions: Literal["groups", "least-sure", "random"] = "groups"
    # Questions per image of the stream, at every moment; 1 sets no limit. Raising it asks more. Candidates that no
    # question can be afforded for get their best class.
    budget: float = 1.0
    # For "least-sure" and "random": images among which to choose at a time. Raising it chooses better and answers
    # later.
    window: int = 500
    # S_B. A larger buffer shows more of a new class at once and answers later.
    buffer_size: int = 1000
    # Purify when the oldest candidate is this many images old, so that a slow stream need not wait for a
    # full buffer; 0 waits for ever, as the paper does.
    patience: int = 2000
    # "adaptive" takes DBSCAN's radius from the candidates; "dbscan" has a fixed one, which stops to fit as
    # classes are added: most candidates then become questions of their own (docs/settings.md).
    grouping: Literal["adaptive", "dbscan"] = "adaptive"
    # For "adaptive": the share of candidates that lie dense. Raising it joins more candidates into one question
    # and risks mixed groups. Chosen on the digits with buffers of 40, seeds 100 to 111: the worst of them ends at
    # 94 % with 0.45 and at 85 % with 0.5, for 17 and 15 % of labels in the mean.
    core_share: float = 0.45
    # For "dbscan": its radius. Raising it joins more candidates into one question and risks mixed groups. Chosen for
    # `paper`: above 0.05 one mixed group of the first candidates spoils the store for long (docs/tuning.md).
    eps: float = 0.02
    # DBSCAN's minPts. Raising it leaves more candidates as groups of one, each asked on its own.
    min_points: int = 3
    # Who stands for a group: the most central member is typical, a random one is the paper's.
    representative: Literal["medoid", "random"] = "medoid"

    # Images kept for open and recent questions. Raising it lets answers and undos come later, for memory.
    ledger_size: int = 10_000

    # S_D, images kept per class. Raising it remembers longer and trains longer.
    store_size: int = 200
    # T_D. An accepted image scoring above it is stored under its predicted class. Raising it stores fewer
    # and surer ones.
    store_score: float = 0.99
    # "protect-told" never gives up a label that a person told for a predicted one.
    eviction: Literal["protect-told", "oldest"] = "protect-told"

    # S_update, 100 in the paper. A new class is learned once it has more stored images. Raising it learns later and
    # better.
    update_size: int = 20
    # Train anew also after so many answers, if they are half as many again as all before; 0 never does, as the paper.
    # Raising it trains less often. With it and the smaller update_size, Fashion-MNIST (every 5th image, seeds
    # 100 and 101) ends at 81.1 and 76.0 % instead of 72.7 and 76.3 %.
    update_labels: int = 50

    # The seed of everything that draws: representatives, initial weights, batches.
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if name in _RANGES:
                _check_number(name, value, kind)
            elif choices := get_args(kind):
                if value not in choices:
                    raise SettingsError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
            elif not isinstance(value, kind):
                raise SettingsError(f"{name} must be of type {kind.__name__}, got {value!r}")
        pool = "buffer_size" if self.questions == "groups" else "window"
        if self.ledger_size < (most := getattr(self, pool)):
            raise SettingsError(
                f"ledger_size must be at least {pool} ({most}), got {self.ledger_size}: "
                f"a full {pool.removesuffix('_size')} becomes questions at once"
            )
        if self.update_size >= self.store_size:
            raise SettingsError(
                f"update_size must be less than store_size ({self.store_size}), got {self.update_size}: "
                "a class is learned once it has more than update_size stored images"
            )

    @classmethod
    def paper(cls, **changes: Any) -> Settings:  # noqa: ANN401
        """Return the preset that reproduces the paper, with `changes` on top."""
        return cls(**(_PAPER | changes))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Return the settings that `to_dict` wrote.

        >>> Settings.from_dict(Settings(seed=7).to_dict()).seed
        7
        """
        if unknown := set(values) - {f.name for f in dataclasses.fields(cls)}:
            raise SettingsError(f"no setting is called {min(unknown)!r}; see docs/settings.md for the list")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values."""
        return dataclasses.asdict(self)


_PAPER: dict[str, Any] = {
    "scale": 5.0,
    "beta": 0.01,
    "alpha": 0.99,
    "min_points": 5,
    "class_loss": "triplets",
    "batches": "plain",
    "patience": 0,
    "grouping": "dbscan",
    "representative": "random",
    "eviction": "oldest",
    "update_size": 100,
    "update_labels": 0,
}

_RANGES: dict[str, tuple[float, float]] = {
    "conv_layers": (0, 16),
    "channels": (1, 4096),
    "hidden_units": (1, 10**6),
    "embedding_size": (2, 10**6),
    "scale": (0.1, 1000),
    "margin": (0, 100),
    "beta": (0, 1000),
    "batch_size": (2, 10**6),
    "epochs": (1, 10**6),
    "learning_rate": (1e-9, 10),
    "keep": (1e-6, 1 - 1e-6),
    "hold_out": (0.01, 0.5),
    "alpha": (1e-6, 1 - 1e-6),
    "buffer_size": (1, 10**9),
    "patience": (0, 10**9),
    "budget": (0, 1),
    "window": (1, 10**9),
    "core_share": (0, 1),
    "eps": (1e-6, 2),
    "min_points": (1, 10**9),
    "ledger_size": (1, 10**9),
    "store_size": (2, 10**9),
    "store_score": (0, 1),
    "update_size": (1, 10**9),
    "update_labels": (0, 10**9),
    "seed": (0, 2**62),
}


def _check_number(name: str, value: object, kind: type) -> None:
    allowed = int if kind is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, allowed):
        wanted = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {wanted}, got {value!r}")
    low, high = _RANGES[name]
    if not low <= value <= high:  # also false for NaN
        raise SettingsError(f"{name} must lie between {low:g} and {high:g}, got {value!r}")
