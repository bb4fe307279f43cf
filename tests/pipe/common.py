"""What the tests of the component share: tiny pipelines, gold trees, what must hold of a Doc."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_nmparse.pipe.annotations import same_tokens as bare
from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.pipe.saving import CHECKSUMS, checksums
from spacy_nmparse.systems import Gold

TOK2VEC: dict[str, Any] = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 500,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}

#: Of a component that shares the tok2vec of another one.
LISTENER = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": TOK2VEC["width"],
    "upstream": "tok2vec",
}


def affix_tok2vec(
    encoder: str = "spacy.MaxoutWindowEncoder.v2", width: int = 16, depth: int = 1, **embed: Any
) -> dict[str, Any]:
    """A tok2vec with the layers of this package; embed: options of ``AffixEmbed``."""
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {"@architectures": "spacy_nmparse.AffixEmbed.v1", "width": width, **embed},
        "encode": {
            "@architectures": encoder,
            "width": width,
            "depth": depth,
            "window_size": 1,
            "maxout_pieces": 2,
        },
    }


# Words, heads (a root is its own), labels. The third and fourth cross.
TREES: list[tuple[str, list[int], str]] = [
    ("She saw the cat .", [1, 1, 3, 1, 1], "nsubj ROOT det obj punct"),
    ("I like London and Berlin .", [1, 1, 1, 2, 2, 1], "nsubj ROOT obj cc conj punct"),
    (
        "A hearing is scheduled on the issue today",
        [1, 3, 3, 3, 1, 6, 4, 3],
        "det nsubj aux ROOT prep det pobj advmod",
    ),
    # No two arcs cross here, but one spans the root.
    ("What do you want", [3, 1, 1, 1], "obj ROOT nsubj xcomp"),
    ("Sleep !", [0, 0], "ROOT punct"),
    ("Yes", [0], "ROOT"),
]
# Trees of TREES that make one document.
DOCUMENTS = [[0], [1], [2], [3], [4], [5], [0, 1], [2, 4, 3], [1, 0, 5, 2]]


def model_config(**options: Any) -> dict[str, Any]:
    """Without recurrent layers."""
    return {
        "@architectures": "spacy_nmparse.StateScorer.v1",
        "hidden_width": 24,
        "recurrent_width": 0,
        "tok2vec": TOK2VEC,
        **options,
    }


# A tok2vec that sees no neighbours.
WORDS_ALONE = model_config(tok2vec={**TOK2VEC, "window_size": 0})

# Features of all kinds, and hops of all kinds, for each layer of an arc scorer.
ARC_FEATURES: dict[str, list[str]] = {
    "context": [
        *("B0", "B1", "B3", "I1", "I2", "I4", "B0.h", "B0.l1", "B0.l2", "I1.h", "I1.l1", "I1.r1"),
        *("I2.l2", "I2.r2.l1", "I1.h.h", "I3.l1", "B0*I1", "B0*I2", "B0*B1"),
        *("B0.label", "B0.n_left", "B0.l1.label", "I1.label", "I1.n_left", "I1.n_right"),
        *("I1.r1.label", "I1-B0.distance", "items.headless", "root.child"),
    ],
    "pair": [
        *("H", "H.h", "H.l1", "H.r1", "D.l1", "B1", "H*D", "H*D.h"),
        *("H.label", "H.n_left", "H.n_right", "H.l1.label", "D.n_left", "H-D.distance"),
        *("H-D.crossed", "H-D.headless"),
    ],
    "label": [
        *("H", "D", "H.h", "H.l2", "H.r1", "D.l1", "D.r1", "I1", "H*D", "D*D.l1"),
        *("H.label", "D.n_left", "D.n_right", "D.r1.label", "H-D.distance", "items.headless"),
    ],
}


def arc_model_config(**options: Any) -> dict[str, Any]:
    """No size is the default one."""
    return {
        "@architectures": "spacy_nmparse.ArcScorer.v1",
        "arc_width": 16,
        "hidden_width": 24,
        "context_width": 24,
        "maxout_pieces": 2,
        "projection_width": 20,
        "recurrent_width": 12,
        "recurrent_depth": 1,
        "tree_weight": 0.3,
        "n_pairs": 3,
        "dropout_factor": 1.0,
        "features": ARC_FEATURES,
        "tok2vec": TOK2VEC,
        **options,
    }


NM, NL, SWAP = "nm_parser", "nl_covington_parser", "swap_parser"
SMALL: dict[str, dict[str, Any]] = {
    NM: {"model": model_config(), "projectivize": True},
    NL: {"model": arc_model_config(), "projectivize": False},
    SWAP: {"model": model_config(), "projectivize": False},
}
SWIFT: dict[str, Any] = {"@misc": "spacy_nmparse.ArcSwift.v1"}
#: Parsers that learn every tree of TREES, crossing ones by lifting or by themselves.
KINDS: dict[str, dict[str, Any]] = {
    **{factory: {"factory": factory} for factory in SMALL},
    "arc_swift": {"factory": NL, "system": SWIFT, "projectivize": True},
}


def system(name: str, /, **options: Any) -> dict[str, Any]:
    """The block of a system in a config."""
    return {"@misc": f"spacy_nmparse.{name}.v1", **options}


def any_system(name: str, /, **options: Any) -> dict[str, Any]:
    """The block of a system that takes all its options."""
    return system("System", name=name, options=options)


BOTH = {"nonmonotonic_left": True, "nonmonotonic_reduce": True}
NEITHER = dict.fromkeys(BOTH, False)
#: Parsers with all systems: factory and system.
SYSTEMS: dict[str, dict[str, Any]] = {
    "arc-eager": {"factory": NM, "system": system("ArcEager", **BOTH)},
    "monotonic": {"factory": NM, "system": system("ArcEager")},
    "labelled reduce": {
        "factory": NM,
        "system": system("ArcEager", nonmonotonic_reduce=True, labelled_reduce=True),
    },
    "root first": {"factory": NM, "system": any_system("arc_eager", root_first=True, **NEITHER)},
    "arc-standard": {"factory": NM, "system": system("ArcStandard")},
    "buffer arcs": {"factory": NM, "system": any_system("arc_standard", buffer_arcs=True)},
    "swap": {"factory": NM, "system": system("SwapStandard")},
    "arc-swift": {"factory": NL, "system": system("ArcSwift")},
    "nl": {"factory": NL, "system": system("NLCovington")},
    "nl nonmonotonic": {
        "factory": NL,
        "system": system("NLCovington", nonmonotonic=True, explicit_root=False),
    },
    "covington": {"factory": NL, "system": system("Covington", explicit_root=False)},
    "covington short": {"factory": NL, "system": system("Covington", max_length=3)},
}


TWO_PLANAR: dict[str, Any] = {
    "factory": SWAP,
    "system": system("System", name="two_planar"),
    "model": model_config(features=None),
    "projectivize": False,
    "oracle": "dynamic",
}


def with_learning(config: dict[str, Any]) -> dict[str, Any]:
    """The config, with what is about learning in its block; ``update`` and others train a beam."""
    beam = {key: config[key] for key in ("update", "width", "share") if key in config}
    block = {key: config[key] for key in ("oracle", "explore") if key in config} | beam
    if not block:
        return config
    name = "BeamLearning" if beam else "GreedyLearning"
    rest = {key: value for key, value in config.items() if key not in block}
    return {**rest, "learning": {"@misc": f"spacy_nmparse.{name}.v1", **block}}


def make_nlp(
    name: str | None = None, lang: str = "xx", factory: str = NM, **config: Any
) -> Language:
    """A pipeline of one small parser without labels; the random seed is set."""
    fix_random_seed(0)
    nlp = spacy.blank(lang)
    nlp.add_pipe(factory, name=name, config=with_learning({**SMALL[factory], **config}))
    return nlp


def listening_pipeline(factory: str, **model: Any) -> Language:
    """A parser that listens to a tok2vec beside it, not yet initialized."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe(factory, name="parser", config={"model": {**model, "tok2vec": LISTENER}})
    return nlp


