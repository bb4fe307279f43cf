"""What a trained parser gains by beam search, and how far its confidences can be trusted.

    python -m benchmarks.search training/model-best corpus/dev.spacy --name nm_parser-gothic

For every beam width: UAS and LAS of all words, the time that parsing takes, token vectors included,
and the expected calibration error of the confidences in heads, and in heads and labels. Each
sentence is a document with its boundaries preset. Temperatures are fitted to one half of the
documents (`parser.calibrate`); errors before and after, and the area under the ROC curve of right
and wrong words, are measured on the other. So are the words that hang off ROOT: how many are right,
and how sure the parser is of them on average, before and after. LAS by fifths of all sentences,
sorted by the confidence in the head of their least sure word, says what such an order is worth. Use
a development set that the model was not chosen for, or take the errors for a little too low.

Result: two tables, and benchmarks/runs/search/NAME.json.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.common import RUNS, command_line, record
from benchmarks.formats import markdown
from spacy_nmparse.pipe.calibration import calibration_error
from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.ud.evaluate import blank_copy, read_docs, references
from spacy_nmparse.ud.records import dump

PARSER = "parser"  # the component's name in the configs
KINDS = ("head", "label")
N_PARTS = 5  # of the sentences sorted by their least sure words


def right_and_said(parsed: Sequence[Doc], gold: Sequence[Doc]) -> tuple[Any, Any]:
    """Compare parses with gold.

    Args:
        parsed: Parsed documents with confidences.
        gold: The same with gold trees.

    Returns:
        Two float arrays (2, words): whether the head, and head and label, are right; and how sure
        the parser was.
    """
    right, said = [], []
    for doc, reference in zip(parsed, gold, strict=True):
        found = confidences(doc)
        assert found is not None
        for token, true in zip(doc, reference, strict=True):
            head = token.head.i == true.head.i
            right.append((head, head and token.dep_ == true.dep_))
            said.append(found[:, token.i])
    return numpy.asarray(right, dtype="float64").T, numpy.stack(said, axis=1)


def area_under_curve(said: Any, right: Any) -> float:
    """Compute how often a right word has more confidence than a wrong one.

    Args:
        said: The confidences.
        right: Whether they were right.

    Returns:
        The area under the ROC curve; ties count half.
    """
    values, places = numpy.unique(said, return_inverse=True)
    wrong_ones = numpy.bincount(places, 1 - right, len(values))
    right_ones = numpy.bincount(places, right, len(values))
    below = numpy.cumsum(wrong_ones) - wrong_ones / 2
    pairs = right_ones.sum() * wrong_ones.sum()
    return float((right_ones * below).sum() / pairs) if pairs else float("nan")


def are_roots(parsed: Sequence[Doc]) -> Any:
    """Say which words hang off ROOT.

    Args:
        parsed: Parsed documents.

    Returns:
        A bool array (words,).
    """
    return numpy.asarray([token.head.i == token.i for doc in parsed for token in doc])


def accuracy_by_sureness(sentences: Sequence[Doc], said: Any, right: Any) -> list[float]:
    """Sort sentences by their least sure word, and divide them into equal parts.

    Args:
        sentences: The sentences.
        said: Float array (words,), how sure the parser was of each of their words.
        right: Float array (words,), whether it was right.

    Returns:
        The accuracy in each part, the one with the least sure words first.
    """
    lengths = [len(doc) for doc in sentences]
    sentence = numpy.repeat(numpy.arange(len(lengths)), lengths)
    least = numpy.ones(len(lengths))
    numpy.minimum.at(least, sentence, said)
    parts = numpy.array_split(numpy.argsort(least, kind="stable"), N_PARTS)
    return [float(right[numpy.isin(sentence, part)].mean()) for part in parts]


def measure(nlp: Language, gold: list[Doc], width: int) -> dict[str, Any]:
    """Measure one width.

    Args:
        nlp: The pipeline.
        gold: Gold documents.
        width: The beam's width.

    Returns:
        Accuracy, seconds and words per second, and by kind of confidence its temperature,
        calibration errors and area under the curve; accuracy and mean confidence of the words that
        hang off ROOT; and the parts of `accuracy_by_sureness`.
    """
    parser: Any = nlp.get_pipe(PARSER)
    parser.beam_width = width
    parser.confidence = False
    docs = [blank_copy(nlp, doc, "gold", "gold") for doc in gold]
    start = time.perf_counter()
    for _ in nlp.pipe(docs, batch_size=256):
        pass
    seconds = time.perf_counter() - start
    parser.confidence = True

    def parse(which: Sequence[Doc]) -> list[Doc]:
        return list(nlp.pipe([blank_copy(nlp, doc, "gold", "gold") for doc in which]))

    parser.cfg.pop("temperatures", None)
    right, said = right_and_said(parse(gold), gold)
    result: dict[str, Any] = {
        "width": width,
        "uas_all": float(right[0].mean()),
        "las_all": float(right[1].mean()),
        "seconds": round(seconds, 2),
        "words_per_second": round(right.shape[1] / seconds, 1),
        "las_by_least_sure": accuracy_by_sureness(gold, said[0], right[1]),
    }
    fit, held_out = gold[::2], gold[1::2]
    parsed = parse(held_out)
    right, before = right_and_said(parsed, held_out)
    roots = are_roots(parsed)
    found = parser.calibrate([Example(doc, ref) for doc, ref in zip(parse(fit), fit, strict=True)])
    _, after = right_and_said(parse(held_out), held_out)
    for row, kind in enumerate(KINDS):
        result[kind] = {
            "temperature": found[kind].temperature,
            "error_before": calibration_error(before[row], right[row]),
            "error_after": calibration_error(after[row], right[row]),
            "area_under_curve": area_under_curve(before[row], right[row]),
        }
    result["roots"] = {
        "right": float(right[0, roots].mean()),
        "said_before": float(before[0, roots].mean()),
        "said_after": float(after[0, roots].mean()),
    }
    parser.cfg.pop("temperatures", None)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("model", help="a trained pipeline")
    parser.add_argument("data", type=Path, help="a .spacy file with gold trees")
    parser.add_argument("--name", required=True, help="of the result file")
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--runs", type=Path, default=RUNS)
    arguments = parser.parse_args(argv)
    nlp = spacy.load(arguments.model)
    gold = list(references(read_docs(nlp, arguments.data), "sentence"))
    runs = [measure(nlp, gold, width) for width in arguments.widths]
    result = {"name": arguments.name, "data": arguments.data.name, "sentences": len(gold)}
    result |= {"widths": runs, **record()}
    dump(result, arguments.runs / "search" / f"{arguments.name}.json")
    rows = []
    for run in runs:
        cells = [f"{100 * run[metric]:.2f}" for metric in ("uas_all", "las_all")]
        cells.append(f"{run['words_per_second']:.0f}")
        for kind in KINDS:
            cells += [f"{run[kind]['error_before']:.3f}", f"{run[kind]['error_after']:.3f}"]
            cells.append(f"{run[kind]['area_under_curve']:.2f}")
        rows.append([str(run["width"]), *cells])
    header = ["width", "UAS", "LAS", "words/s"]
    for kind in ("head", "label"):
        header += [f"{kind} ECE", "calibrated", "AUC"]
    print(markdown(header, rows))
    rows = []
    for run in runs:
        cells = [f"{run['roots'][key]:.3f}" for key in ("right", "said_before", "said_after")]
        cells += [f"{100 * las:.1f}" for las in run["las_by_least_sure"]]
        rows.append([str(run["width"]), *cells])
    header = ["width", "roots right", "confidence", "calibrated"]
    header += [f"LAS {part + 1}/{N_PARTS}" for part in range(N_PARTS)]
    print(markdown(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
