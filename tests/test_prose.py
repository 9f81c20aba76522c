"""The docs are short sentences that address the reader, and docstrings start with a verb."""

import ast
from collections.abc import Iterator

import pytest
from prose import ROOT, banned, measure, pages, together

# The verbs that start a public docstring. Add a verb here when a docstring needs a new one.
VERBS = set(
    """
    accept acknowledge add adopt align allow analyse answer append apply approximate ask assign
    augment average backup balance begin bound break bring build bundle cache calculate
    calibrate call cancel carry centre change check choose claim classify clean clear close
    cluster collapse collect combine commit compare compress compute confirm connect continue
    convert copy correct count cover create crop cut decide declare decode decompose define exchange
    queue speak talk
    delete deliver derive describe detect discard display distribute divide do download drain
    draw drop embed encode end ensure enter estimate evaluate exclude execute exit expand
    expect expire export express extend extract fail feed fetch fill filter find finish fit
    flag flip flush follow forget format forward freeze gather generate get give go group guard
    guess handle hash have head hear hide hold identify ignore import include increase index
    infer initialise insert inspect install interpret invert iterate join judge keep kill know
    label launch lay learn leave let limit link list listen load locate lock log look lower
    make map mark match measure merge migrate mirror move multiply name normalise note notify
    number observe offer open order pack parse pass pause pick place plan play plot post
    predict prefetch prepare present preserve press print process produce project propose
    protect prune publish purify push put raise rank read rebuild receive recognise record
    recover reduce refer refresh refuse register reject release remember remove rename render
    repair repeat replace replay report represent reproduce request rescan reserve reset resize
    resolve restore restrict resume retrain retry return reuse revise rotate round run sample
    save say scale scan schedule score search see select send separate serialise serve set
    settle shift show shrink shuffle shut signal simulate skip sleep solve sort specify split
    spread stack start state stop store stream stretch study subtract suggest sum summarise
    supply support swap switch take tell test thin time track train transform translate trim
    try turn undo unpack update upgrade use validate verify view visit vote wait walk warm warn
    watch weigh widen wrap write yield
    """.split()  # noqa: SIM905
)


def test_sentences_are_short_and_address_the_reader():
    prose = together(measure(page.read_text(encoding="utf-8")) for page in pages())
    assert prose.median <= 14, "median words per sentence; see `python tests/prose.py`"
    assert prose.addressed_per_1000 >= 8, "you/your per 1,000 words; see `python tests/prose.py`"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_has_no_banned_phrase(page):
    assert not banned(page.read_text(encoding="utf-8"))


def test_the_code_has_no_banned_phrase():
    found = {
        str(file.relative_to(ROOT)): phrases
        for file in sorted((ROOT / "csim").rglob("*.py"))
        if (phrases := banned(file.read_text(encoding="utf-8")))
    }
    assert not found


def test_every_public_docstring_starts_with_a_verb():
    odd = [
        f"{where}: {line}"
        for where, line in first_lines()
        if line.split()[0].rstrip(",.:;").lower() not in VERBS
    ]
    assert not odd, "\n".join(odd)


def first_lines() -> Iterator[tuple[str, str]]:
    """Give where each public class, function, method and property is, and its first line."""
    for file in sorted((ROOT / "csim").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in public(tree.body):
            text = ast.get_docstring(node)
            assert text, f"{file}:{node.lineno} {node.name} has no docstring"
            yield f"{file.relative_to(ROOT)}:{node.lineno} {node.name}", text.splitlines()[0]


def public(
    body: list[ast.stmt],
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                continue
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


@pytest.mark.parametrize(
    ("markdown", "lengths", "addressed"),
    [
        ("# A heading of many words\n\nYou see it. It works for you.\n", (3, 4), 2),
        ("Run `csim run birds --watch` first, e.g. now.\n", (5,), 0),
        ("```sh\nyou you you\n```\n\n| you | your |\n|---|---|\n", (), 0),
        ("- [your page](docs/you.md) is here\n- it costs 0.05 of it\n", (4, 5), 1),
        ("Some text:\n\n    code that is indented\n\nMore of the text.\n", (4,), 0),
    ],
)
def test_only_prose_is_measured(markdown, lengths, addressed):
    prose = measure(markdown)
    assert prose.lengths == lengths
    assert prose.addressed == addressed


def test_a_banned_phrase_is_found_across_a_line_break():
    assert banned("# it was let\n    # go then") == ("let go",)
    assert banned("take every\nso-manieth") == ("so-manieth",)
    assert not banned("an outlet goes there; let us go")
