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
from csim.discover.discovery import Discovery
from csim.discover.purify import AdaptiveDbscan, Clustering, Dbscan, Singles
from csim.discover.representative import Medoid, RandomMember
from csim.discover.window import Window, at_random, least_sure
from csim.embed.backbone import ForeignBackbone, OwnBackbone
from csim.embed.batches import Balanced, Plain
from csim.embed.encoder import CheckedEncoder
from csim.embed.losses import JointLoss, by_triplets, evenly
from csim.embed.mining import AllPositive, BatchHard, Literal, Mining
from csim.embed.network import ConvBody, pick_device
from csim.embed.training import Trainer
from csim.engine import Engine
from csim.records import Encoder
from csim.retrain.evidence import held_out, stored
from csim.retrain.refit import Refit
from csim.retrain.schedule import Schedule
from csim.settings import Settings
from csim.store.class_store import ClassStore
from csim.store.eviction import OldestOut, ProtectTold


@dataclass(frozen=True)
class Parts:
    """A stream's engine and what trains its models."""

    engine: Engine
    refit: Refit


def build(settings: Settings, encoder: Encoder | None = None) -> Parts:
    """Return an engine without a model yet, and the trainer of its models.

    Parameters
    ----------
    settings
        All that can be tuned.
    encoder
        A foreign encoder to stand in for our own network.
    """
    device = pick_device(settings.device)
    backbone = (
        OwnBackbone(partial(make_body, settings), device)
        if encoder is None
        else ForeignBackbone(CheckedEncoder(encoder), device)
    )
    store = ClassStore(settings.store_size, ProtectTold() if settings.eviction == "protect-told" else OldestOut())
    is_held_out = settings.threshold == "quantile"
    engine = Engine(
        open_encoder=backbone.open,
        head=Head(make_threshold(settings)),
        evidence=held_out if is_held_out or settings.questions != "groups" else stored,
        discovery=make_discovery(settings),
        dialogue=Dialogue(Ledger(settings.ledger_size), Catalogue(), store, Budget(settings.budget)),
        store=store,
        store_score=settings.store_score,
        schedule=Schedule(update_size=settings.update_size, update_labels=settings.update_labels, seed=settings.seed),
    )
    refit = Refit(
        backbone,
        make_trainer(settings),
        device=device,
        hold_out=settings.hold_out if is_held_out else 0,
        warm_start=settings.warm_start,
        scale=settings.scale,
    )
    return Parts(engine, refit)


def make_threshold(settings: Settings) -> Threshold:
    """Return the rule that rejects images; none where questions do not come from rejected ones."""
    if settings.questions != "groups":
        return NoThreshold()
    if settings.threshold == "quantile":
        return QuantileThreshold(keep=settings.keep)
    return MeanBoundThreshold(alpha=settings.alpha)


def make_discovery(settings: Settings) -> Discovery:
    """Return what finds the images to ask about."""
    rng = np.random.default_rng(settings.seed)
    if settings.questions != "groups":
        choose = least_sure if settings.questions == "least-sure" else at_random
        return Discovery(Window(settings.window, choose, rng), Singles(), Medoid())
    clustering: Clustering = (
        Dbscan(eps=settings.eps, min_points=settings.min_points)
        if settings.grouping == "dbscan"
        else AdaptiveDbscan(core_share=settings.core_share, min_points=settings.min_points)
    )
    representative = Medoid() if settings.representative == "medoid" else RandomMember(rng)
    return Discovery(Buffer(settings.buffer_size, settings.patience), clustering, representative)


def make_body(settings: Settings, image_shape: tuple[int, ...]) -> ConvBody:
    """Return a fresh network body for images of a shape."""
    return ConvBody(
        image_shape,
        conv_layers=settings.conv_layers,
        channels=settings.channels,
        hidden_units=settings.hidden_units,
        embedding_size=settings.embedding_size,
    )


def make_trainer(settings: Settings) -> Trainer:
    """Return a trainer with the loss and batches of the settings."""
    minings: dict[str, type[Mining]] = {"all-positive": AllPositive, "batch-hard": BatchHard, "literal": Literal}
    loss = JointLoss(
        beta=settings.beta,
        margin=settings.margin,
        mining=minings[settings.mining](),
        weighting=by_triplets if settings.class_loss == "triplets" else evenly,
    )
    batches = Balanced(settings.batch_size) if settings.batches == "balanced" else Plain(settings.batch_size)
    return Trainer(loss, batches, epochs=settings.epochs, learning_rate=settings.learning_rate)
