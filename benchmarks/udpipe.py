"""Train and evaluate UDPipe 1 (package ufal.udpipe), in steps that compare.py runs.

    python -m benchmarks.udpipe tagger train.conllu dev.conllu tagger.model
    python -m benchmarks.udpipe parser train.conllu dev.conllu parser.model --tagger tagger.model \\
        --options "transition_system=swap;transition_oracle=static_lazy"
    python -m benchmarks.udpipe evaluate parser.model test.conllu test.spacy -o scores.json
    python -m benchmarks.udpipe pipeline train.conllu dev.conllu udpipe.model \\
        --tokenizer "epochs=100" --tagger "models=2;..." --parser "iterations=30;..."

The parser learns and parses with the tags that the tagger predicts. `pipeline`, which pipelines.py
runs, trains a tokenizer, a tagger, a lemmatizer and a parser in one model. UDPipe writes its
progress to standard error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from benchmarks.common import command_line, program
from spacy_nmparse.analysis.evaluate import read_docs, references, score_parses
from spacy_nmparse.cli.records import dump
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.ud import conll18

#: How its authors train taggers for Universal Dependencies; only what the parser looks at.
TAGGER = (
    "models=1;templates=tagger;guesser_suffix_rules=8;guesser_enrich_dictionary=6;"
    "guesser_prefixes_max=0;use_lemma=1;use_xpostag=1;use_feats=1;provide_lemma=0;"
    "provide_xpostag=1;provide_feats=1;prune_features=0"
)
#: How its authors train parsers for Universal Dependencies, but for their vectors of words.
PARSER = (
    "iterations=30;embedding_upostag=20;embedding_feats=20;embedding_xpostag=0;embedding_form=50;"
    "embedding_lemma=0;embedding_deprel=20;learning_rate=0.02;learning_rate_final=0.001;l2=0.5;"
    "hidden_layer=200;batch_size=10;structured_interval=8;use_gold_tags=0"
)

#: What its authors chose for whole models of all treebanks: the tokenizer; a tagger and a
#: lemmatizer; and a parser.
PIPELINE = {
    "tokenizer": "epochs=100;batch_size=50;early_stopping=1",
    "tagger": (
        "models=2;templates_1=tagger;guesser_prefixes_max_1=0;use_lemma_1=1;use_xpostag_1=1;"
        "use_feats_1=1;provide_lemma_1=0;provide_xpostag_1=1;provide_feats_1=1;prune_features_1=0;"
        "templates_2=lemmatizer;guesser_prefixes_max_2=4;use_lemma_2=1;use_xpostag_2=0;"
        "use_feats_2=0;provide_lemma_2=1;provide_xpostag_2=0;provide_feats_2=0;prune_features_2=0"
    ),
    "parser": f"{PARSER};transition_system=projective;transition_oracle=dynamic",
}
#: What they chose by treebank: the tokenizer of the models of UD 2.6, the rest of those of UD 2.0
#: (ufal/udpipe, folder training). For other treebanks, that of the first.
CHOSEN = {
    "UD_Hungarian-Szeged": {
        "tokenizer": "dimension=24;segment_size=200;initialization_range=0.1;learning_rate=0.01;"
        "learning_rate_final=0;dropout=0.2",
        "tagger": "guesser_suffix_rules_1=10;guesser_enrich_dictionary_1=6;"
        "guesser_suffix_rules_2=6;guesser_enrich_dictionary_2=6",
        "parser": "learning_rate=0.02;l2=0.3;structured_interval=10",
    },
    "UD_Turkish-IMST": {
        "tokenizer": "dimension=24;segment_size=50;initialization_range=0.1;learning_rate=0.002;"
        "learning_rate_final=0;dropout=0.1",
        "tagger": "guesser_suffix_rules_1=12;guesser_enrich_dictionary_1=6;"
        "guesser_suffix_rules_2=8;guesser_enrich_dictionary_2=4",
        "parser": "learning_rate=0.01;l2=0.3;structured_interval=8",
    },
    "UD_Gothic-PROIEL": {
        "tokenizer": "dimension=24;segment_size=200;initialization_range=0.2;learning_rate=0.01;"
        "learning_rate_final=0;dropout=0.3",
        "tagger": "guesser_suffix_rules_1=12;guesser_enrich_dictionary_1=5;"
        "guesser_suffix_rules_2=8;guesser_enrich_dictionary_2=6",
        "parser": "learning_rate=0.01;l2=0.5;structured_interval=8",
    },
    "UD_English-EWT": {
        "tokenizer": "dimension=64;segment_size=200;initialization_range=0.2;learning_rate=0.01;"
        "learning_rate_final=0.001;dropout=0.1",
        "tagger": "guesser_suffix_rules_1=12;guesser_enrich_dictionary_1=6;"
        "guesser_suffix_rules_2=6;guesser_enrich_dictionary_2=6",
        "parser": "learning_rate=0.01;l2=0.5;structured_interval=8",
    },
}


def pipeline_options(treebank: str) -> dict[str, str]:
    """UDPipe's options for `tokenizer`, `tagger` and `parser` of a whole model of a treebank."""
    chosen = CHOSEN.get(treebank, next(iter(CHOSEN.values())))
    return {part: merge_options(PIPELINE[part], chosen[part]) for part in PIPELINE}


