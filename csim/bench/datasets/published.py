"""The published data sets: their files, checksums and class names.

The md5 sums come from the publishers; those of EuroSAT and the flowers come from torchvision. A
sha256 was computed from a file with the published md5, or from a prepared copy. NIST publishes no
checksums of the files inside its archive, so csim relies on gzip's checksum and on the number of
images there.
"""

from __future__ import annotations

from csim.bench.datasets.files import RemoteFile

DIGITS = tuple("0123456789")
FASHION = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
# 15 letters have one class for upper and lower case.
CHARACTERS = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt")
OBJECTS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def _idx(roots: tuple[str, ...], *rows: tuple[str, int, str]) -> tuple[RemoteFile, ...]:
    """Describe IDX files, images and labels in turn; each address is a root plus the file name."""
    names = [f"{stem}-ubyte.gz" for stem, _, _ in rows]
    return tuple(
        RemoteFile(name, tuple(root + name for root in roots), size, sha256=sha256)
        for name, (_, size, sha256) in zip(names, rows, strict=True)
    )


_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
_FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
)
_TORONTO = ("https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/")

MNIST_FILES = _idx(
    _MNIST,
    (
        "train-images-idx3",
        9_912_422,
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    (
        "train-labels-idx1",
        28_881,
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    (
        "t10k-images-idx3",
        1_648_877,
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    ("t10k-labels-idx1", 4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
)
FASHION_FILES = _idx(
    _FASHION,
    (
        "train-images-idx3",
        26_421_880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    ),
    (
        "train-labels-idx1",
        29_515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    ),
    (
        "t10k-images-idx3",
        4_422_102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    ("t10k-labels-idx1", 5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
)
EMNIST_47_FILES = _idx(
    (),
    (
        "emnist-47-images-idx3",
        26_452_191,
        "08eb4b9fd9ea847f0bf31b87d0fa8e2ccf16d0401248079e13e705524d30b2d9",
    ),
    (
        "emnist-47-labels-idx1",
        75_135,
        "0b86edf96863192de5e85e2b64b8bdee383343c0e1bc9015f34a8d2b0e3cde47",
    ),
)
CIFAR_10_GREY_FILES = _idx(
    (),
    (
        "cifar-10-grey-images-idx3",
        57_195_024,
        "72a54ca74e14ff2f0cdcc14de3b69799e26e1af336b5cc409379b4d68b149306",
    ),
    (
        "cifar-10-grey-labels-idx1",
        29_481,
        "88b1862ae108652d22b7d043242963830d30231543210987190566b73147de47",
    ),
)

EMNIST_ARCHIVE = RemoteFile(
    "gzip.zip",
    ("https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",),
    size=561_753_746,
    md5="58c8d27c78d21e728a6bc7b3cc06412e",
)
CIFAR_10_BINARY = RemoteFile(
    "cifar-10-binary.tar.gz",
    tuple(f"{root}cifar-10-binary.tar.gz" for root in _TORONTO),
    size=170_052_171,
    md5="c32a1d4ab5d03f1284b67883e8d87530",
)
CIFAR_10_PYTHON = RemoteFile(
    "cifar-10-python.tar.gz",
    tuple(f"{root}cifar-10-python.tar.gz" for root in _TORONTO),
    size=170_498_071,
    md5="c58f30108f718f92721af3b95e74349a",
)
_FLOWERS = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
FLOWERS_FILES = (
    RemoteFile(
        "102flowers.tgz", (f"{_FLOWERS}102flowers.tgz",), md5="52808999861908f626f3c1f4e79d11fa"
    ),
    RemoteFile(
        "imagelabels.mat", (f"{_FLOWERS}imagelabels.mat",), md5="e0620be6f572b9609742df49c70aed4d"
    ),
)
# The authors' server is often unavailable; TorchGeo keeps the same file at a fixed revision.
EUROSAT_FILES = (
    RemoteFile(
        "EuroSAT.zip",
        (
            "https://madm.dfki.de/files/sentinel/EuroSAT.zip",
            "https://huggingface.co/datasets/torchgeo/eurosat/resolve/"
            "c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip",
        ),
        md5="c8fa014336c82ac7804f0398fcb19387",
    ),
)
