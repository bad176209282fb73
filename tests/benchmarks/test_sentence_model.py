"""Where benchmarks take their sentence model from."""

from __future__ import annotations

from benchmarks.sentence_model import VARIABLE, settings_with_model


def test_the_environment_names_the_model() -> None:
    assert settings_with_model({}) is None
    assert settings_with_model({VARIABLE: ""}) is None
    settings = settings_with_model({VARIABLE: "models/mine"})
    assert settings is not None and settings.semantic == "models/mine"
