"""A drawing taken into a page: only what draws is kept, and its ids are made its own.

Ids of two drawings may be the same, and in one page the second would then show parts of the first. A drawing that
could run or fetch something is cleaned of it: what is not known to draw is left out.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from csim.errors import InputError

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TAGS = {
    "circle", "clipPath", "defs", "ellipse", "g", "image", "line", "linearGradient", "path", "pattern", "polygon",
    "polyline", "radialGradient", "rect", "stop", "svg", "symbol", "text", "tspan", "use",
}  # fmt: skip
_PER_POINT = 96 / 72  # pixels of a page
_SMALLEST = 0.8  # a drawing may shrink so far before it must be scrolled: its words stay readable


def inline(text: str, *, prefix: str, description: str) -> str:
    """Return an SVG file as an `<svg>` element that fits its page's width.

    Parameters
    ----------
    text
        The file.
    prefix
        What to set before every id; no other drawing of the page may have it.
    description
        What the drawing shows, for those who cannot see it.
    """
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - Python's expat bounds what entities may grow to
    except ElementTree.ParseError as error:
        raise InputError(f"it must be an SVG drawing ({error})") from error
    drawing = _clean(root, prefix)
    if drawing is None or drawing.tag != "svg":
        raise InputError("it must be an SVG drawing, its first element is another")
    width = _pixels(drawing.attrib.pop("width", ""))
    drawing.attrib.pop("height", None)
    drawing.attrib.update({"role": "img", "aria-label": description})
    if width:
        drawing.set(
            "style", f"min-width: {_SMALLEST * width:.0f}px; max-width: {1.1 * width:.0f}px"
        )
    return ElementTree.tostring(drawing, encoding="unicode")


def _clean(element: ElementTree.Element, prefix: str) -> ElementTree.Element | None:
    """Return an element without namespaces and with ids of its own, None if it does not draw."""
    tag = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""
    if tag not in _TAGS:
        return None
    copy = ElementTree.Element(tag, _attributes(element, prefix))
    copy.text, copy.tail = element.text, element.tail
    for child in element:
        cleaned = _clean(child, prefix)
        if cleaned is not None:
            copy.append(cleaned)
    return copy


def _attributes(element: ElementTree.Element, prefix: str) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key, value in element.attrib.items():
        if key in (_HREF, "href"):
            if value.startswith("#"):
                kept["href"] = f"#{prefix}-{value[1:]}"
            elif value.startswith("data:image/png;base64,"):
                kept["href"] = value
        elif key == "id":
            kept["id"] = f"{prefix}-{value}"
        elif not key.startswith(("on", "{")) and not re.search(
            r"url\((?!#)|\\|script:", value, re.IGNORECASE
        ):
            kept[key] = value.replace("url(#", f"url(#{prefix}-")
    return kept


def _pixels(length: str) -> float:
    found = re.fullmatch(r"([\d.]+)(pt|px)?", length)
    return float(found[1]) * (_PER_POINT if found[2] == "pt" else 1) if found else 0.0
