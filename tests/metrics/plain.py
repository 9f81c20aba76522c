"""The log read plainly: one image or class at a time, each time through the whole log. Slow, and hard to get wrong."""

from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassRemoved,
    ClassRenamed,
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


def words(events, item_id):
    """Return all that was said of an image, its arrival first."""
    return [
        event
        for event in events
        if isinstance(event, Accepted | Rejected | Labelled | Revised) and event.item_id == item_id
    ]


def said(word):
    if isinstance(word, Rejected):
        return None
    return word.after if isinstance(word, Revised) else word.class_id


def is_refused(own, within):
    """Tell whether the last of an image's words comes too late to replace a class."""
    if len(own) == 1 or within is None:
        return False
    return own[-1].position > own[0].position + within and last_label(own[:-1], within) is not None


def last_label(own, within):
    """Return the class that an image has after some words, by what it had before the last of them."""
    return last_label(own[:-1], within) if is_refused(own, within) else said(own[-1])


def final_id(events, item_id, within):
    return last_label(words(events, item_id), within)


def final_name(events, item_id, within):
    own = words(events, item_id)
    return name_of(events, last_label(own, within)) if own else None


def known_to(events, item_id):
    """Return the names of what the model could output when an image arrived."""
    place = events.index(next(event for event in arrivals(events) if event.item_id == item_id))
    models = [before for before in range(place) if isinstance(events[before], Retrained)]
    if not models:
        return set()
    alive = (
        _still_there(class_id, events[models[-1] : place])
        for class_id in events[models[-1]].class_ids
    )
    return {name_of(events, class_id) for class_id in alive if class_id is not None}


def _still_there(class_id, events):
    for event in events:
        if isinstance(event, ClassesMerged) and event.source == class_id:
            class_id = event.target
        if isinstance(event, ClassRemoved) and event.class_id == class_id:
            return None
    return class_id


def first_known(events):
    """Return the names of what a model could output before the stream began."""
    return {
        name_of(events, class_id)
        for event in events
        if isinstance(event, Retrained) and event.position == 0
        for class_id in event.class_ids
    }
