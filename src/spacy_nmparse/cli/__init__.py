"""`python -m spacy nmparse ...`: found by spaCy's command line through an entry point.

spaCy imports this module for each of its commands: it imports nothing of ours until one of our own
commands runs, and a spaCy that keeps its application elsewhere just does not get them. What a
command does is in the module of its name.
"""

# No postponed annotations here: typer reads them.
from importlib.metadata import entry_points
from pathlib import Path
from typing import List, Optional

import typer

HELP = "Convert treebanks, parse files, evaluate, and see what parsers do."
JSON = typer.Option(False, "--json", help="Print JSON")
MODEL = typer.Argument(..., help="A pipeline: its package or folder")
CORPUS = typer.Argument(..., help="A .spacy or CoNLL-U (.conllu) file with trees")
COMPONENT = typer.Option(None, "--component", help="Name of the parser, if there are several")
LIMIT = typer.Option(0, "--limit", "-n", min=0, help="Only the first documents; 0: all")
UNIT = typer.Option(
    "sentence", "--unit", help="'sentence': each gold sentence by itself; 'doc': whole documents"
)

nmparse = typer.Typer(name="nmparse", no_args_is_help=True, help=HELP)


@nmparse.callback()
def main() -> None:
    """Convert treebanks, parse files, evaluate, and see what parsers do."""


@nmparse.command("parse")
def parse(
    model: str = MODEL,
    inputs: List[str] = typer.Argument(
        ..., help="Text, CoNLL-U and .spacy files, folders of them; - reads standard input"
    ),
    output: str = typer.Option(
        "-", "--output", "-o", help="A file; of several inputs a folder; -: standard output"
    ),
    form: Optional[str] = typer.Option(
        None, "--format", "-f", help="'conllu', 'json' or 'spacy'; else by the output's name"
    ),
    kind: Optional[str] = typer.Option(
        None,
        "--input-format",
        help="'text', 'lines' (each a document), 'conllu' or 'spacy'; else by the input's name",
    ),
    confidence: bool = typer.Option(
        False, "--confidence", help="Write how sure the parser is of each head and label"
    ),
    n_process: int = typer.Option(1, "--n-process", min=1, help="Processes"),
    batch_size: int = typer.Option(
        0, "--batch-size", min=0, help="Documents of a batch; 0: the pipeline's own"
    ),
    keep_going: bool = typer.Option(
        False, "--keep-going", help="Write documents that fail without a parse, with the error"
    ),
    force: bool = typer.Option(
        False, "--force", help="Parse also what is parsed already, and overwrite any file"
    ),
) -> None:
    """Parse text, CoNLL-U and .spacy files into CoNLL-U, JSON or .spacy files."""
    from spacy_nmparse.cli.parse import run

    run(model, inputs, output, form, kind, confidence, n_process, batch_size, keep_going, force)


@nmparse.command("convert")
def convert(
    paths: List[str] = typer.Argument(
        ..., metavar="[TREEBANK] OUTPUT", help="Folder of a UD treebank, and folder to write"
    ),
    train: List[Path] = typer.Option([], "--train", help="A training file, instead of TREEBANK's"),
    dev: List[Path] = typer.Option([], "--dev", help="A file of development data, likewise"),
    test: List[Path] = typer.Option([], "--test", help="A file of test data, likewise"),
    n_sents: int = typer.Option(1, "--n-sents", min=1, help="Sentences of a document"),
    with_single: bool = typer.Option(
        False, "--with-single", help="Also each tenth training sentence alone"
    ),
    one_root: bool = typer.Option(False, help="Refuse sentences with several roots"),
    merge_subtokens: str = typer.Option(
        "no",
        "--merge-subtokens",
        help="Keep multiword tokens in one piece: 'yes', 'no', or 'auto': those that the tokenizer "
        "of --lang does not split into their words",
    ),
    lang: Optional[str] = typer.Option(
        None, "--lang", help="spaCy's language code: say how well its tokenizer fits the treebank"
    ),
) -> None:
    """Convert a treebank of Universal Dependencies (CoNLL-U) to .spacy files."""
    from spacy_nmparse.cli.convert import run

    named = {"train": train, "dev": dev, "test": test}
    run(paths, named, n_sents, with_single, one_root, merge_subtokens, lang)


