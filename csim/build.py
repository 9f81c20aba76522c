"""Settings → parts: the one place that knows every concrete part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from csim.ask.audit import Audit
from csim.ask.budget import Budget
from csim.ask.catalogue import Catalogue
from csim.ask.ledger import Ledger
from csim.decide.head import Head
from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold, Threshold
from csim.dialogue import Dialogue
from csim.discover.buffer import Buffer
from csim.discover.choice import AtRandom, Choice, LeastSure
from csim.discover.coverage import CoverDoubt
from csim.discover.discovery import Discovery
from csim.discover.projection import Projection
from csim.discover.purify import Purify
from csim.discover.recent import Recent
from csim.discover.representative import Medoid, RandomMember
from csim.discover.watch import NoveltyWatch
from csim.embed.augment import Augment
from csim.embed.backbone import GraphBackbone, OwnBackbone
from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import CheckedEncoder, WhitenedEncoder, WhitenedVectors
from csim.embed.gallery import Encoder, Gallery, ViewEncoder
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive, BatchHard, Literal, Mining
from csim.embed.network import ConvBody, pick_device
from csim.embed.network_trainer import NetworkTrainer, Progress
from csim.embed.pretrained import open_pretrained
from csim.embed.whitening import Whitening
from csim.engine import Engine
from csim.errors import EncoderError
from csim.free_memory import return_free_memory
from csim.records import EncoderId, Job, Model
from csim.retrain.evidence import Evidence, held_out, stored, trained
from csim.retrain.frozen_trainer import FrozenTrainer
from csim.retrain.model_trainer import ModelTrainer
from csim.retrain.schedule import Schedule
from csim.second_look import SecondLook
from csim.settings import Settings
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

_HELD_OUT = (
    0.1  # of told images: fewer would make the promise of `keep` unsteady, more would cost training
)
_SEARCH_TURNS = 5  # searches that share a comparison of known images, and a projection
# Searches that share a projection of frozen vectors: it takes ten times as long to fit.
_FROZEN_SEARCH_TURNS = 20
_MODELS_BETWEEN_RETURNS = 8  # of free memory to the system: more often takes time


_EVIDENCE: dict[str, Evidence] = {
    "quantile": held_out,
    "mean-bound": stored,
    "mean-bound-model": trained,
}


class Trainer(Protocol):
    """Train a model from a job; the same job and previous model give the same model."""

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        """Return the model of a job."""
        ...


@dataclass(frozen=True)
class Parts:
    """Hold a stream's engine and what trains its models."""

    engine: Engine
    trainer: Trainer


def build(
    settings: Settings, encoder: CheckedEncoder | None = None, *, choice: Choice | None = None
) -> Parts:
    """Return an engine without a model yet, and the trainer of its models.

    Parameters
    ----------
    settings
        Everything that can be tuned.
    encoder
        The frozen encoder that makes the items' vectors; the first model takes its name from it.
        None if csim trains its own network, or if there is a first model already.
    choice
        Chooses the questions; None is what the settings name.
    """
    eviction = ProtectTold() if settings.eviction == "protect-told" else OldestOut()
    store = ClassStore(settings.store_size, eviction, settings.store_inferred)
    is_frozen = encoder is not None or settings.encoder != "own"
    head = Head(make_threshold(settings, is_frozen=is_frozen))
    discovery = make_discovery(settings, choice, is_frozen=is_frozen)
    window = discovery.pool if isinstance(discovery.pool, Recent) else None
    ledger = Ledger(settings.ledger_size)
    audit = Audit(settings.audit * settings.budget, settings.seed)
    dialogue = Dialogue(
        ledger, Catalogue(), store, Budget(settings.budget), audit, discovery.pool.find
    )
    engine = Engine(
        open_gallery=partial(_open_gallery, settings, is_frozen=is_frozen),
        head=head,
        evidence=_EVIDENCE[settings.threshold],
        discovery=discovery,
        second_look=SecondLook(head, discovery, window, dialogue.release),
        dialogue=dialogue,
        store=store,
        store_score=settings.store_score,
        schedule=Schedule(
            update_size=settings.update_size,
            update_labels=settings.update_labels,
            update_growth=settings.update_growth,
            seed=settings.seed,
        ),
    )
    identity = encoder.identity if encoder else None
    trainer = make_frozen_trainer(settings, identity) if is_frozen else make_trainer(settings)
    return Parts(engine, trainer)


def make_trainer(settings: Settings) -> ModelTrainer:
    """Return what trains csim's own network."""
    return ModelTrainer(
        make_backbone(settings),
        make_network_trainer(settings),
        device=pick_device(settings.device),
        hold_out=_held_out_share(settings),
        update_steps=settings.update_steps,
        update_epochs=settings.update_epochs,
        scale=settings.scale,
        keep_trained=_keeps_trained(settings),
    )


def make_frozen_trainer(settings: Settings, identity: EncoderId | None) -> FrozenTrainer:
    """Return what trains models on the vectors of a frozen encoder."""
    return FrozenTrainer(
        identity,
        expect=settings.threshold == "quantile",
        keep_trained=_keeps_trained(settings),
    )


