"""Figures for Prometheus: what the service did since it started, and how the stream is now."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

import csim.records as r
from csim.folder.reader import Reader
from csim.folder.status import Status, read_status
from csim.metrics.audit import AuditFigures

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """Count what happens, and render it with the state of the folder."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        add = self._registry
        self._requests = Histogram(
            "csim_request_seconds",
            "Time from the first byte of a request to the last of its answer.",
            ["operation", "status"],
            buckets=_SECONDS,
            registry=add,
        )
        self._steps = Histogram(
            "csim_step_seconds",
            "Time of the engine for one micro-batch.",
            buckets=_SECONDS,
            registry=add,
        )
        self._events = Counter(
            "csim_events", "What happened since the service started.", ["kind"], registry=add
        )
        self._gauges = {
            name: Gauge(f"csim_{name}", text, registry=add) for name, text in _GAUGES.items()
        }
        self._questions = _Counts("csim_questions", "Questions by status.", "status", add)
        self._troubles = _Counts(
            "csim_troubles", "Files that csim cannot use, by kind.", "kind", add
        )
        self._accuracy = Gauge(
            "csim_accuracy",
            "Share of images with the right class, as the audit estimates it.",
            ["of", "bound"],
            registry=add,
        )
        self._workers = Gauge(
            "csim_workers",
            "Workers of the run, by their version of csim and of the model.",
            ["csim", "model"],
            registry=add,
        )

    def note_request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(operation, str(status)).observe(seconds)

    def note_step(self, events: Sequence[r.Event], seconds: float) -> None:
        """Count what a step of the engine did."""
        self._steps.observe(seconds)
        for event in events:
            self._events.labels(type(event).__name__).inc()

    def render(self, reader: Reader, *, queued: int, is_running: bool) -> bytes:
        """Return all figures as Prometheus reads them."""
        with reader.transaction():
            status = read_status(reader)
            used = reader.models.installed(status.model)
        self._set(status, queued=queued, is_running=is_running)
        self._gauges["training_seconds"].set(used.seconds or 0)
        self._gauges["model_age_seconds"].set(
            0 if used.time is None else max(0.0, time.time() - used.time)
        )
        return generate_latest(self._registry)

    def _set(self, status: Status, *, queued: int, is_running: bool) -> None:
        values = {
            "images": status.position,
            "open_questions": status.questions.get("open", 0),
            "audit_answers": 0 if status.audit is None else status.audit.answers,
            "labels_spent": status.told,
            "label_budget": status.budget * status.position,
            "images_without_class": status.waiting,
            "junk_images": status.junk,
            "classes": len(status.classes),
            "model_version": status.model,
            "inbox_messages": status.messages,
            "queue_images": queued,
            "engine_running": is_running,
            "folder_bytes": status.bytes,
            "worker_lag_images": 0 if status.workers is None else status.workers.lag,
            "worker_retries": 0 if status.workers is None else status.workers.retries,
        }
        for name, value in values.items():
            self._gauges[name].set(value)
        self._questions.set(status.questions)
        self._troubles.set(status.troubles)
        if status.audit is not None:
            self._set_accuracy(status.audit)
        self._workers.clear()  # a version that no worker has any more
        for (csim, model), count in (status.workers.versions if status.workers else {}).items():
            self._workers.labels(csim, "none" if model is None else str(model)).set(count)

    def _set_accuracy(self, audit: AuditFigures) -> None:
        for of, estimate in (("arrival", audit.at_arrival), ("today", audit.today)):
            for bound, percent in asdict(estimate).items():
                self._accuracy.labels(of, bound).set(percent / 100)


class _Counts:
    """A gauge by one label. A value that is no longer counted is 0 and does not stay."""

    def __init__(self, name: str, text: str, label: str, registry: CollectorRegistry) -> None:
        self._gauge = Gauge(name, text, [label], registry=registry)
        self._seen: dict[str, int] = {}

    def set(self, counts: Mapping[str, int]) -> None:
        self._seen = {**dict.fromkeys(self._seen, 0), **counts}
        for value, count in self._seen.items():
            self._gauge.labels(value).set(count)


_GAUGES = {
    "images": "Images that the stream has taken.",
    "open_questions": "Questions that wait for an answer.",
    "audit_answers": "Answers to the audit, from which the accuracy is estimated.",
    "labels_spent": "Labels that people gave.",
    "label_budget": "Labels that the budget allows so far.",
    "images_without_class": "Images that have no class today and are not junk.",
    "junk_images": "Images that are junk today.",
    "classes": "Classes of today.",
    "model_version": "The model in use.",
    "model_age_seconds": "Time since the model in use took over.",
    "training_seconds": "Time that training the model in use took.",
    "inbox_messages": "Messages that the engine has not taken yet.",
    "queue_images": "Images that wait for the engine.",
    "engine_running": "1 if this service runs the engine.",
    "folder_bytes": "Size of the stream folder.",
    "worker_lag_images": "Images that came and are not in the folder yet, of a run with workers.",
    "worker_retries": "Calls or messages that a run gave to another worker since it started.",
}
