"""What a trained pipeline learns of new data before its weights do: words, tables, labels."""

# No postponed annotations: spaCy validates configs by the callback's signature.

from collections.abc import Callable

from spacy.language import Language
from spacy.util import load_model, resolve_dot_names

#: Of a pipeline's meta, what is not taken over: it is made anew.
ANEW = ("spacy_version", "spacy_git_version", "performance")


def LearnMore(model: str) -> Callable[[Language], Language]:
    """For ``initialize.after_init``, where training goes on from a trained pipeline. spaCy does not
    initialize its components: parsers get the labels that the training data have besides, and
    `ud_lemmatizer` and `multiword_tokens` learn of the words in them. Frozen components do not. The
    new pipeline has the name, version, licence, sources, and what else is in the meta of the old.

    Args:
        model: the trained pipeline, a folder or package.
    """

    def learn(nlp: Language) -> Language:
        config = nlp.config.interpolate()
        training = config["training"]
        (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
        examples = list(corpus(nlp))
        for name, pipe in nlp.components:
            if name not in training["frozen_components"] and hasattr(pipe, "learn_more"):
                pipe.learn_more(examples)
        meta = load_model(model).meta
        nlp.meta.update({key: value for key, value in meta.items() if key not in ANEW})
        return nlp

    return learn