def open_frozen(
    settings: Settings, given: Encoder | None = None, expected: EncoderId | None = None
) -> CheckedEncoder | None:
    """Return the frozen encoder of the settings, or None if csim trains its own network.

    Parameters
    ----------
    settings
        Name the encoder.
    given
        An encoder of yours, used instead. The settings must then name none, or the very same.
    expected
        The encoder that was used before. Another one is refused.
    """
    if given is None:
        if settings.encoder == "own":
            return None
        device = pick_device(settings.device)
        return CheckedEncoder(open_pretrained(settings.encoder, device, expected))
    named: EncoderId | None = getattr(given, "identity", None)
    if settings.encoder not in ("own", named.name if named else "own"):
        raise EncoderError(
            f"there must be one encoder, but the settings name {settings.encoder!r} and another is "
            'given; leave one out, or write encoder="own" in the settings'
        )
    return CheckedEncoder(given)


def open_encoder(settings: Settings, model: Model, encoder: Encoder | None = None) -> ViewEncoder:
    """Return what embeds images with a trained model.

    Parameters
    ----------
    settings
        Those the model was trained with.
    model
        A trained model.
    encoder
        The encoder the model was trained on, if it was yours.
    """
    frozen = open_frozen(settings, encoder, model.encoder)
    if frozen is None:
        return make_backbone(settings).open(model)
    return WhitenedEncoder(frozen, Whitening.from_arrays(model.network))


def make_backbone(settings: Settings) -> OwnBackbone:
    """Return what makes csim's own networks."""
    backbone = GraphBackbone if settings.device == "onnx" else OwnBackbone
    return backbone(partial(make_body, settings), pick_device(settings.device))


def make_threshold(settings: Settings, *, is_frozen: bool = False) -> Threshold:
    """Return the rule that rejects images; none where questions do not come from rejected ones.

    Over frozen vectors (`is_frozen`) a class that no held-out image was given rejects nothing.
    """
    if settings.questions in ("least-sure", "random"):
        return NoThreshold()
    if settings.threshold == "quantile":
        return QuantileThreshold(keep=settings.keep, least_scores=int(is_frozen))
    return MeanBoundThreshold(alpha=settings.alpha)


def make_discovery(
    settings: Settings, choice: Choice | None = None, *, is_frozen: bool = False
) -> Discovery:
    """Return what finds the images to ask about; `choice` replaces the one of the settings.

    Over frozen vectors (`is_frozen`) a search looks at the neighbours of every image: it takes far
    less time than the encoder.
    """
    rng = np.random.default_rng(settings.seed)
    representative = Medoid() if settings.representative == "medoid" else RandomMember(rng)
    if settings.questions == "rejected":
        purify = Purify(
            eps=settings.eps, min_points=settings.min_points, representative=representative
        )
        return Discovery(Buffer(settings.buffer_size), purify, representative)
    watch = NoveltyWatch(1 if is_frozen else _SEARCH_TURNS)
    turns = _FROZEN_SEARCH_TURNS if is_frozen else _SEARCH_TURNS
    projection = Projection(turns, recent=settings.recent)
    stand_in = representative if settings.representative == "random" else None
    choices: dict[str, Choice] = {
        "new-or-doubtful": CoverDoubt(
            stand_in, spread=settings.spread, watch=watch, projection=projection
        ),
        "doubtful": CoverDoubt(stand_in, spread=settings.spread, projection=projection),
        "least-sure": LeastSure(),
        "random": AtRandom(rng),
    }
    return Discovery(
        Recent(settings.recent, settings.ask_every),
        choice or choices[settings.questions],
        representative,
    )


def make_body(settings: Settings, image_shape: tuple[int, ...]) -> ConvBody:
    """Return a fresh network body for images of a shape."""
    return ConvBody(
        image_shape,
        conv_layers=settings.conv_layers,
        channels=settings.channels,
        kernel=settings.kernel,
        batch_norm=settings.batch_norm,
        hidden_units=settings.hidden_units,
        embedding_size=settings.embedding_size,
    )


def make_network_trainer(settings: Settings) -> NetworkTrainer:
    """Return a trainer with the loss and batches of the settings."""
    minings: dict[str, type[Mining]] = {
        "all-positive": AllPositive,
        "batch-hard": BatchHard,
        "literal": Literal,
    }
    loss = JointLoss(
        beta=settings.beta,
        margin=settings.margin,
        mining=minings[settings.mining](),
        weighting=by_triplets if settings.class_loss == "triplets" else evenly,
    )
    batches = (
        Balanced(settings.batch_size)
        if settings.batches == "balanced"
        else Plain(settings.batch_size)
    )
    augment = Augment(settings.shift, flip=settings.flip)
    return NetworkTrainer(
        loss,
        batches,
        augment,
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        update_rate=settings.update_rate,
    )


def _open_gallery(
    settings: Settings, model: Model, before: Gallery | None, *, is_frozen: bool
) -> Gallery:
    """Return what views the items of a model: their pixels, or their frozen vectors.

    `before` is the gallery of the model in use so far.
    """
    if model.version % _MODELS_BETWEEN_RETURNS == 0:
        return_free_memory()
    if is_frozen:
        whitening = Whitening.from_arrays(model.network)
        vectors = WhitenedVectors(whitening)
        # An earlier version of csim named no model: each had a whitening of its own.
        metric = whitening.version or model.version
        return Gallery(vectors, model.version, metric=metric, recent=settings.recent)
    encoder = make_backbone(settings).open(model)
    return Gallery(encoder, model.version, recent=settings.recent, before=before)


def _held_out_share(settings: Settings) -> float:
    return _HELD_OUT if settings.threshold == "quantile" else 0


def _keeps_trained(settings: Settings) -> bool:
    return settings.threshold == "mean-bound-model"
