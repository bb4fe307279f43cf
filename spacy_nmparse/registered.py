"""What spaCy finds through entry points: factories, and functions of config blocks that are small.

spaCy imports this module whenever a pipeline is made, ours or not: it imports nothing but spaCy
itself; the extensions are loaded when something is made. What a config names is imported by name:
the entry points of architectures, readers, batchers and larger callbacks lead to their own modules.
"""

# No postponed annotations here: spaCy validates configurations by these signatures.
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, Callable, Dict, Iterable, Optional, Union

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import registry
from thinc.api import Model

from spacy_nmparse.settings import defaults, described

TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {"@architectures": "spacy_nmparse.AffixEmbed.v1", "width": 96},
    "encode": {
        "@architectures": "spacy_nmparse.MaxoutWindowEncoder.v1",
        "width": 96,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}
SETTINGS = {**defaults(), "scorer": {"@scorers": "spacy_nmparse.parser_scorer.v1"}}
LEARNING = {"@misc": "spacy_nmparse.GreedyLearning.v1", "oracle": "dynamic", "explore": 1.0}
# Blocks say what is not the architecture's, or the system's, own default.
NM_PARSER = {
    "system": {
        "@misc": "spacy_nmparse.ArcEager.v1",
        "nonmonotonic_left": True,
        "nonmonotonic_reduce": True,
    },
    "model": {"@architectures": "spacy_nmparse.StateScorer.v1", "tok2vec": TOK2VEC},
    "learning": LEARNING,
    **SETTINGS,
}
NL_COVINGTON_PARSER = {
    "system": {"@misc": "spacy_nmparse.NLCovington.v1"},
    "model": {"@architectures": "spacy_nmparse.ArcScorer.v1", "tok2vec": TOK2VEC},
    "learning": LEARNING,
    **SETTINGS,
}
SWAP_PARSER = {
    "system": {"@misc": "spacy_nmparse.SwapStandard.v1"},
    "model": {
        "@architectures": "spacy_nmparse.StateScorer.v1",
        "hidden_width": 128,
        "maxout_pieces": 1,
        "dropout_factor": 2.0,
        "features": [
            *("S0", "S1", "S2", "S3", "B0", "B1", "B2"),
            *("S0.l1", "S0.r1", "S0.l2", "S1.l1", "S1.r1", "S1.r2", "S2.r1"),
            *("S0*S1", "S1*S2", "S0*B0"),
            *("S0.l1.label", "S0.r1.label", "S1.l1.label", "S1.r1.label"),
            *("S0.n_left", "S0.n_right", "S1.n_left", "S1.n_right"),
            *("S1-S0.distance", "S0-B0.distance", "stack.depth"),
        ],
        "tok2vec": TOK2VEC,
    },
    "learning": {**LEARNING, "oracle": "nd_all", "explore": 0.5},
    **SETTINGS,
}
NO_OPTIONS: Dict[str, Any] = {}
ASSIGNS = ["token.dep", "token.head", "token.is_sent_start", "doc.sents"]

SCORE_WEIGHTS = {
    "dep_uas": 0.5,
    "dep_las": 0.5,
    "dep_las_per_type": None,
    "sents_p": None,
    "sents_r": None,
    "sents_f": 0.0,
    "dep_uas_conll": None,
    "dep_las_conll": None,
    "dep_clas": None,
    "dep_exact": None,
    "nonproj_p": None,
    "nonproj_r": None,
}


def make_parser(
    nlp: Language,
    name: str,
    system: Any,
    model: Model,
    learning: Any,
    scorer: Optional[Callable],
    **settings: Any,
) -> Any:
    """The three factories, which differ in their defaults: ``nm_parser`` is non-monotonic arc-eager
    (HGJ13), ``nl_covington_parser`` NL-Covington (FG18) and ``swap_parser`` SwapStandard (BN15),
    both with unrestricted crossing arcs.

    Args:
        nlp: the pipeline.
        name: the component's name.
        system: a transition system (config block ``@misc``).
        model: a scorer (config block ``@architectures``).
        learning: how it learns from gold trees (config block ``@misc``).
        scorer: the scoring function.
        settings: see ``spacy_nmparse.settings``.

    The errors are those of ``TransitionParser``.
    """
    from spacy_nmparse.pipe.parser import TransitionParser

    how = {"system": system, "learning": learning, "scorer": scorer}
    return TransitionParser(nlp.vocab, model, name, **how, **settings)


