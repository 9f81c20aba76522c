import pytest

from csim.encoder_name import check_encoder
from csim.errors import SettingsError
from csim.settings import Settings

FOR_TRANSFORMERS = "; for a model of transformers write hf:NAME, as hf:facebook/dinov2-small"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lite", "; is it lite0?"),
        ("lite9", "; is it lite0?"),
        ("Lite0", "; is it lite0?"),
        ("lite-2", "; is it lite2?"),
        ("onw", "; is it own?"),
        *((name, FOR_TRANSFORMERS) for name in ("dinov2", "CLIP", "siglip", "vit", "convnext-t")),
        ("facebook/dinov2-small", FOR_TRANSFORMERS),
        ("resnet", ""),
        ("hf:", ""),
        ("onnx:", ""),
        ("", ""),
    ],
)
def test_an_unknown_encoder_is_refused_with_what_to_write(name, hint):
    with pytest.raises(SettingsError) as caught:
        check_encoder(name)
    assert str(caught.value) == (
        "encoder must be own, lite0, lite1, lite2, hf:NAME, hf:DIRECTORY or onnx:FILE; "
        f"got {name!r}{hint}"
    )


def test_settings_refuse_an_unknown_encoder():
    with pytest.raises(SettingsError, match=r"got 'lite9'; is it lite0\?"):
        Settings(encoder="lite9")
