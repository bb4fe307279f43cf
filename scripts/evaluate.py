"""Evaluate a trained pipeline on a .spacy file and write the scores as JSON.

    python scripts/evaluate.py training/nm_parser/model-best corpus/test.spacy -o metrics/nm.json

By default each gold sentence is one document with gold tokens, as in most of the literature.
`--unit doc` keeps the file's documents, so that the parser finds the sentences itself, and
`--tokens raw` lets the pipeline's tokenizer split the text. `--unit text --tokens raw --conllu
FILE` parses the running text of a CoNLL-U file, as the CoNLL 2018 shared task did.
`--tags data` shows the tags of DATA to parsers that look at tags (docs/scorers.md, The linear
scorer).

`uas_all` and `las_all` are the shares of gold words with the right head, and with the right head
and whole label; punctuation counts. `uas_words` and `las_words` leave out words whose gold part of
speech is PUNCT. The other scores are described in
spacy_nmparse/pipe/evaluation.py.

From raw text the scores are those of the CoNLL 2018 evaluation (package udtools): F1 of tokens,
sentences, words, UAS, LAS (labels without subtypes) and CLAS over all words, so that a word that
the tokenizer splits otherwise than the gold data lowers precision and recall. The gold words are
those of DATA: the words that a multiword token stands for, as scripts/convert_ud.py keeps them
with it, or, in data of other converters, the tokens. `--conllu FILE` takes the words of a CoNLL-U
file as gold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy
import spacy
import thinc
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_nmparse.about import __version__
from spacy_nmparse.analysis.statistics import bin_name, bin_names
from spacy_nmparse.pipe.evaluation import length_counts, score_dependencies, sentence_counts
from spacy_nmparse.pipe.tagged import copy_tags
from spacy_nmparse.ud import conll18, conllu_to_docs


def versions() -> dict[str, str]:
    """Collect the versions that a result depends on.

    Returns:
        The version of each program and library.
    """
    return {
        "python": platform.python_version(),
        "spacy_nmparse": __version__,
        "spacy": spacy.__version__,
        "thinc": thinc.__version__,
        "numpy": numpy.__version__,
    }


def machine() -> dict[str, Any]:
    """Describe the machine by what matters for speed.

    Returns:
        System, processor and number of cores.
    """
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor or "unknown",
        "cores": os.cpu_count(),
    }


def read_docs(nlp: Language, path: Path) -> list[Doc]:
    """Read the gold documents.

    Args:
        nlp: The pipeline whose vocab the documents will share.
        path: A .spacy file.

    Returns:
        The documents that have tokens.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it holds no document.
    """
    if not path.is_file():
        raise FileNotFoundError(f"No file {path}: make it with scripts/convert_ud.py.")
    docs = [doc for doc in DocBin().from_disk(path).get_docs(nlp.vocab) if len(doc)]
    if not docs:
        raise ValueError(f"{path} holds no document: convert the treebank again.")
    return docs


def references(docs: list[Doc], unit: str) -> Iterator[Doc]:
    """Give the gold documents in the unit to be parsed.

    Args:
        docs: The gold documents.
        unit: "sentence" (one document per gold sentence) or "doc" (as they are).

    Yields:
        The gold documents.
    """
    for doc in docs:
        if unit == "doc" or not doc.has_annotation("SENT_START"):
            yield doc
        else:
            sents = list(doc.sents)
            if len(sents) == 1:
                yield doc
            else:
                yield from (sent.as_doc() for sent in sents)


def blank_copy(nlp: Language, gold: Doc, tokens: str, sents: str, tags: str = "none") -> Doc:
    """Make the document that the pipeline will parse.

    Args:
        nlp: The pipeline.
        gold: The gold document.
        tokens: "gold", or "raw" for the pipeline's own tokenizer.
        sents: "gold" presets the gold sentence boundaries, "none" leaves them open.
        tags: "data" takes over tags and parts of speech, "none" does not.

    Returns:
        A document with the text of `gold` and no parse.

    Raises:
        ValueError: If boundaries or tags of the data are asked for on raw tokens.
    """
    if tokens == "raw":
        if sents == "gold" or tags == "data":
            raise ValueError("--sents gold and --tags data need --tokens gold.")
        return nlp.make_doc(gold.text)
    doc = Doc(
        nlp.vocab,
        words=[token.text for token in gold],
        spaces=[bool(token.whitespace_) for token in gold],
        sent_starts=[bool(token.is_sent_start) for token in gold] if sents == "gold" else None,
    )
    if tags == "data":
        copy_tags(gold, doc)
    return doc


def evaluate(
    nlp: Language,
    path: Path,
    *,
    unit: str = "sentence",
    tokens: str = "gold",
    sents: str = "none",
    tags: str = "none",
    batch_size: int = 256,
    conllu: Path | None = None,
) -> dict[str, Any]:
    """Parse a file and score the parses.

    Args:
        nlp: The pipeline.
        path: The gold .spacy file.
        unit: See `references`; or "text": the documents of `conllu`, whole.
        tokens: See `blank_copy`.
        sents: See `blank_copy`.
        tags: See `blank_copy`.
        batch_size: Documents per batch.
        conllu: The CoNLL-U file that the file was made from. With gold tokens the parses are
            scored by the program of the CoNLL 2018 shared task too; with raw ones, which always
            are, its words are gold, instead of the tokens of `path`.

    Returns:
        The settings, speed, scores, and counts by length of the gold arc and per sentence.

    Raises:
        ImportError: If the package udtools is needed and not installed.
        ValueError: If `conllu` does not hold the words of `path`.
    """
    if tokens == "raw" or conllu is not None:
        conll18.require_udtools()
    if unit == "text":
        if conllu is None:
            raise ValueError("--unit text needs --conllu: the text is that of the CoNLL-U file.")
        # Merged, multiword tokens have the letters of the text; their words may have others.
        gold = list(conllu_to_docs(conllu, nlp.vocab, merge=True))
    else:
        gold = list(references(read_docs(nlp, path), unit))
    blank = [blank_copy(nlp, doc, tokens, sents, tags) for doc in gold]
    for _ in nlp.pipe([blank_copy(nlp, doc, tokens, sents, tags) for doc in gold[:64]]):
        pass  # warm up
    start = time.perf_counter()
    parsed = list(nlp.pipe(blank, batch_size=batch_size))
    seconds = time.perf_counter() - start

    n_tokens = sum(len(doc) for doc in parsed)
    result = {
        "data": path.name,
        "unit": unit,
        "tokens": tokens,
        "sents": sents,
        "tags": tags,
        "words_per_second": round(n_tokens / seconds, 1) if seconds else None,
        **score_parses(parsed, gold),
    }
    if tokens == "raw":
        result["conll18"] = conll18.score_text(conllu or gold, parsed)
    elif conllu is not None:
        result["conll18"] = conll18.score_words(conllu, parsed)
    return result


def score_parses(parsed: list[Doc], gold: list[Doc]) -> dict[str, Any]:
    """Score parses.

    Args:
        parsed: The parsed documents.
        gold: The gold documents.

    Returns:
        The scores, counts by length of the gold arc, and counts per sentence.
    """
    examples = [Example(pred, ref) for pred, ref in zip(parsed, gold, strict=True)]
    counts = [count for example in examples for count in sentence_counts(example)]
    words = sum(count.words for count in counts)
    scores: dict[str, Any] = {}
    for name, kind in (
        ("all", counts),
        ("words", [count for eg in examples for count in sentence_counts(eg, punctuation=False)]),
    ):
        total = sum(count.words for count in kind)
        scores[f"uas_{name}"] = sum(count.heads for count in kind) / total if total else None
        scores[f"las_{name}"] = sum(count.labelled for count in kind) / total if total else None
    scores.update(score_dependencies(examples))
    by_length = {name: [0, 0, 0] for name in ("root", *bin_names())}
    for example in examples:
        for length, count in length_counts(example).items():
            totals = by_length[bin_name(length) if length else "root"]
            for i, value in enumerate((count.words, count.heads, count.labelled)):
                totals[i] += value
    return {
        "n_sentences": len(counts),
        "n_words": words,
        "scores": scores,
        "by_length": {
            name: dict(zip(("words", "heads", "labelled"), totals, strict=True))
            for name, totals in by_length.items()
        },
        "per_sentence": {
            "words": [count.words for count in counts],
            "heads": [count.heads for count in counts],
            "labelled": [count.labelled for count in counts],
        },
    }


def dump(result: dict[str, Any], path: Path) -> None:
    """Write a result as JSON: indented, but lists and small groups of numbers on one line.

    Args:
        result: What to write.
        path: The file; its folder is made if needed.
    """
    lines: list[str] = []

    def are_numbers(values: Iterable[Any]) -> bool:
        return all(isinstance(value, (int, float)) for value in values)

    def fold(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, list):
            folded: Any = [fold(item) for item in value]
            small = are_numbers(folded)
        elif isinstance(value, dict):
            folded = {key: fold(item) for key, item in value.items()}
            small = len(folded) <= 3 and are_numbers(folded.values())
        else:
            return value
        if not small:
            return folded
        lines.append(json.dumps(folded, separators=(",", ":"), ensure_ascii=False))
        return f"@line{len(lines) - 1}@"

    text = json.dumps(fold(result), indent=1, ensure_ascii=False)
    text = re.sub(r'"@line(\d+)@"', lambda match: lines[int(match[1])], text)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read settings from the command line, as `spacy train` reads its own.

    Args:
        settings: KEY=VALUE each, the key with its dots; values are JSON, or else strings.

    Returns:
        The values by key.

    Raises:
        ValueError: If one has no key or no "=".
    """
    result: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise ValueError(f"Setting {setting!r}: write KEY=VALUE.")
        try:
            result[key] = json.loads(value)
        except json.JSONDecodeError:
            result[key] = value
    return result