def _with_settings(function: Callable) -> Signature:
    """The signature of a factory, with each setting by its name, as spaCy validates configs. A
    switch may be anything here, and the component checks it: some versions of spaCy's config
    library would take "yes"."""
    *known, _ = signature(function).parameters.values()
    return Signature(
        [
            *known,
            *(
                Parameter(
                    name,
                    Parameter.POSITIONAL_OR_KEYWORD,
                    annotation=Any if one.type is bool else one.type,
                )
                for name, one in described().items()
            ),
        ]
    )


make_parser.__signature__ = _with_settings(make_parser)  # type: ignore[attr-defined]
for _name, _config in (
    ("nm_parser", NM_PARSER),
    ("nl_covington_parser", NL_COVINGTON_PARSER),
    ("swap_parser", SWAP_PARSER),
):
    Language.factory(
        _name,
        default_config=_config,
        assigns=ASSIGNS,
        default_score_weights=SCORE_WEIGHTS,
        func=make_parser,
    )


@Language.factory(
    "pretrained_transformer",
    assigns=["doc._.trf_data"],
    default_config={
        "model": {
            "@architectures": "spacy-curated-transformers.XlmrTransformer.v1",
            "vocab_size": 250002,
            "piece_encoder": {
                "@architectures": "spacy-curated-transformers.XlmrSentencepieceEncoder.v1"
            },
            "with_spans": {"@architectures": "spacy-curated-transformers.WithStridedSpans.v1"},
        },
        "frozen": False,
        "all_layer_outputs": False,
        "megabytes": 2000,
    },
)
def make_transformer(
    nlp: Language,
    name: str,
    model: Model,
    frozen: bool,
    all_layer_outputs: bool,
    megabytes: int,
) -> Any:
    """The transformer; see ``spacy_nmparse.pipe.transformer``.

    Args:
        nlp: the pipeline.
        name: the component's name.
        model: a transformer of spacy-curated-transformers (config block ``@architectures``).
        frozen: the transformer is not trained.
        all_layer_outputs: the outputs of all layers are given, not of the last alone.
        megabytes: how much of a frozen transformer's outputs training keeps at most.
    """
    from spacy_nmparse.pipe.transformer import PretrainedTransformer

    return PretrainedTransformer(
        nlp.vocab,
        model,
        name=name,
        frozen=frozen,
        all_layer_outputs=all_layer_outputs,
        megabytes=megabytes,
    )


@Language.factory("multiword_tokens", assigns=["token._.ud_words", "token._.ud_range"])
def make_multiword_tokens(nlp: Language, name: str) -> Any:
    """The component that tells the words of multiword tokens; see ``spacy_nmparse.ud.multiword``.

    Args:
        nlp: the pipeline.
        name: the component's name.
    """
    from spacy_nmparse.ud.multiword import MultiwordTokens

    return MultiwordTokens(nlp.vocab, name)


@Language.factory(
    "ud_lemmatizer",
    assigns=["token.lemma"],
    requires=["token.pos"],
    default_config={
        "model": {"@architectures": "spacy.Tagger.v2", "normalize": False, "tok2vec": TOK2VEC},
        "min_tree_freq": 2,
        "scorer": {"@scorers": "spacy.lemmatizer_scorer.v1"},
    },
    default_score_weights={"lemma_acc": 1.0},
)
def make_ud_lemmatizer(
    nlp: Language, name: str, model: Model, min_tree_freq: int, scorer: Optional[Callable]
) -> Any:
    """The lemmatizer; see ``spacy_nmparse.ud.lemmas``.

    Args:
        nlp: the pipeline.
        name: the component's name.
        model: a tagger's model (config block ``@architectures``).
        min_tree_freq: how often an edit tree must occur to be learned.
        scorer: the scoring function.
    """
    from spacy_nmparse.ud.lemmas import UDLemmatizer

    return UDLemmatizer(nlp.vocab, model, name, min_tree_freq=min_tree_freq, scorer=scorer)


def System(name: str, options: Dict[str, Any] = NO_OPTIONS) -> Any:
    """Any transition system for a config block, those that other packages bring among them.

    Args:
        name: what ``spacy_nmparse.systems.create`` calls it.
        options: its options (a block of their own, ``[components.parser.system.options]``); the
            component sets ``single_root``, ``segment`` and ``root_label``.

    Raises:
        ValueError: there is no such system, or a value is none of the option's.
        TypeError: it has no such option.
    """
    from spacy_nmparse.pipe.spec import SystemSpec

    return SystemSpec(name, dict(options))