def merge_options(*texts: str) -> str:
    """Merge UDPipe's options, KEY=VALUE[;KEY=VALUE]... or empty each; of a key that comes twice,
    the last value counts. Raises a ValueError if an option has no "="."""
    values = {}
    for option in ";".join(texts).split(";"):
        key, equals, value = option.strip().partition("=")
        if key and not equals:
            raise ValueError(f"UDPipe's option {option!r}: write KEY=VALUE[;KEY=VALUE]...")
        if key:
            values[key] = value
    return ";".join(f"{key}={value}" for key, value in values.items())


def iterations(parser: str) -> int:
    """Passes over the training data, by the parser's options."""
    return int(dict(option.split("=", 1) for option in parser.split(";"))["iterations"])


def read_sentences(text: str) -> list[Any]:
    """UDPipe's sentences of CoNLL-U.

    Raises:
        ValueError: If UDPipe cannot read them.
    """
    from ufal import udpipe

    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(text)
    error = udpipe.ProcessingError()
    sentences, sentence = [], udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise ValueError(f"UDPipe cannot read the CoNLL-U: {error.message}")
    return sentences


def blank(path: Path) -> str:
    """What a parser may see of a CoNLL-U file: words and multiword tokens alone."""
    sentences = [
        "\n".join("\t".join([*row[:2], *"_______", row[9]]) for row in sentence)
        for sentence in conll18.read_rows(path)
    ]
    return "\n\n".join(sentences) + "\n\n"


def train(
    files: tuple[Path, Path], output: Path, tagger: str, parser: str, tokenizer: str = "none"
) -> None:
    """Train a model on the first of two CoNLL-U files, to stop by the second, with UDPipe's options
    for each part (or "none"), and write it to `output`. Raises a ValueError if UDPipe fails."""
    from ufal import udpipe

    error = udpipe.ProcessingError()
    data = [udpipe.Sentences(read_sentences(path.read_text(encoding="utf-8"))) for path in files]
    options = (tokenizer, tagger, parser)
    model = udpipe.Trainer.train("morphodita_parsito", *data, *options, error)
    if error.occurred():
        raise ValueError(f"UDPipe cannot be trained: {error.message}")
    write_files({output: model})


def load(path: Path) -> Any:
    """Load UDPipe's model. Raises an ImportError if ufal.udpipe is not installed, a ValueError if
    UDPipe cannot load the file."""
    try:
        from ufal import udpipe
    except ImportError as error:
        raise ImportError(f"{path.name} needs the package ufal.udpipe: install it.") from error
    model = udpipe.Model.load(str(path))
    if model is None:
        raise ValueError(f"UDPipe cannot load {path}: train it again.")
    return model