def write_setting(value: Any) -> str:
    """Write a setting's value so that `parse_settings` and `spacy train` read it back.

    Args:
        value: A value of JSON.

    Returns:
        The text.
    """
    if isinstance(value, str):
        try:
            json.loads(value)
        except json.JSONDecodeError:
            return value
    return json.dumps(value)


def print_scores(scores: dict[str, Any]) -> None:
    """Print scores in percent.

    Args:
        scores: The scores, between 0 and 1 or None, by name; others are left out. Or `error`.
    """
    if "error" in scores:
        print(f"  not evaluated: {scores['error']}")
    for name, value in scores.items():
        if isinstance(value, float):
            print(f"  {name:<14} {100 * value:6.2f}")
        elif value is None:
            print(f"  {name:<14}      -")


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder or package name of a trained pipeline")
    parser.add_argument("data", type=Path, help="gold .spacy file")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write")
    parser.add_argument("--unit", choices=("sentence", "doc", "text"), default="sentence")
    parser.add_argument("--tokens", choices=("gold", "raw"), default="gold")
    parser.add_argument("--sents", choices=("none", "gold"), default="none")
    parser.add_argument("--tags", choices=("none", "data"), default="none")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument(
        "--conllu",
        type=Path,
        help="the CoNLL-U file that DATA was made from: score by the program of the CoNLL 2018 "
        "shared task against its words (needs the package udtools)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another setting, such as components.parser.beam_width=8",
    )
    args = parser.parse_args(argv)
    try:
        nlp = spacy.load(args.model, config=parse_settings(args.set))
        result = evaluate(
            nlp,
            args.data,
            unit=args.unit,
            tokens=args.tokens,
            sents=args.sents,
            tags=args.tags,
            batch_size=args.batch_size,
            conllu=args.conllu,
        )
    except (ImportError, OSError, ValueError) as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 1
    command = ["scripts/evaluate.py", Path(args.model).name, args.data.name]
    for name in ("unit", "tokens", "sents", "tags"):
        command += [f"--{name}", getattr(args, name)]
    if args.conllu:
        command += ["--conllu", args.conllu.name]
    for setting in args.set:
        command += ["--set", setting]
    result = {
        "model": nlp.meta.get("name") or Path(args.model).name,
        "command": " ".join(command),
        "versions": versions(),
        "machine": machine(),
        **result,
    }
    print(f"{args.data.name}: {result['n_sentences']} sentences, {result['n_words']} words")
    if args.tokens == "gold":
        print_scores(result["scores"])
    if "conll18" in result:
        gold = args.conllu or args.data
        print(f"  CoNLL 2018 evaluation, F1 against the words of {gold.name}")
        print_scores(result["conll18"])
    print(f"  {'words/s':<14} {result['words_per_second'] or 0:6.0f}")
    if args.output:
        dump(result, args.output)
        print(f"  written to {args.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
