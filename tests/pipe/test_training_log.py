"""What `spacy train` prints beside spaCy's table."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
import spacy.cli.train
from spacy.training import Example
from spacy.util import registry

from spacy_nmparse.pipe import training_log
from spacy_nmparse.pipe.training_curve import training_curve
from spacy_nmparse.ud.whole_pipeline import CONFIGS


def said(
    lang: str,
    max_epochs: int,
    max_steps: int,
    epochs: range,
    after: int = 0,
    model: Path | None = None,
) -> list[str]:
    """What a run prints that takes a minute an epoch, of ten steps each."""
    nlp = spacy.blank(lang)
    nlp.config["training"] |= {"max_epochs": max_epochs, "max_steps": max_steps}
    out = io.StringIO()
    log, finish = registry.loggers.get("spacy_nmparse.ConsoleLogger.v1")()(nlp, out, out)
    for i in epochs:
        log(
            {
                "epoch": i,
                "step": 10 * i,
                "seconds": 60 * i,
                "score": 0.5 if i else 0.6,
                "losses": {},
                "other_scores": {},
                "output_path": model,
            }
        )
        log(None)
    for _ in range(after):
        log(None)
    finish()
    return out.getvalue().splitlines()


@pytest.mark.parametrize("limits", [(40, 0), (0, 400), (40, 800), (80, 400)])
def test_the_time_that_is_left(limits: tuple[int, int]) -> None:
    """By epochs or by steps, whichever ends training; each tenth once."""
    left = [line for line in said("en", *limits, range(41)) if "left" in line]
    assert left[0] == "10% of training done, about 36 min left"
    assert left[-1] == "90% of training done, about 4 min left"
    assert len(left) == 9


def test_no_limit_no_time() -> None:
    lines = said("en", 0, 0, range(3))
    assert len(lines) == 5 and not any("left" in line or "xx" in line for line in lines)


def test_the_time_that_is_left_is_said_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the second evaluation, by the words of the epoch that went into batches."""
    monkeypatch.setattr(training_log, "SOON", 0)
    nlp = spacy.blank("xx")
    nlp.config["training"] |= {"max_epochs": 2, "max_steps": 0}
    out = io.StringIO()
    log, _ = training_log.start_log(nlp, out, out)
    examples = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("a b", "c", "d")]
    for _ in training_log.EPOCHS.count([examples[:1], examples[1:]], examples):
        log(None)
    assert [line for line in out.getvalue().splitlines() if "left" in line] == [
        "25% of training done, less than a minute left"
    ]
    assert training_log.EPOCHS.done == 1


def test_the_first_evaluation_is_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 1,000 seconds here, each step 10."""
    now = [0.0]
    monkeypatch.setattr(training_log.time, "monotonic", lambda: now[0])
    nlp = spacy.blank("xx")
    nlp.config["training"] |= {"max_epochs": 0, "max_steps": 100}
    out = io.StringIO()
    log, _ = training_log.start_log(nlp, out, out)
    for now[0] in (1000.0, 1010.0, 1020.0):
        log(None)
    assert [line for line in out.getvalue().splitlines() if "left" in line] == [
        "3% of training done, about 11 min left"
    ]


def test_scores_are_written_beside_the_model(tmp_path: Path) -> None:
    """A new training begins a new file."""
    for _ in range(2):
        said("en", 0, 0, range(3), model=tmp_path / "model-last")
    rows = [json.loads(line) for line in (tmp_path / "scores.jsonl").open(encoding="utf-8")]
    assert [(row["step"], row["score"]) for row in rows] == [(0, 0.6), (10, 0.5), (20, 0.5)]
    assert "score 60.00</text>" in (tmp_path / "scores.svg").read_text(encoding="utf-8")


def test_the_curve_of_training() -> None:
    """A line for each score that is a number; at its end the value of the best evaluation."""
    rows = [
        {"step": 200 * i, "score": las, "other_scores": {"las": las, "uas": las + 0.1, "n": None}}
        for i, las in enumerate((0.55, 0.6, 0.7, 0.65))
    ]
    for names in (["las", "uas", "n", "<none>"], ["n"]):
        root = ElementTree.fromstring(training_curve(rows, names))
        lines = [one.get("points", "") for one in root if one.tag.endswith("polyline")]
        texts = [one.text for one in root if one.tag.endswith("text")]
        assert len(lines) == len({*names} & {"las", "uas"}) or len(lines) == 1
        places = [[float(y) for y in re.findall(r",([\d.]+)", line)] for line in lines]
        assert all(place[0] > place[1] > place[3] > place[2] for place in places)
        assert "model-best" in texts and "600" in texts
    assert texts[-1] == "score 70.00"
    assert "<svg" in training_curve([{"step": 0, "score": 0.0, "other_scores": {}}], [])
    everything = {f"<{i}>": i / 10 for i in range(10)}
    same = {"step": 1, "score": 1.0, "other_scores": everything}
    ElementTree.fromstring(training_curve([same, same], [*everything]))


def test_what_spacy_train_replaces_and_why_it_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is named before it is replaced, an error before its traceback."""
    monkeypatch.setattr(sys, "excepthook", lambda *error: print("Traceback", file=sys.stderr))
    (tmp_path / "model-best").mkdir()
    scores = {"dep_uas": 0.5, "dep_las": 0.25}
    (tmp_path / "model-best" / "meta.json").write_text(json.dumps({"performance": scores}))
    config = CONFIGS / "nm_parser.cfg"
    with pytest.raises(ValueError, match="has no path") as raised:
        spacy.cli.train.train(config, tmp_path)
    out = capsys.readouterr().out
    assert out.count("model-best (dep_uas 50.00, dep_las 25.00) is replaced") == 1
    sys.excepthook(ValueError, raised.value, None)
    assert capsys.readouterr().err.startswith("Error: The corpus has no path: give --paths.train")


def test_steps_that_were_not_evaluated_are_said() -> None:
    """If they are more than a tenth."""
    for epochs, after, said_last in (
        (3, 0, ""),
        (1, 59, "The last 60 of 61 steps were not evaluated: model-best is of step 0."),
        (3, 9, "The last 10 of 31 steps were not evaluated: model-best is of step 0."),
    ):
        lines = said("en", 0, 0, range(epochs), after)
        assert ("not evaluated" in lines[-1]) == bool(said_last) and said_last in lines[-1]
    assert lines[-1].endswith("set training.eval_frequency to 3 or less.")
