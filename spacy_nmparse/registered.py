"""What spaCy finds through entry points: factories, and functions of config blocks that are small.

spaCy imports this module whenever a pipeline is made, ours or not: it imports nothing but spaCy
itself; the extensions are loaded when something is made. What a config names is imported by name:
the entry points of architectures, readers, batchers and larger callbacks lead to their own modules.
"""

# No postponed annotations here: spaCy validates configurations by these signatures.
from functools import partial
from inspect import signature
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from spacy.language import Language
from spacy.util import registry
from thinc.api import Model

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
LEARNING = {
    "oracle": "dynamic",
    "explore": 1.0,
    "crossing_bias": 0.0,
    "projectivize": False,
    "beam_width": 1,
    "beam_training": "local",
    "beam_train_width": 8,
    "beam_updates": 1.0,
    "confidence": False,
    "write_tags": False,
    "keep_heads": False,
    "max_sentence": 0,
    "threads": 1,
    "scorer": {"@scorers": "spacy_nmparse.parser_scorer.v1"},
}
# Blocks say what is not the architecture's, or the system's, own default.
NM_PARSER = {
    "system": {
        "@misc": "spacy_nmparse.ArcEager.v1",
        "nonmonotonic_left": True,
        "nonmonotonic_reduce": True,
    },
    "model": {"@architectures": "spacy_nmparse.StateScorer.v1", "tok2vec": TOK2VEC},
    **LEARNING,
}
NL_COVINGTON_PARSER = {
    "system": {"@misc": "spacy_nmparse.NLCovington.v1"},
    "model": {"@architectures": "spacy_nmparse.ArcScorer.v1", "tok2vec": TOK2VEC},
    **LEARNING,
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
    **{**LEARNING, "oracle": "nd_all", "explore": 0.5},
}
NO_REPAIRS: List[str] = []
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

SHARED: Dict[str, Any] = {"assigns": ASSIGNS, "default_score_weights": SCORE_WEIGHTS}


@Language.factory("nm_parser", default_config=NM_PARSER, **SHARED)
@Language.factory("nl_covington_parser", default_config=NL_COVINGTON_PARSER, **SHARED)
@Language.factory("swap_parser", default_config=SWAP_PARSER, **SHARED)
def make_parser(
    nlp: Language,
    name: str,
    system: Any,
    model: Model,
    oracle: str,
    explore: Union[float, Iterable[float]],
    crossing_bias: float,
    # Any: the component checks switches; some versions of spaCy's config library take "yes".
    projectivize: Any,
    beam_width: int,
    beam_training: str,
    beam_train_width: int,
    beam_updates: Union[float, Iterable[float]],
    confidence: Any,
    write_tags: Any,
    keep_heads: Any,
    max_sentence: int,
    threads: int,
    scorer: Optional[Callable],
) -> Any:
    """The three factories, which differ in their defaults: ``nm_parser`` is non-monotonic arc-eager
    (HGJ13), ``nl_covington_parser`` NL-Covington (FG18) and ``swap_parser`` SwapStandard (BN15),
    both with unrestricted crossing arcs.

    Args:
        nlp: the pipeline.
        name: the component's name.
        system: a transition system (config block ``@misc``).
        model: a scorer (config block ``@architectures``).

    The other arguments, and the errors, are those of ``TransitionParser``.
    """
    settings = {
        key: value for key, value in locals().items() if key not in ("nlp", "model", "name")
    }
    from spacy_nmparse.pipe.parser import TransitionParser

    return TransitionParser(nlp.vocab, model, name, **settings)


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


def _changed(block: Callable, options: Dict[str, Any]) -> Dict[str, Any]:
    """The options that do not have the block's defaults: a form of the system, which may come from
    elsewhere, is asked for by name only where it is wanted."""
    known = signature(block).parameters
    return {name: value for name, value in options.items() if value != known[name].default}


