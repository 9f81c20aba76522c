"""Settings → parts: the one place that knows every concrete part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from csim.ask.budget import Budget
from csim.ask.catalogue import Catalogue
from csim.ask.ledger import Ledger
from csim.decide.head import Head
from csim.decide.thresholds import MeanBoundThreshold, NoThreshold, QuantileThreshold, Threshold
from csim.dialogue import Dialogue
from csim.discover.buffer import Buffer
from csim.discover.choice import AtRandom, Choice, LeastSure
from csim.discover.coverage import CoverDoubt, doubtful, new_or_doubtful
from csim.discover.discovery import Discovery
from csim.discover.purify import Purify
from csim.discover.recent import Recent
from csim.discover.representative import Medoid, RandomMember
from csim.embed.augment import Augment
from csim.embed.backbone import Backbone, ForeignBackbone, OwnBackbone
from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import CheckedEncoder
from csim.embed.gallery import Gallery, ViewEncoder
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive, BatchHard, Literal, Mining
from csim.embed.network import ConvBody, pick_device
from csim.embed.network_trainer import NetworkTrainer
from csim.engine import Engine
from csim.records import Encoder, Model
from csim.retrain.evidence import Evidence, held_out, stored, trained
from csim.retrain.model_trainer import ModelTrainer
from csim.retrain.schedule import Schedule
from csim.second_look import SecondLook
from csim.settings import Settings
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold

_HELD_OUT = (
    0.1  # of told images: fewer would make the promise of `keep` unsteady, more would cost training
)


_EVIDENCE: dict[str, Evidence] = {
    "quantile": held_out,
    "mean-bound": stored,
    "mean-bound-model": trained,
}


@dataclass(frozen=True)
class Parts:
    """Hold a stream's engine and what trains its models."""

    engine: Engine
    trainer: ModelTrainer


def build(settings: Settings, encoder: Encoder | None = None) -> Parts:
    """Return an engine without a model yet, and the trainer of its models.

    Parameters
    ----------
    settings
        Everything that can be tuned.
    encoder
        An encoder of your own, used instead of csim's network.
    """
    eviction = ProtectTold() if settings.eviction == "protect-told" else OldestOut()
    store = ClassStore(settings.store_size, eviction, settings.store_inferred)
    head = Head(make_threshold(settings))
    discovery = make_discovery(settings)
    window = discovery.pool if isinstance(discovery.pool, Recent) else None
    ledger = Ledger(settings.ledger_size)
    dialogue = Dialogue(ledger, Catalogue(), store, Budget(settings.budget))
    is_held_out = settings.threshold == "quantile"
    engine = Engine(
        open_gallery=lambda model: Gallery(open_encoder(settings, model, encoder), model.version),
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
            seed=settings.seed,
        ),
    )
    trainer = ModelTrainer(
        make_backbone(settings, encoder),
        make_network_trainer(settings),
        device=pick_device(settings.device),
        hold_out=_HELD_OUT if is_held_out else 0,
        update_steps=settings.update_steps,
        scale=settings.scale,
        keep_trained=settings.threshold == "mean-bound-model",
    )
    return Parts(engine, trainer)


def open_encoder(settings: Settings, model: Model, encoder: Encoder | None = None) -> ViewEncoder:
    """Return what embeds images with a trained model.

    Parameters
    ----------
    settings
        Those the model was trained with.
    model
        A trained model.
    encoder
        The encoder the model was trained on, if it was not csim's own network.
    """
    return make_backbone(settings, encoder).open(model)


def make_backbone(settings: Settings, encoder: Encoder | None = None) -> Backbone:
    """Return what comes before the one-vs-rest layer: csim's network, or a given encoder."""
    device = pick_device(settings.device)
    if encoder is None:
        return OwnBackbone(partial(make_body, settings), device)
    return ForeignBackbone(CheckedEncoder(encoder), device)


def make_threshold(settings: Settings) -> Threshold:
    """Return the rule that rejects images; none where questions do not come from rejected ones."""
    if settings.questions in ("least-sure", "random"):
        return NoThreshold()
    if settings.threshold == "quantile":
        return QuantileThreshold(keep=settings.keep)
    return MeanBoundThreshold(alpha=settings.alpha)


def make_discovery(settings: Settings) -> Discovery:
    """Return what finds the images to ask about."""
    rng = np.random.default_rng(settings.seed)
    representative = Medoid() if settings.representative == "medoid" else RandomMember(rng)
    if settings.questions == "rejected":
        purify = Purify(
            eps=settings.eps, min_points=settings.min_points, representative=representative
        )
        return Discovery(Buffer(settings.buffer_size), purify, representative)
    stand_in = representative if settings.representative == "random" else None
    choices: dict[str, Choice] = {
        "new-or-doubtful": CoverDoubt(stand_in, spread=settings.spread, weigh=new_or_doubtful),
        "doubtful": CoverDoubt(stand_in, spread=settings.spread, weigh=doubtful),
        "least-sure": LeastSure(),
        "random": AtRandom(rng),
    }
    return Discovery(
        Recent(settings.recent, settings.ask_every), choices[settings.questions], representative
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
        loss, batches, augment, epochs=settings.epochs, learning_rate=settings.learning_rate
    )