@nmparse.command("init-config")
def init_config(
    output: Path = typer.Argument(..., help="The config to write"),
    lang: Optional[str] = typer.Option(None, "--lang", help="spaCy's language code"),
    pipeline: str = typer.Option(
        "whole", "--pipeline", help="'whole': words, tags, lemmas and trees; 'parser': trees alone"
    ),
    parser: str = typer.Option(
        "nl_covington_parser",
        "--parser",
        help="'nl_covington_parser', 'nm_parser', 'swap_parser', or a parser's config (.cfg)",
    ),
    vectors: Optional[str] = typer.Option(
        None, "--vectors", help="A pipeline with word vectors: its package or folder"
    ),
) -> None:
    """Write a config to train with `python -m spacy train`."""
    from spacy_nmparse.cli.init_config import run

    run(output, lang, pipeline, parser, vectors)


@nmparse.command("evaluate")
def evaluate(
    model: str = MODEL,
    data: Path = typer.Argument(..., help="Gold data: a .spacy or CoNLL-U (.conllu) file"),
    output: Optional[Path] = typer.Option(None, "--output", "-o", help="A JSON file to write"),
    unit: str = typer.Option(
        "sentence",
        "--unit",
        help="'sentence': each gold sentence by itself; 'doc': whole documents; 'text': the "
        "running text of the CoNLL-U file",
    ),
    tokens: str = typer.Option("gold", "--tokens", help="'gold', or 'raw': the tokenizer's"),
    sents: str = typer.Option("none", "--sents", help="'gold': preset the gold boundaries; 'none'"),
    tags: str = typer.Option("none", "--tags", help="'data': show the parser gold tags; 'none'"),
    conllu: List[Path] = typer.Option(
        [],
        "--conllu",
        help="The CoNLL-U file that DATA was made from: score by the program of the CoNLL 2018 "
        "shared task against its words",
    ),
    batch_size: int = typer.Option(256, "--batch-size", min=1, help="Documents of a batch"),
    settings: List[str] = typer.Option(
        [], "--set", help="Another setting, KEY=VALUE, as components.parser.beam_width=8"
    ),
) -> None:
    """Score a pipeline on gold data: trees on gold tokens, or everything from raw text."""
    from spacy_nmparse.cli.evaluate import run

    how = {"unit": unit, "tokens": tokens, "sents": sents, "tags": tags}
    run(model, data, output, how, conllu, batch_size, settings)


@nmparse.command("trace")
def trace(
    model: str = MODEL,
    text: Optional[str] = typer.Argument(None, help="The text to parse; - reads standard input"),
    corpus: Optional[Path] = typer.Option(
        None, "--corpus", help="Instead of a text: take a sentence of this file, with its gold tree"
    ),
    number: int = typer.Option(1, "--number", min=1, help="Which sentence of the corpus"),
    words: bool = typer.Option(False, "--words", help="The text's words are parted by spaces"),
    component: Optional[str] = COMPONENT,
    choices: int = typer.Option(0, "--choices", min=0, help="Show other moves at each step"),
    pictures: str = typer.Option(
        "tree", "--pictures", help="Arcs drawn: 'tree', 'repairs' (each repair too), 'all', 'none'"
    ),
    html: Optional[Path] = typer.Option(None, "--html", help="Write a page that steps through it"),
    as_json: bool = JSON,
) -> None:
    """Follow a trained parser through a text, move by move."""
    from spacy_nmparse.cli.trace import run

    run(model, text, corpus, number, words, component, choices, pictures, html, as_json)


@nmparse.command("stats")
def stats(corpus: Path = CORPUS, as_json: bool = JSON) -> None:
    """Describe a treebank: sizes, crossing arcs, SWAPs by oracle, transitions by system."""
    from spacy_nmparse.cli.stats import run

    run(corpus, as_json)


@nmparse.command("repairs")
def repairs(
    model: str = MODEL,
    corpus: Path = CORPUS,
    component: Optional[str] = COMPONENT,
    unit: str = UNIT,
    limit: int = LIMIT,
    examples: int = typer.Option(2, "--examples", min=0, help="Examples of each kind and outcome"),
    as_json: bool = JSON,
) -> None:
    """Judge the non-monotonic moves that a parser makes, and those that it misses."""
    from spacy_nmparse.cli.repairs import run

    run(model, corpus, component, unit, limit, examples, as_json)


