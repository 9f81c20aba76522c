"""Pictures taken into a page: they need no other file, and are refused if they are none."""

import base64
import io
import re

import pytest
from PIL import Image

from csim.bench.report.pictures import inline
from csim.errors import InputError


def png(size=(220, 110), form="PNG"):
    buffer = io.BytesIO()
    Image.new("RGB", size, "navy").save(buffer, form)
    return buffer.getvalue()


def test_a_picture_is_in_the_element():
    (found,) = re.findall(
        r'src="data:image/png;base64,([^"]+)"', inline(png(), dpi=96, description="a")
    )
    assert base64.b64decode(found) == png()


def test_a_picture_is_shown_at_its_own_size_or_a_little_smaller():
    element = inline(png((2200, 1100)), dpi=192, description="a")
    assert 'width="2200" height="1100"' in element
    assert "min-width: 880px; max-width: 1210px" in element


def test_a_description_stays_text():
    element = inline(png(), dpi=96, description='"><script>')
    assert element.endswith('alt="&quot;&gt;&lt;script&gt;">')


@pytest.mark.parametrize(
    "content", [b"", b"<svg/>", png()[:60], png(form="GIF"), b"\x89PNG\r\n\x1a\n"]
)
def test_what_is_no_picture_is_refused(content):
    with pytest.raises(InputError, match="it must be a PNG picture"):
        inline(content, dpi=96, description="a")