def ArcEager(
    nonmonotonic_left: bool = False,
    nonmonotonic_reduce: bool = False,
    labelled_reduce: bool = False,
) -> Any:
    """The arc-eager system for a config block; see ``spacy_nmparse.systems.arc_eager``. Its other
    options, and those of its forms, go through ``System``.

    Args:
        nonmonotonic_left: LEFT-ARC may replace the head of S0.
        nonmonotonic_reduce: REDUCE of a headless S0 attaches it to S1.
        labelled_reduce: such a REDUCE chooses its label itself.
    """
    options = {
        "nonmonotonic_left": nonmonotonic_left,
        "nonmonotonic_reduce": nonmonotonic_reduce,
        "labelled_reduce": labelled_reduce,
    }
    return System("arc_eager", {name: on for name, on in options.items() if on})


def NLCovington(nonmonotonic: bool = False, explicit_root: bool = True, max_length: int = 0) -> Any:
    """NL-Covington for a config block; see ``spacy_nmparse.systems.covington.covington``.

    Args:
        nonmonotonic: arcs may replace arcs and break cycles.
        explicit_root: arcs from ROOT are moves like others; without, the scorer chooses the root of
            a sentence at its end.
        max_length: words further apart get no arc; 0: no limit.
    """
    options = {"nonmonotonic": nonmonotonic, "explicit_root": explicit_root}
    return System("nl_covington", {**options, "max_length": max_length})


def Covington(nonmonotonic: bool = False, explicit_root: bool = True, max_length: int = 0) -> Any:
    """Covington's system for a config block: as ``NLCovington``, but arcs are made between the
    focus words only, and NO-ARC moves on to the next pair."""
    options = {"nonmonotonic": nonmonotonic, "explicit_root": explicit_root}
    return System("covington", {**options, "max_length": max_length})


def ArcStandard() -> Any:
    """The arc-standard system for a config block; see ``spacy_nmparse.systems.arc_standard``."""
    return System("arc_standard")


def SwapStandard() -> Any:
    """SwapStandard for a config block; see ``spacy_nmparse.systems.swap.swap``."""
    return System("swap_standard")


def GreedyLearning(oracle: str = "dynamic", explore: Union[float, Iterable[float]] = 1.0) -> Any:
    """Learning of single moves along greedy derivations, for a config block; see
    ``spacy_nmparse.pipe.learning``.

    Args:
        oracle: name of the system's oracle that training learns from.
        explore: probability of following the model rather than the oracle at each training step; a
            number or a schedule of one value an update.
    """
    from spacy_nmparse.pipe import learning

    return learning.GreedyLearning(oracle, explore)


def make_parser_scorer(punctuation: bool = True) -> Callable:
    """The scorer: spaCy's dependency scores, and those of the CoNLL 2018 evaluation.

    Args:
        punctuation: whether the latter count words whose gold part of speech is PUNCT.
    """
    from spacy_nmparse.pipe.evaluation import score_dependencies

    return score_dependencies if punctuation else partial(score_dependencies, punctuation=False)


def LanguageTokenizer(max_cache_size: int = 200_000) -> Callable[[Language], Any]:
    """For ``nlp.tokenizer``: the tokenizer that spaCy gives the pipeline's language, with room for
    more of what it has split. One config serves every ``nlp.lang``: Chinese, Japanese and others do
    not have spaCy's usual tokenizer.

    Args:
        max_cache_size: as of ``spacy.tokenizer.Tokenizer``, which has 10,000: strings between
            spaces whose tokens are kept. Other tokenizers keep none.
    """

    def create(nlp: Language) -> Any:
        own = {"tokenizer": type(nlp).default_config["nlp"]["tokenizer"]}
        tokenizer = registry.resolve(own)["tokenizer"](nlp)
        if type(tokenizer) is Tokenizer:
            tokenizer.max_cache_size = max_cache_size
        return tokenizer

    return create


def SafeCheckpoints() -> Callable:
    """For ``training.before_to_disk``: checkpoints that a killed training run, or a full disk,
    leaves whole; see ``spacy_nmparse.pipe.files``. Says which model `spacy train` will replace."""
    from spacy_nmparse.pipe.files import make_safe
    from spacy_nmparse.pipe.training_log import prepare_training

    prepare_training()
    return make_safe


def ConsoleLogger() -> Callable:
    """For ``training.logger``: spaCy's table of scores, how long training will still take, at the
    end which steps were not evaluated, and the scores in a file beside the model; see
    ``spacy_nmparse.pipe.training_log``."""
    from spacy_nmparse.pipe.training_log import start_log

    return start_log


def FastBlas() -> Callable:
    """For ``nlp.after_pipeline_creation``: faster matrix products for the whole pipeline; see
    ``spacy_nmparse.pipe.fast_blas``."""
    from spacy_nmparse.pipe.fast_blas import use_fast_blas

    return use_fast_blas