def gold_doc(vocab: Vocab, trees: Iterable[int]) -> Doc:
    words: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    for number in trees:
        text, tree_heads, tree_deps = TREES[number]
        heads += [head + len(words) for head in tree_heads]
        words += text.split()
        deps += tree_deps.split()
    return Doc(vocab, words=words, heads=heads, deps=deps)


def make_example(gold: Doc) -> Example:
    return Example(bare(gold), gold)


def tagged(example: Example) -> Example:
    """With each word's first letter as its tag."""
    gold = example.reference
    words = [token.text for token in gold]
    annotations = {
        "heads": [token.head.i for token in gold],
        "deps": [token.dep_ for token in gold],
        "tags": ["T" + word[0] for word in words],
    }
    return Example(Doc(gold.vocab, words=words), Doc(gold.vocab, words=words, **annotations))


def make_examples(vocab: Vocab, documents: Sequence[Sequence[int]] = DOCUMENTS) -> list[Example]:
    return [make_example(gold_doc(vocab, trees)) for trees in documents]


def gold_of(doc: Doc) -> Gold:
    """Its tree, as systems take it."""
    starts = [bool(token.is_sent_start) for token in doc]
    return Gold([token.head.i for token in doc], [token.dep_ for token in doc], starts)


def unknown(vocab: Vocab) -> Example:
    """A tree that contradicts those of ``make_examples``, without new words or labels."""
    words = TREES[0][0].split()
    return make_example(Doc(vocab, words=words, heads=[4] * 5, deps=[*["obj"] * 4, "ROOT"]))


