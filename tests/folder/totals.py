"""The totals that triggers keep, and the same counted row by row."""

from digit_folder import rows


def class_totals(folder, *, counted=False):
    """Return (images, told) by class id, -1 for none; without classes that have neither."""
    found = rows(
        folder,
        "SELECT coalesce(class_id, -1), sum(place > 0), sum(is_told) FROM items GROUP BY 1"
        if counted
        else "SELECT class_id, images, told FROM class_totals",
    )
    return {class_id: (images, told) for class_id, images, told in found if images or told}


def picture_bytes(folder, *, counted=False):
    """Return the size of all kept pictures."""
    query = (
        "SELECT coalesce(sum(length(file)), 0) FROM pictures"
        if counted
        else "SELECT total FROM picture_bytes"
    )
    return rows(folder, query)[0][0]
