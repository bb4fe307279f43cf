"""A pretrained transformer as a component: that of spacy-curated-transformers, made fit for a CPU.

While it is not trained (``frozen``), training asks for the same documents in each epoch: their
outputs are kept, and the transformer runs once for each. Updates work with NumPy 2.4, where
spacy-curated-transformers 0.3.1 fails.

Only ``registered.make_transformer`` imports this module: it needs spacy-curated-transformers.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from spacy.attrs import LENGTH, ORTH, SPACY
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy_curated_transformers.models.listeners import replace_listener_cfg_callback
from spacy_curated_transformers.models.output import TransformerModelOutput
from spacy_curated_transformers.pipeline.transformer import CuratedTransformer
from thinc.api import Optimizer
from thinc.types import Ragged

#: Letters of a word that the transformer sees. The time that its pieces take grows with the cube of
#: their number: a word of 20,000 letters would take hours.
LONGEST = 100

#: Updates after which memory is given back to the system.
N_UPDATES = 50

Outputs = list[list[Ragged]]
Backprop = Callable[..., Any]


class PretrainedTransformer(CuratedTransformer):
    """The component. ``megabytes`` is how much of the outputs is kept at most."""

    def __init__(self, *args: Any, megabytes: int, **settings: Any) -> None:
        super().__init__(*args, **settings)
        if megabytes < 0:
            raise ValueError(
                f"The component '{self.name}': megabytes must be at least 0, got {megabytes}."
            )
        self.megabytes = megabytes
        self.model.attrs["replace_listener_cfg"] = with_listener
        self._n_updates = 0
        self._forget()

    def _forget(self) -> None:
        self._kept: KeptOutputs | None = None

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        encoder_loader: Callable | None = None,
        piecer_loader: Callable | None = None,
    ) -> None:
        """As of ``CuratedTransformer``."""
        self._forget()
        super().initialize(
            get_examples, nlp=nlp, encoder_loader=encoder_loader, piecer_loader=piecer_loader
        )

    def from_bytes(self, *args: Any, **settings: Any) -> PretrainedTransformer:
        """As of ``TrainablePipe``."""
        self._forget()
        super().from_bytes(*args, **settings)
        return self

    def from_disk(self, *args: Any, **settings: Any) -> PretrainedTransformer:
        """As of ``TrainablePipe``."""
        self._forget()
        super().from_disk(*args, **settings)
        return self

    def update(self, examples: Iterable[Example], **settings: Any) -> dict[str, float]:
        """As of ``CuratedTransformer``. If the transformer is frozen, outputs are kept from now on,
        those of ``predict`` too: training evaluates the same documents again and again."""
        if self.frozen and self._kept is None:
            self._kept = KeptOutputs(self.name, self.megabytes)
        self._n_updates += 1
        if not self.frozen and self._n_updates % N_UPDATES == 0:
            give_back_memory()
        return super().update(examples, **settings)

    def predict(self, docs: Iterable[Doc]) -> TransformerModelOutput:
        """Run the transformer on the documents whose outputs are not kept."""
        docs = with_short_words(docs)
        if self._kept is None or not self.frozen:
            return super().predict(docs)
        return TransformerModelOutput(
            outputs=self._kept.outputs(docs, super().predict),
            last_layer_only=not self.all_layer_outputs,
        )

    def _create_backprops(
        self, docs: Iterable[Doc], losses: dict[str, float], *, sgd: Optimizer | None = None
    ) -> tuple[TransformerModelOutput, Backprop, Backprop]:
        """The outputs; what adds up the gradients of all listeners but the last; what takes those
        of the last and trains the transformer. The loss is the sum of the squared gradients."""
        if self.frozen:
            return self.predict(docs), no_gradient, no_gradient
        outputs, backprop_model = self.model.begin_update(with_short_words(docs))
        alloc = self.model.ops.alloc_f
        gradients = [
            [Ragged(alloc(layer.dataXd.shape), layer.lengths) for layer in layers]
            for layers in outputs.all_outputs
        ]

        def accumulate(given: Outputs, outputs_to_backprop: tuple[int, ...]) -> list[Doc]:
            for total, one in zip(gradients, given, strict=True):
                for j in outputs_to_backprop:
                    total[j].data += one[j].data
            return []

        def backprop(given: Outputs, outputs_to_backprop: tuple[int, ...]) -> Any:
            accumulate(given, outputs_to_backprop)
            arrays: list[Any] = [layer.data for total in gradients for layer in total]
            losses[self.name] += float(sum((array**2).sum() for array in arrays))
            d_docs = backprop_model(gradients)
            if sgd is not None:
                self.finish_update(sgd)
            return d_docs

        return outputs, accumulate, backprop


def with_short_words(docs: Iterable[Doc]) -> list[Doc]:
    """Documents with the first LONGEST letters of each word."""
    found = []
    for doc in docs:
        if doc.to_array(LENGTH).max(initial=0) > LONGEST:
            words = [word.text[:LONGEST] for word in doc]
            doc = Doc(doc.vocab, words=words, spaces=[bool(word.whitespace_) for word in doc])
        found.append(doc)
    return found


def with_listener(transformer: dict[str, Any], heard: dict[str, Any]) -> dict[str, Any]:
    """The config of a transformer in the place of the layer that listens to it.

    Args:
        transformer: the config of the transformer's model.
        heard: that of all token vectors of the component that listens. The listener may be one of
            several layers, where ``replace_listener_cfg_callback`` wants it alone.
    """
    blocks = [heard]
    while "upstream" not in blocks[-1]:
        blocks += [part for part in blocks.pop().values() if isinstance(part, dict)]
    config: dict[str, Any] = replace_listener_cfg_callback(transformer, blocks[-1])
    return config


def give_back_memory() -> None:
    """Give free memory back to the system. Each batch has other sizes, so that little of what
    PyTorch has freed fits the next one: glibc would keep gigabytes of it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def no_gradient(given: Outputs, outputs_to_backprop: tuple[int, ...]) -> list[Doc]:
    """The backward pass of a frozen transformer."""
    return []


