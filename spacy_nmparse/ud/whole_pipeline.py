"""A config for a parser, made one for a whole pipeline; and what teachers of it differ in."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from thinc.api import Config

#: The package's configs, one for each parser.
CONFIGS = Path(str(files("spacy_nmparse.configs")))
FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")
LEMMATIZER, MULTIWORD = "ud_lemmatizer", "multiword_tokens"
#: What teachers differ in, by turns, so that they err in different places: the config; phrases are
#: exchanged, and no words; a wider network.
KINDS: dict[str, dict[str, Any]] = {
    "": {},
    "phrases": {"training.batcher.level": 0.0, "training.batcher.phrases": 0.4},
    "wide": {"components.parser.model.recurrent_width": 128},
}


def whole_pipeline(config: dict[str, Any]) -> Config:
    """Add what a parser's pipeline lacks: tags, a lemmatizer on the same token vectors, the words
    of multiword tokens, and a tokenizer that learns from the training data, as the parser learns to
    join what it splits.

    Args:
        config: A config with a `tok2vec` and a parser of this package called `parser`, variables
            not replaced. It is not changed.

    Returns:
        The config of the whole pipeline.

    Raises:
        ValueError: If the config has no such parser.
    """
    found = Config(config).copy()
    components = found["components"]
    parser = components.get("parser", {})
    if parser.get("factory") not in FACTORIES or "tok2vec" not in components:
        raise ValueError(
            "A whole pipeline has a tok2vec and a parser of spacy-nmparse: name another parser "
            f"({', '.join(FACTORIES)}), or make the parser alone (pipeline: parser)."
        )
    parser["write_tags"] = True
    components[LEMMATIZER] = {
        "factory": LEMMATIZER,
        "min_tree_freq": 1,
        "model": {
            "@architectures": "spacy.Tagger.v2",
            "nO": None,
            "normalize": False,
            "tok2vec": dict(parser["model"]["tok2vec"]),
        },
    }
    components[MULTIWORD] = {"factory": MULTIWORD}
    found["nlp"]["pipeline"] = [*found["nlp"]["pipeline"], LEMMATIZER, MULTIWORD]
    found["nlp"]["after_pipeline_creation"] = {
        "@callbacks": "spacy_nmparse.ud_noun_chunks.v1",
        "replace": True,
    }
    found["initialize"]["before_init"] = {
        "@callbacks": "spacy_nmparse.fit_tokenizer.v1",
        "corpus": "${paths.train}",
    }
    train = found["corpora"]["train"]
    if train["@readers"] == "spacy_nmparse.Corpus.v1":
        train["subtokens"] = True
    # Sentences have other neighbours in each epoch, so that documents are not learned by heart.
    found["training"]["batcher"]["regroup"] = True
    weights = {"dep_las": 0.7, "morph_acc": 0.1, "pos_acc": 0.1, "lemma_acc": 0.1, "tag_acc": 0.0}
    found["training"]["score_weights"].update(weights)
    return found