def write_into(step: Callable[..., bool], sentences: Sequence[Any]) -> None:
    """Tag or parse (a method of a model) UDPipe's sentences. Raises a ValueError if that fails."""
    from ufal import udpipe

    error = udpipe.ProcessingError()
    for sentence in sentences:
        if not step(sentence, "", error):
            raise ValueError(f"UDPipe fails: {error.message}")


def put_in(doc: Doc, words: list[tuple[int, str]]) -> Doc:
    """Copy a sentence with UDPipe's parse in place of its own: head (from 1, 0 for the root) and
    label of each word. Raises a ValueError if the sentence has other words."""
    if len(words) != len(doc):
        raise ValueError(
            f"UDPipe has {len(words)} words in the sentence that begins with {doc[:5].text!r}, "
            f"the corpus {len(doc)}: convert the treebank again."
        )
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        heads=[head - 1 if head else i for i, (head, _) in enumerate(words)],
        deps=[label if head else "ROOT" for head, label in words],
    )


def evaluate(model: Path, conllu: Path, corpus: Path) -> dict[str, Any]:
    """Tag and parse a gold CoNLL-U file, and score the parses by the .spacy file that it was
    converted to: what `nmparse evaluate` writes; words per second include tagging. Raises a
    ValueError if UDPipe fails."""
    loaded = load(model)
    sentences = read_sentences(blank(conllu))
    start = time.perf_counter()
    write_into(loaded.tag, sentences)
    write_into(loaded.parse, sentences)
    seconds = time.perf_counter() - start

    gold = list(references(read_docs(spacy.blank("xx"), corpus), "sentence"))
    # word 0 is the root
    trees = [
        [(word.head, word.deprel) for word in list(sentence.words)[1:]] for sentence in sentences
    ]
    parsed = [put_in(doc, tree) for doc, tree in zip(gold, trees, strict=True)]
    scored = score_parses(parsed, gold)
    return {
        "words_per_second": round(scored["n_words"] / seconds, 1),
        **scored,
        "conll18": conll18.score_words(conllu, parsed),
    }


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("tagger", "parser", "pipeline"):
        step = steps.add_parser(name)
        step.add_argument("train", type=Path, help="CoNLL-U file to train on")
        step.add_argument("dev", type=Path, help="CoNLL-U file to choose the iteration by")
        step.add_argument("output", type=Path, help="file for the model")
        if name == "pipeline":
            for part in PIPELINE:
                step.add_argument(f"--{part}", default="", help="UDPipe's options for it")
            continue
        step.add_argument("--options", default="", help="UDPipe's, KEY=VALUE[;KEY=VALUE]...")
        if name == "parser":
            step.add_argument("--tagger", type=Path, required=True, help="model of the tagger")
    step = steps.add_parser("evaluate")
    step.add_argument("model", type=Path)
    step.add_argument("conllu", type=Path, help="gold CoNLL-U file")
    step.add_argument("corpus", type=Path, help="the .spacy file that it was converted to")
    step.add_argument("-o", "--output", type=Path, required=True, help="JSON file to write")
    args = parser.parse_args(argv)
    if args.step == "tagger":
        tagger = merge_options(TAGGER, args.options)
        train((args.train, args.dev), args.output, tagger, "none")
    elif args.step == "parser":
        tagger = f"from_model=file:{args.tagger}"
        options = merge_options(PARSER, args.options)
        train((args.train, args.dev), args.output, tagger, options)
    elif args.step == "pipeline":
        given = {part: merge_options(PIPELINE[part], getattr(args, part)) for part in PIPELINE}
        train((args.train, args.dev), args.output, **given)
    else:
        result = evaluate(args.model, args.conllu, args.corpus)
        dump(result, args.output)
        scores = result["scores"]
        print(f"UAS {100 * scores['uas_all']:.2f} LAS {100 * scores['las_all']:.2f}")


if __name__ == "__main__":
    raise SystemExit(main())
