"""Speed of learning beside sb3-contrib's MaskablePPO, at smoke size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_commands import run
from test_training import tiny

pytest.importorskip("sb3_contrib")

from stich.training import throughput


def test_what_is_counted() -> None:
    """Decisions: fewer than the cards, for some are forced, and most of them."""
    config = tiny(lanes=16, steps=52)
    assert 0.5 < throughput.self_play(config)() / (16 * 52) < 1
    assert 0.5 < throughput.maskable_ppo(config, 4, 128)() / 128 < 1


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    small = throughput.run_learning
    monkeypatch.setattr(throughput, "run_learning", lambda *args: small(*args, lanes=8, env_cards=128))
    assert run("bench", "--learning", "--seconds", "0.01", "--json", str(tmp_path / "figures.json")) == 0
    figures = json.loads((tmp_path / "figures.json").read_text())
    names = ["self_play", *(f"{name}_{envs}" for envs in throughput.ENVS for name in ("maskable_ppo", "ratio"))]
    assert set(figures) == {f"{game}_{name}" for game in ("herzeln", "viersche") for name in names}
    assert all(figure > 0 for figure in figures.values())
    printed = " ".join(capsys.readouterr().out.split())
    assert "MaskablePPO, 8 environments" in printed
    assert "Counted are decisions learned from" in printed