def train(
    nlp: Language, examples: list[Example], steps: int, sgd: Any = None, **options: Any
) -> float:
    """Train, without an optimizer initialize first; the last loss, left to chance (``learn``)."""
    sgd = nlp.initialize(lambda: examples) if sgd is None else sgd
    sgd.learn_rate = 0.01
    loss = 0.0
    for _ in range(steps):
        losses = nlp.update(examples, sgd=sgd, **options)
        loss = sum(losses.values())
    return loss


def learn(
    nlp: Language, examples: list[Example], sgd: Any = None, most: int = 400, **options: Any
) -> None:
    """Train until three updates on end had next to no loss, in at most so many, and ``settle``."""
    sgd = nlp.initialize(lambda: examples) if sgd is None else sgd
    losses: list[float] = []
    while len(losses) < 3 or max(losses[-3:]) > 0.2:
        assert len(losses) < most, f"not learned; the last losses: {losses[-3:]}"
        losses.append(train(nlp, examples, 1, sgd, **options))
    settle(nlp, examples, sgd, **options)


def ready(
    documents: Sequence[Sequence[int]] = DOCUMENTS, **config: Any
) -> tuple[Language, list[Example], Any]:
    """A pipeline that is initialized with examples, these, and its optimizer."""
    nlp = make_nlp(**config)
    examples = make_examples(nlp.vocab, documents)
    return nlp, examples, nlp.initialize(lambda: examples)


def settle(nlp: Language, examples: list[Example], sgd: Any, **options: Any) -> None:
    """Train in small steps: a long one may undo much of what was learned."""
    sgd.learn_rate = 0.001
    for _ in range(30):
        nlp.update(examples, sgd=sgd, **options)


def overfitted(**config: Any) -> Language:
    """A pipeline that knows the trees by heart. The same options are trained once a session."""
    key = repr(sorted(config.items()))
    if key not in _known:
        _known[key] = make_nlp(**config)
        learn(_known[key], make_examples(_known[key].vocab))
    fix_random_seed(0)
    return copy.deepcopy(_known[key])


_known: dict[str, Language] = {}


def texts(count: int = 30) -> list[str]:
    """The trees' sentences, and their words in other orders."""
    rng = random.Random(5)
    found = [" ".join(TREES[n][0] for n in trees) for trees in DOCUMENTS]
    while len(found) < count:
        words = " ".join(rng.choice(TREES)[0] for _ in range(rng.randint(0, 4))).split()
        rng.shuffle(words)
        found.append("  ".join(words))
    return found


def parses(nlp: Language) -> list[list[tuple[str, int, str, bool]]]:
    """The trees of ``texts``."""
    return [tree(nlp(text)) for text in texts()]


def parsed(nlp: Language, docs: Iterable[Doc], **options: Any) -> list[Any]:
    """The trees that it gives the words of documents, by pipe."""
    return [tree(doc) for doc in nlp.pipe(map(bare, docs), **options)]


def surely_parsed(docs: Iterable[Doc]) -> list[Any]:
    """The trees of documents with their confidences, None where there are none."""
    found = [(tree(doc), confidences(doc)) for doc in docs]
    return [(heads, None if sure is None else sure.tolist()) for heads, sure in found]


def knows(nlp: Language, golds: Sequence[Doc]) -> bool:
    """Whether it gives back the trees of documents."""
    return parsed(nlp, golds) == [tree(gold) for gold in golds]


def knows_the_trees(nlp: Language) -> bool:
    """Whether it gives back every document of DOCUMENTS."""
    return knows(nlp, [gold_doc(nlp.vocab, trees) for trees in DOCUMENTS])


def randomize(model: Any, seed: int = 0, scale: float = 0.5) -> None:
    """Random weights everywhere: an untrained model scores every move alike."""
    rng = numpy.random.RandomState(seed)
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name):
                shape = node.get_param(name).shape
                node.set_param(name, rng.normal(0, scale, shape).astype("float32"))


def random_parser(seed: int = 0, **config: Any) -> Language:
    """A pipeline with random weights."""
    nlp, *_ = ready(**config)
    randomize(parser_of(nlp).model, seed)
    return nlp


def tiny_parser(factory: str, seed: int) -> Language:
    """A parser with random weights, as small as can be."""
    tok2vec = {**TOK2VEC, "width": 8, "embed_size": 20}
    model = {**SMALL[factory]["model"], "tok2vec": tok2vec, "hidden_width": 8}
    return random_parser(seed, factory=factory, model=model)


def seal(parts: dict[str, bytes]) -> None:
    """Give the parts of a saved parser the checksums of what they are now."""
    parts[CHECKSUMS] = checksums(parts)