@nmparse.command("errors")
def errors(
    model: str = MODEL,
    corpus: Path = CORPUS,
    component: Optional[str] = COMPONENT,
    unit: str = UNIT,
    limit: int = LIMIT,
    displacy: Optional[Path] = typer.Option(
        None, "--displacy", help="Write displaCy's pictures of the parses, errors marked"
    ),
    as_json: bool = JSON,
) -> None:
    """Break a parser's errors down, and find its first wrong moves and what they cost."""
    from spacy_nmparse.cli.errors import run

    run(model, corpus, component, unit, limit, displacy, as_json)


@nmparse.command("ensemble")
def ensemble(
    models: List[str] = typer.Argument(..., help="Pipelines, packages or folders: two or more"),
    output: Path = typer.Option(..., "--output", "-o", help="Folder for the new pipeline"),
    component: Optional[str] = COMPONENT,
) -> None:
    """Make one parser of several that were trained by themselves: slower, and more accurate."""
    from spacy_nmparse.cli.ensemble import run

    run(models, output, component)


@nmparse.command("replace")
def replace(
    pipeline: str = typer.Argument(..., help="The pipeline to change: its package or folder"),
    parser: str = typer.Argument(..., help="The pipeline that has the new parser"),
    output: Path = typer.Option(..., "--output", "-o", help="Folder for the new pipeline"),
    component: Optional[str] = COMPONENT,
    text: Optional[Path] = typer.Option(
        None, "--text", help="Check on the lines of this file; else on spaCy's examples"
    ),
) -> None:
    """Replace the parser of a pipeline, and check that all other annotation stays the same."""
    from spacy_nmparse.cli.replace import run

    run(pipeline, parser, output, component, text)


@nmparse.command("oracle")
def oracle(
    system: str = typer.Argument(..., help="Name of a transition system, as arc_eager"),
    tree: Optional[str] = typer.Argument(
        None,
        help="Heads as in CoNLL-U, as '2 0 2' or '2:nsubj 0:root 2:obj' (0 is ROOT, _ unknown), or "
        "a CoNLL-U file. Not needed with --words and --moves",
    ),
    words: Optional[str] = typer.Option(None, "--words", help="The words, for heads"),
    moves: Optional[str] = typer.Option(
        None, "--moves", help="The moves to make, as 'SHIFT LEFT-ARC(nsubj)', not an oracle's"
    ),
    option: List[str] = typer.Option(
        [], "--option", "-o", help="An option of the system: name, name=true, name=3"
    ),
    name: str = typer.Option("dynamic", "--oracle", help="The oracle to follow"),
    number: int = typer.Option(1, "--number", min=1, help="Which sentence of the file"),
    every: int = typer.Option(
        1, "--derivations", min=1, help="Up to so many of them, if the oracle allows several"
    ),
    html: Optional[Path] = typer.Option(None, "--html", help="Write a page that steps through it"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON, a line for each step"),
) -> None:
    """Derive a tree step by step: configuration, cost of every legal move, the move taken, and the
    arcs that it loses."""
    from spacy_nmparse.cli.oracle import run

    run(system, tree, words, moves, option, name, number, every, html, as_json)


@nmparse.command("systems")
def systems(
    system: Optional[str] = typer.Argument(None, help="This system alone"), as_json: bool = JSON
) -> None:
    """List the transition systems: options with types and defaults, oracles."""
    from spacy_nmparse.cli.systems import run

    run(system, as_json)


@nmparse.command(
    "debug-data", context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def debug_data(
    ctx: typer.Context,
    config: Path = typer.Argument(..., help="A training config"),
    code: Optional[Path] = typer.Option(None, "--code", "-c", help="Python file to import first"),
    component: Optional[str] = COMPONENT,
    as_json: bool = JSON,
) -> None:
    """Check the data of a config for its parser. Overrides as in spaCy: --paths.train FILE."""
    from spacy_nmparse.cli.debug_data import run

    run(config, ctx.args, code, component, as_json)


for point in entry_points(group="spacy_nmparse_commands"):
    nmparse.command(point.name)(point.load())

try:
    from spacy.cli._util import app

    app.add_typer(nmparse, name="nmparse")
except ImportError:  # pragma: no cover
    pass
