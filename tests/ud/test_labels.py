"""`spacy init labels`: what it writes makes the same pipeline as the data, for each component."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import srsly
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_nmparse.ud.treebank import convert
from spacy_nmparse.ud.whole_pipeline import CONFIGS, whole_pipeline
from tests.toy_treebank import CONLLU


@pytest.mark.parametrize("parser", ["nm_parser", "swap_parser"])
def test_label_data_are_complete(parser: str, tmp_path: Path) -> None:
    source = tmp_path / "a.conllu"
    tree = "1\tBen\tben\tPRON\tP\tA=1\t3\tnsubj\t_\t_\n2-3\tgörmedim\t" + "_\t" * 7 + "_\n"
    tree += "2\tgör\tgör\tVERB\tV\t_\t0\troot\t_\t_\n3\tmedim\tdeğil\tAUX\tX\t_\t2\taux\t_\t_\n"
    source.write_text(f"{CONLLU}\n{tree}\n" * 3, encoding="utf-8")
    files = convert({"train": source, "dev": source}, tmp_path, 2, merge_subtokens=True)
    made = whole_pipeline(load_config(CONFIGS / f"{parser}.cfg", interpolate=False))
    made["components"]["parser"]["projectivize"] = parser == "nm_parser"
    made["paths"].update({split: str(path) for split, path in files.items()})
    made["training"]["max_epochs"] = 1

    def learned(labels: dict[str, Any]) -> dict[str, bytes]:
        config = made.copy()
        config["initialize"]["components"].update(labels)
        nlp = init_nlp(config.interpolate())
        for name in labels or nlp.pipe_names:
            if data := getattr(nlp.get_pipe(name), "label_data", None):
                srsly.write_json(tmp_path / f"{name}.json", data)
        return {name: nlp.get_pipe(name).to_bytes(exclude=["vocab"]) for name in nlp.pipe_names}

    of_data = learned({})
    names = ["parser", "ud_lemmatizer", "multiword_tokens"]
    files_of = {name: tmp_path / f"{name}.json" for name in names}
    labels = {name: {"labels": json.loads(path.read_text())} for name, path in files_of.items()}
    assert learned(labels) == of_data