class KeptOutputs:
    """The outputs of a transformer, the component of this name, by the words of documents. When the
    megabytes are used up, what is kept stays, and other documents are computed each time: a warning
    says so once, but for 0."""

    def __init__(self, name: str, megabytes: int) -> None:
        self._free = megabytes * 1_000_000
        self._warning = megabytes and (
            f"The component '{name}' keeps what it says of documents, but megabytes = {megabytes} "
            f"are full: it runs again for each other document, and training takes much longer. Set "
            f"--components.{name}.megabytes higher if there is memory. (Said once.)"
        )
        self._kept: dict[bytes, list[Ragged]] = {}

    def outputs(
        self, docs: list[Doc], run: Callable[[list[Doc]], TransformerModelOutput]
    ) -> Outputs:
        """Look documents up, and run the transformer on those that are not there."""
        keys = [doc.to_array([ORTH, SPACY]).tobytes() for doc in docs]
        lacking = {key: doc for key, doc in zip(keys, docs, strict=True) if key not in self._kept}
        found: dict[bytes, list[Ragged]] = {}
        if lacking:
            made = run(list(lacking.values())).all_outputs
            found = dict(zip(lacking, map(compact, made), strict=True))
        for key, layers in found.items():
            size = sum(layer.dataXd.nbytes for layer in layers)
            if size <= self._free:
                self._free -= size
                self._kept[key] = layers
            elif self._warning:
                warnings.warn(self._warning, stacklevel=2)
                self._warning = 0
        return [self._kept.get(key) or found[key] for key in keys]


def compact(layers: list[Ragged]) -> list[Ragged]:
    """Outputs in memory of their own: those of a document may be a view of its whole batch."""
    return [Ragged(layer.dataXd.copy(), layer.lengths) for layer in layers]
