"""A toy treebank, and what the tests of scripts and benchmarks do with it."""

from __future__ import annotations

from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse import cli

ROOT = Path(__file__).resolve().parent.parent

# spaCy's parser cannot learn rare labels otherwise
SMALL = ["components.tok2vec.model.encode.depth=1", "components.parser.min_action_freq=1"]

CONLLU = """\
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_
3\t!\t!\tPUNCT\t_\t_\t0\troot\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t0:root\t_

1\tA\ta\tDET\t_\t_\t4\tdet\t_\t_
2\tcat\tcat\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No
3\tsat\tsit\tVERB\t_\t_\t0\troot\t_\t_
4\ton\ton\tADP\t_\t_\t2\tacl:relcl\t_\t_

1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_
"""


def sentence(*rows: str) -> str:
    """A sentence of CoNLL-U, of rows whose columns are parted by spaces."""
    return "\n".join(rows).replace(" ", "\t") + "\n\n"


def write_treebank(folder: Path) -> Path:
    """The treebank UD_Toy-Test in a folder."""
    treebank = folder / "UD_Toy-Test"
    treebank.mkdir()
    for split in ("train", "dev", "test"):
        # the training file has Windows line ends, and no line end at its end
        text = CONLLU.rstrip("\n").replace("\n", "\r\n") if split == "train" else CONLLU
        (treebank / f"toy_test-ud-{split}.conllu").write_bytes(text.encode())
    return treebank


def benchmarked(treebank: Path, options: str) -> list[str]:
    """Arguments of a benchmark that leaves models and results beside the treebank."""
    places = ("--work", treebank.parent / "work", "--runs", treebank.parent / "runs")
    return [str(treebank), *options.split(), *map(str, places)]


def read(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def nmparse(arguments: list[str]) -> int:
    """The exit status of a command of ours."""
    status = cli.nmparse(arguments, standalone_mode=False)
    return status or 0
