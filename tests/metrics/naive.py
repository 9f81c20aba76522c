"""A naive reading of a log: one image or class at a time, through the entire log each time."""

from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
    ClassRestored,
    Labelled,
    Rejected,
    Retrained,
    Revised,
)


def name_of(events, class_id):
    """Follow a class through all merges, then take its last name."""
    if class_id is None:
        return None
    for event in events:
        if isinstance(event, ClassesMerged) and event.source == class_id:
            class_id = event.target
    namings = [
        event
        for event in events
        if isinstance(event, ClassAdded | ClassRenamed) and event.class_id == class_id
    ]
    return namings[-1].name


def arrivals(events):
    return [event for event in events if isinstance(event, Accepted | Rejected)]


def events_of(events, item_id):
    """Return all events about the label of an image, its arrival first."""
    return [
        event
        for event in events
        if isinstance(event, Accepted | Rejected | Labelled | Revised) and event.item_id == item_id
    ]


def label_of(event):
    if isinstance(event, Rejected):
        return None
    return event.after if isinstance(event, Revised) else event.class_id


def is_refused(history, within):
    """Tell whether the last event about an image comes too late to replace a class."""
    if len(history) == 1 or within is None:
        return False
    is_late = history[-1].position > history[0].position + within
    return is_late and last_label(history[:-1], within) is not None


def last_label(history, within):
    """Return the class of an image after some events, by its class before the last of them."""
    if is_refused(history, within):
        return last_label(history[:-1], within)
    return label_of(history[-1])


def final_id(events, item_id, within):
    return last_label(events_of(events, item_id), within)


def final_name(events, item_id, within):
    history = events_of(events, item_id)
    return name_of(events, last_label(history, within)) if history else None


def known_to(events, item_id):
    """Return the names of the classes the model could output when an image arrived."""
    index = events.index(next(event for event in arrivals(events) if event.item_id == item_id))
    models = [before for before in range(index) if isinstance(events[before], Retrained)]
    if not models:
        return set()
    alive = (
        _resolve(class_id, events[models[-1] : index]) for class_id in events[models[-1]].class_ids
    )
    return {name_of(events, class_id) for class_id in alive if class_id is not None}


def _resolve(class_id, events):
    is_removed = False
    for event in events:
        if isinstance(event, ClassesMerged) and event.source == class_id:
            class_id = event.target
        if isinstance(event, ClassRemoved | ClassRestored) and event.class_id == class_id:
            is_removed = isinstance(event, ClassRemoved)
    return None if is_removed else class_id


def initially_known(events):
    """Return the names of the classes that a model could output before the stream began."""
    return {
        name_of(events, class_id)
        for event in events
        if isinstance(event, Retrained) and event.position == 0
        for class_id in event.class_ids
    }
