"""A parser as a web service.

    python -m pip install fastapi uvicorn
    MODEL=training/model-best python -m uvicorn --app-dir examples service:app
    curl localhost:8000/parse -H "Content-Type: application/json" -d '{"texts": ["She saw it."]}'

The answer has for each text its words and the first ones of its sentences, or an error.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Annotated, Any

import spacy
from fastapi import FastAPI
from pydantic import BaseModel, Field, StringConstraints

from spacy_nmparse.pipe.members import parser_of

Text = Annotated[str, StringConstraints(max_length=100_000)]


class Request(BaseModel):
    """What a client sends."""

    texts: Annotated[list[Text], Field(max_length=100)]


nlp = spacy.load(os.environ["MODEL"])
parser = parser_of(nlp)
parser.confidence = True
parser.max_sentence = 200  # text without sentences does not take minutes
lock = Lock()  # more processes serve more clients: uvicorn --workers
app = FastAPI()


@app.post("/parse")
def parse(request: Request) -> list[dict[str, Any]]:
    """Parse texts. FastAPI calls this in a thread."""
    with lock, nlp.memory_zone():  # what new words add to the vocabulary is freed again
        return [_parsed(text) for text in request.texts]


def _parsed(text: str) -> dict[str, Any]:
    try:
        doc = nlp(text)
    except Exception as error:  # the other texts are parsed
        return {"error": str(error)}
    words = [
        {
            "text": token.text,
            "start": token.idx,
            "head": token.head.i,
            "dep": token.dep_,
            "confidence": round(float(token._.dep_confidence), 3),
        }
        for token in doc
    ]
    return {"words": words, "sentences": [sentence.start for sentence in doc.sents]}
