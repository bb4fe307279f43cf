"""A config for a parser, made one for a whole pipeline."""

from __future__ import annotations

from typing import Any

from thinc.api import Config

LEMMATIZER, MULTIWORD = "ud_lemmatizer", "multiword_tokens"
#: Copies of the training data in which sentences have other neighbours, so that documents are not
#: learned by heart.
COPIES = 2


def whole_pipeline(config: dict[str, Any]) -> Config:
    """Add what a parser's pipeline lacks.

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
    if "write_tags" not in parser or "tok2vec" not in components:
        raise ValueError(
            "The config has no tok2vec, or no parser of spacy-nmparse: give one of configs/."
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
    found["initialize"]["before_init"] = {
        "@callbacks": "spacy_nmparse.fit_tokenizer.v1",
        "corpus": "${paths.train}",
    }
    found["corpora"]["train"].update(
        {
            "@readers": "spacy_nmparse.NonceCorpus.v1",
            "copies": COPIES,
            "level": 0.0,
            "regroup": True,
        }
    )
    found["training"]["max_epochs"] = epochs_of(found["training"]["max_epochs"], COPIES)
    weights = {"dep_las": 0.7, "morph_acc": 0.1, "pos_acc": 0.1, "lemma_acc": 0.1, "tag_acc": 0.0}
    found["training"]["score_weights"].update(weights)
    return found


def epochs_of(passes: int, copies: int) -> int:
    """Count the epochs in which training reads as many words as in passes over the treebank.

    Args:
        passes: Over the treebank.
        copies: Of the treebank in the training data, besides itself.

    Returns:
        The epochs, at least 1; below 1 pass, which spaCy takes for no limit, the passes.
    """
    return passes if passes < 1 else max(1, round(passes / (1 + copies)))
