"""What the system does now, in a few words."""

from __future__ import annotations

import time

from csim.folder.reader import Reader
from csim.web.service import Service

_RECENT_SECONDS = 5.0  # without an image for longer, csim is not classifying


def activity(reader: Reader, service: Service) -> str:
    """Return what the system does now: it classifies, trains, waits, or does not run."""
    if service.engine.state not in ("running", "waiting"):
        return f"not running: {service.engine.reason}"
    doing = []
    if _is_classifying(reader):
        doing.append("classifying")
    if (version := reader.models.in_training()) is not None:
        doing.append(f"training model {version}")
    if not doing and reader.count("open"):
        doing.append("waiting for answers")
    return ", ".join(doing) or "waiting for images"


def _is_classifying(reader: Reader) -> bool:
    seen = reader.timeline.last_image_time()
    return seen is not None and time.time() - seen < _RECENT_SECONDS