def altered(parser: Any, **changes: Any) -> bytes:
    """The bytes of a parser with other parts, sealed: bytes, a table, or what changes the table."""
    parts = srsly.msgpack_loads(parser if isinstance(parser, bytes) else parser.to_bytes())
    for name, change in changes.items():
        table = change
        if callable(change):
            change(table := srsly.msgpack_loads(parts[name]))
        parts[name] = table if isinstance(table, bytes) else srsly.msgpack_dumps(table)
    seal(parts)
    return srsly.msgpack_dumps(parts)


def noted_failures(nlp: Any) -> list[tuple[str, list[str], str]]:
    """Where a pipeline's failures come from now on: the component, the texts and the message."""
    failed: list[tuple[str, list[str], str]] = []
    nlp.set_error_handler(
        lambda name, proc, docs, error: failed.append((name, [d.text for d in docs], str(error)))
    )
    return failed


def random_doc(vocab: Vocab, rng: random.Random, length: int, space: float = 0.2) -> Doc:
    """Words and spaces in random order, no annotation."""
    words = [
        rng.choice([" ", "\n", "\n\n", "\t "])
        if rng.random() < space
        else rng.choice(["She", "saw", "the", "cat", ".", "like", "and", "Berlin", "!", "new"])
        for _ in range(length)
    ]
    return Doc(vocab, words=words)


def random_docs(vocab: Vocab, seed: int, lengths: Iterable[int], space: float = 0.2) -> list[Doc]:
    """Documents of these lengths, the same for the same seed."""
    rng = random.Random(seed)
    return [random_doc(vocab, rng, length, space) for length in lengths]


def random_heads(n: int, rng: random.Random) -> list[int]:
    """A random tree with one root, mostly with crossing arcs."""
    order = list(range(n))
    rng.shuffle(order)
    heads = [0] * n
    for position, word in enumerate(order):
        heads[word] = rng.choice(order[:position]) if position else word
    return heads


def merge_and_split(doc: Doc) -> None:
    """Make one token of the first two, and two of the last."""
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    last = doc[len(doc) - 1]
    with doc.retokenize() as retokenizer:
        retokenizer.split(last, [last.text[:2], last.text[2:]], heads=[(last, 1), last.head])


def tree(doc: Doc) -> list[tuple[str, int, str, bool]]:
    return [(t.text, t.head.i, t.dep_, bool(t.is_sent_start)) for t in doc]


def descendants(heads: Sequence[int], word: int) -> list[int]:
    """word and all below it, in text order."""
    found = []
    for other in range(len(heads)):
        above = other
        for _ in heads:
            if above == word:
                break
            above = heads[above]
        if above == word:
            found.append(other)
    return found


def assert_edges(doc: Doc) -> None:
    heads = [token.head.i for token in doc]
    for token in doc:
        below = descendants(heads, token.i)
        assert (token.left_edge.i, token.right_edge.i) == (below[0], below[-1]), token.i
        assert sorted(t.i for t in token.subtree) == below
        kids = [i for i, head in enumerate(heads) if head == token.i and i != token.i]
        assert [t.i for t in token.children] == kids
        assert token.n_lefts == sum(kid < token.i for kid in kids)
        assert token.n_rights == sum(kid > token.i for kid in kids)


def assert_sound(doc: Doc) -> None:
    """Contiguous sentences, each a tree with one root; spaces head nothing; every label set."""
    if not len(doc):
        return
    sentences = list(doc.sents)
    assert [t.i for sentence in sentences for t in sentence] == list(range(len(doc)))
    assert doc.has_annotation("DEP", require_complete=True)
    for sentence in sentences:
        first, last = sentence.start, sentence.end - 1
        roots = [token for token in sentence if token.head.i == token.i]
        assert len(roots) == 1, sentence
        assert roots[0].dep_ == "ROOT"
        for token in sentence:
            assert first <= token.head.i <= last
            assert token.dep_ and "||" not in token.dep_
            assert (token.dep_ == "ROOT") == (token.head.i == token.i)
            above = token
            for _ in sentence:
                above = above.head
            assert above.i == roots[0].i, "a cycle"
        words = [token.i for token in sentence if not token.is_space]
        for token in sentence:
            if words:
                assert not token.head.is_space
            if token.is_space:
                before = [i for i in words if i < token.i]
                near = before[-1] if before else (words[0] if words else first)
                assert token.head.i == near
                assert token.dep_ == ("ROOT" if near == token.i else "dep")


def assert_starts_kept(doc: Doc, preset: Sequence[int]) -> None:
    """preset: what was set before the parse: 1 (a sentence starts), -1 (none may), 0."""
    for token, start in zip(doc, preset, strict=True):
        if start == 1:
            assert token.is_sent_start, token.i
        elif start == -1 and token.i > 0:
            assert not token.is_sent_start, token.i
