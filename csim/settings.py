"""All that can be tuned, in one frozen dataclass, and the presets.

`Settings()` is the default preset: it goes past the paper, to spend few labels (docs/method.md).
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

    # One layer is the paper's choice; a second pays where classes are many (docs/ablation.md). Raising it gives larger
    # receptive fields and slower training; each layer halves the image.
    conv_layers: int = 2
    # Of the first layer; each further one has twice as many. The paper does not say; `paper` has 20. More channels see
    # more kinds of edges and cost time in proportion.
    channels: int = 16
    # Pixels that a convolution spans, odd; 5 in the paper. Raising it sees larger shapes at once, for time that grows
    # with its square.
    kernel: int = 3
    # Normalise over each batch: a network that goes on from the last then takes in a new class in far fewer steps.
    # Not in the paper.
    batch_norm: bool = True
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
    # n_e. More epochs fit the first labelled images better and take longer in proportion.
    epochs: int = 14
    # Batches of every later training, which goes on from the model before; 0 starts anew and trains for `epochs`, as
    # the paper does. Raising it fits better and takes longer in proportion.
    update_steps: int = 100
    # For Adam. Raising it learns faster until it no longer settles.
    learning_rate: float = 1e-3
    # "balanced" draws every class equally often, so that a young class is not drowned.
    batches: Literal["plain", "balanced"] = "balanced"
    # Move every image by up to so many pixels each time it is learned from; 0 in the paper. Raising it makes few
    # images teach more, until things leave the picture.
    shift: int = 2
    # Mirror every second image that is learned from: right for photographs, wrong for letters, so off unless asked for.
    flip: bool = False
    # "auto" takes a GPU if there is one; else any name that torch knows.
    device: str = "auto"

    # "quantile" keeps a promise about known images. "mean-bound" is the paper's Student bound: it rejects a large
    # share of known images, and with them nearly all new ones.
    threshold: Literal["mean-bound", "quantile"] = "quantile"
    # For "quantile": the share of known images to accept at arrival. Raising it lets fewer known images wait, and
    # more unknown ones be taken for known at first.
    keep: float = 0.98
    # For "mean-bound": α. Raising it lifts the threshold, at 0.5 to the mean score and then past it, and rejects more.
    alpha: float = 0.05

    # What is asked about. "new-or-doubtful": recent images, accepted or not, whose answers settle the most;
    # "doubtful": the same without an eye for what is new. "rejected": groups of rejected images, the paper's way. Or
    # single images, every image being given a class at arrival: those the network is "least-sure" of, or any, at
    # "random"; these two are what people do without csim, here to be compared with.
    questions: Literal["new-or-doubtful", "doubtful", "rejected", "least-sure", "random"] = (
        "new-or-doubtful"
    )
    # Questions per image of the stream, at every moment; 1 sets no limit, as the paper. Raising it asks more. What no
    # question can be afforded for gets its best class in the end.
    budget: float = 0.05
    # Arrivals in which an image can be asked about and its class revised. Raising it sees more of a rare new class and
    # mends more, for memory and later last words. Not for "rejected".
    recent: int = 2000
    # Images that one answer may speak for, the one asked about included, if they are nearer to it than to any labelled
    # image and the model takes them for the same. Raising it labels more per answer, and more wrongly. Not for
    # "rejected": there an answer speaks for its whole group.
    spread: int = 20
    # Arrivals between two looks for questions. Raising it chooses among more at a time, finds new classes later and
    # takes less time. Not for "rejected".
    ask_every: int = 125
    # S_B. A larger buffer shows more of a new class at once and answers later.
    buffer_size: int = 1000
    # DBSCAN's radius. Raising it joins more candidates into one question and risks mixed groups. Chosen for
    # `paper`: above 0.05 one mixed group of the first candidates spoils the store for long (docs/tuning.md).
    eps: float = 0.02
    # minPts. Raising it leaves more candidates as groups of one, each asked on its own.
    min_points: int = 5
    # Who stands for a group: the most central member is typical, a random one is the paper's. For "new-or-doubtful" and
    # "doubtful" it is the image whose answer settles the most, or a random one of those it speaks for.
    representative: Literal["medoid", "random"] = "medoid"

    # Images kept for open and recent questions. Raising it lets answers and undos come later, for memory.
    ledger_size: int = 10_000

    # S_D, images kept per class; 200 in the paper. Raising it remembers longer, for memory.
    store_size: int = 1000
    # Of these, how many whose label nobody told: spread from an answer, or predicted. Raising it learns more from
    # spread answers, and from their mistakes.
    store_inferred: int = 50
    # T_D, 0.99 in the paper. An accepted image scoring above it is stored under its predicted class; 1 stores none.
    # Raising it stores fewer and surer ones.
    store_score: float = 1.0
    # "protect-told" never gives up a label that a person told for a predicted one.
    eviction: Literal["protect-told", "oldest"] = "protect-told"

    # S_update, 100 in the paper. A new class is learned once it has more stored images. Raising it learns later and
    # better.
    update_size: int = 0
    # Train anew also after so many answers, if they are a fiftieth of all before; 0 never does, as the paper.
    # Raising it trains less often.
    update_labels: int = 15

    # The seed of everything that draws: representatives, initial weights, batches.
    seed: int = 0

    def __new__(cls, **values: Any) -> Settings:  # noqa: ANN401
        """Refuse a name that a setting had in an earlier version."""
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
        if self.ledger_size < self.buffer_size:
            raise SettingsError(
                f"ledger_size must be at least buffer_size ({self.buffer_size}), got {self.ledger_size}: "
                "a full buffer becomes questions at once"
            )
        if self.ask_every > self.recent:
            raise SettingsError(
                f"ask_every must be at most recent ({self.recent}), got {self.ask_every}: no image may be missed"
            )
        if self.kernel % 2 == 0:
            raise SettingsError(
                f"kernel must be an odd number, got {self.kernel}: an even one has no middle"
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
        _refuse_old_names(values)
        if unknown := set(values) - {f.name for f in dataclasses.fields(cls)}:
            raise SettingsError(
                f"no setting is called {min(unknown)!r}; see docs/settings.md for the list"
            )
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as plain values."""
        return dataclasses.asdict(self)


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
    "batches": "plain",
    "shift": 0,
    "threshold": "mean-bound",
    "alpha": 0.99,
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
    "update_steps": (0, 10**9),
    "shift": (0, 1000),
    "keep": (1e-6, 1 - 1e-6),
    "alpha": (1e-6, 1 - 1e-6),
    "buffer_size": (1, 10**9),
    "budget": (0, 1),
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
    "seed": (0, 2**62),
}


_RENAMED = {"look": "ask_every"}


def with_current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that an earlier version stored, under the names they have today.

    >>> with_current_names({"look": 50, "seed": 1})
    {'ask_every': 50, 'seed': 1}
    """
    return {_RENAMED.get(name, name): value for name, value in values.items()}


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