def ArcEager(
    nonmonotonic_left: bool = False,
    nonmonotonic_reduce: bool = False,
    labelled_reduce: bool = False,
    repairs: Union[str, Sequence[str]] = NO_REPAIRS,
    decoupled_repairs: bool = False,
    unshift: bool = False,
    push: str = "any",
    root_first: bool = False,
    max_search_states: int = 200,
) -> Any:
    """The arc-eager system for a config block; see ``spacy_nmparse.systems.arc_eager``.

    Args:
        nonmonotonic_left: LEFT-ARC may replace the head of S0.
        nonmonotonic_reduce: REDUCE of a headless S0 attaches it to S1.
        labelled_reduce: such a REDUCE chooses its label itself.
        repairs: repair transitions, of ``right_lower``, ``right_raise``, ``left_invert``.
        decoupled_repairs: repairs only revise, and leave the arc with B0 to the next move.
        unshift: REDUCE of a headless S0 puts it back into the buffer.
        push: ``any``, ``shift`` or ``right_arc``: the pushes that there are.
        root_first: ROOT is the bottom of the stack, not the last item of the buffer; without the
            options above.
        max_search_states: with repairs, how many configurations training may look at for one loss:
            fewer are faster and less exact; 0: any number.
    """
    repairs = [repairs] if isinstance(repairs, str) else list(repairs)
    return System("arc_eager", _changed(ArcEager, locals()))


def NLCovington(nonmonotonic: bool = False, explicit_root: bool = True, max_length: int = 0) -> Any:
    """NL-Covington for a config block; see ``spacy_nmparse.systems.covington.covington``.

    Args:
        nonmonotonic: arcs may replace arcs and break cycles.
        explicit_root: arcs from ROOT are moves like others; without, the scorer chooses the root of
            a sentence at its end.
        max_length: words further apart get no arc; 0: no limit.
    """
    return System("nl_covington", locals())


def Covington(nonmonotonic: bool = False, explicit_root: bool = True, max_length: int = 0) -> Any:
    """Covington's system for a config block: as ``NLCovington``, but arcs are made between the
    focus words only, and NO-ARC moves on to the next pair."""
    return System("covington", locals())


def ArcSwift() -> Any:
    """The arc-swift system for a config block, to be scored by an arc scorer; see
    ``spacy_nmparse.lab.arc_swift``."""
    return System("arc_swift")


def ArcStandard(buffer_arcs: bool = False) -> Any:
    """The arc-standard system for a config block; see ``spacy_nmparse.systems.arc_standard``.

    Args:
        buffer_arcs: arcs join the top of the stack and the front of the buffer, not the two topmost
            items of the stack.
    """
    return System("arc_standard", _changed(ArcStandard, locals()))


def SwapStandard() -> Any:
    """SwapStandard for a config block; see ``spacy_nmparse.systems.swap.swap``."""
    return System("swap_standard")


def make_parser_scorer(punctuation: bool = True) -> Callable:
    """The scorer: spaCy's dependency scores, and those of the CoNLL 2018 evaluation.

    Args:
        punctuation: whether the latter count words whose gold part of speech is PUNCT.
    """
    from spacy_nmparse.pipe.evaluation import score_dependencies

    return score_dependencies if punctuation else partial(score_dependencies, punctuation=False)


def LanguageTokenizer() -> Callable[[Language], Any]:
    """For ``nlp.tokenizer``: the tokenizer that spaCy gives the pipeline's language, so that one
    config serves every ``nlp.lang``. (A full config must name one, and Chinese, Japanese and others
    do not have spaCy's usual one.)"""

    def create(nlp: Language) -> Any:
        own = {"tokenizer": type(nlp).default_config["nlp"]["tokenizer"]}
        return registry.resolve(own)["tokenizer"](nlp)

    return create


def SafeCheckpoints() -> Callable:
    """For ``training.before_to_disk``: checkpoints that a killed training run, or a full disk,
    leaves whole; see ``spacy_nmparse.pipe.files``."""
    from spacy_nmparse.pipe.files import make_safe

    return make_safe


def ConsoleLogger() -> Callable:
    """For ``training.logger``: spaCy's table of scores, how long training will still take, and at
    the end which steps were not evaluated; see ``spacy_nmparse.pipe.training_log``."""
    from spacy_nmparse.pipe.training_log import start_log

    return start_log


def FastBlas() -> Callable:
    """For ``nlp.after_pipeline_creation``: faster matrix products for the whole pipeline; see
    ``spacy_nmparse.pipe.fast_blas``."""
    from spacy_nmparse.pipe.fast_blas import use_fast_blas

    return use_fast_blas
