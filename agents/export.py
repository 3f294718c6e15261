"""A network's policy as one ONNX file, for programs without torch. Needs the extras `train` and `onnx`.

Letters: `N` rows, `D` the observation, `A` cards of the deck. The file's inputs are `observation` int8[N, D],
`action_mask` int8[N, A] and, only where the policy has an anchor, `anchor_card` int64[N]: the card that the anchor's
agent would play, which the network has learned where to leave; NO_CARD (-1) for the bare network, which plays worse.
Its outputs are `log_probabilities` f32[N, A] (about -1e9 where illegal), and from the observation alone `value` f32[N]
(the payoff expected of the deal, in units of reward="payoff") and the log-probabilities of each forecast's outcomes
under its name. The last two are as good as they were trained: not at all with `forecast_weight: 0`.
"""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from ..envs import make_batch
from ..envs.errors import OptionError
from .files import write_atomically
from .loader import load_agent
from .network import NetworkAgent, masked_log_softmax
from .shipped import ShippedAgent

FORMAT = "stich-onnx-1"
CHECKED_LANES = 16  # games of random play in which the file is compared with the agent
TOLERANCE = 1e-5  # of probabilities and values: the two programs round differently


class ExportError(ValueError):
    """A file that would not play as its agent does."""


@dataclass(frozen=True)
class Check:
    """How a file did beside its agent.

    Attributes:
        positions: Positions of random play that were compared.
        cards: How many of them had different cards.
        difference: The largest difference of a probability (of a card or an outcome) or a value.
    """

    positions: int
    cards: int
    difference: float

    @property
    def passed(self) -> bool:
        return not self.cards and self.difference <= TOLERANCE

    def __str__(self) -> str:
        same = "the same cards" if not self.cards else f"{self.cards} different cards"
        return (
            f"{self.positions} positions of random play: {same}, probabilities and values within "
            f"{self.difference:.1e} (at most {TOLERANCE:.0e})"
        )


class Policy(nn.Module):
    """What the file computes."""

    def __init__(self, agent: NetworkAgent) -> None:
        super().__init__()
        self.network, self.bonus, self.cards = agent.network, agent.anchor.bonus, agent.game.deck.size

    def forward(self, observation: Tensor, action_mask: Tensor, anchor_card: Tensor | None = None) -> list[Tensor]:
        logits, value, forecasts = self.network.explain(observation)
        if anchor_card is not None:
            logits = logits + (anchor_card[:, None] == torch.arange(self.cards)) * self.bonus
        return [masked_log_softmax(logits, action_mask != 0), value, *forecasts.values()]


def network_agent(agent: Any, players: int | None) -> NetworkAgent:
    """The agent with the network that plays for an agent at a table.

    Args:
        agent: As from `load_agent`.
        players: At the table; None for those it was trained for, or four.

    Raises:
        OptionError: it is no network, or one for another number of players.
    """
    found = agent.at_table(players or 4) if isinstance(agent, ShippedAgent) else agent
    if not isinstance(found, NetworkAgent):
        raise OptionError(f"agent {getattr(agent, 'name', agent)!r} is no network. Valid: ppo, ppo:PATH")
    if players not in (None, found.players):
        raise OptionError(f"agent {found.name!r} was trained for {found.players} players, not {players}")
    return found


def inputs(agent: NetworkAgent, views: np.ndarray) -> dict[str, np.ndarray]:
    """What the agent's file is to be given for views [N], by name."""
    given = {"observation": agent.game.encode(views), "action_mask": agent.game.masks(views)}
    return given | ({"anchor_card": agent.anchor.cards(views).numpy()} if agent.anchor.agent else {})


def export(agent: NetworkAgent, path: Path, options: Mapping[str, Any] | None = None) -> Check:
    """Write an agent's policy as an ONNX file, once it has played as the agent does.

    Args:
        agent: See `network_agent`.
        path: The file.
        options: Rules under which it is compared with the agent; the game's defaults otherwise.

    Raises:
        OptionError: the path is a folder, or the game has no such rules.
        ExportError: it does not play as the agent does; nothing is written.
        OSError: the file can't be written.
    """
    if path.is_dir():
        raise OptionError(f"{path} is a folder. Valid: a file, such as {path / 'agent.onnx'}")
    path.parent.mkdir(parents=True, exist_ok=True)  # better known before
    views = random_positions(agent, options or {})
    content = model_of(agent)
    check = compare(agent, content, views)
    if not check.passed:
        raise ExportError(f"{path} is not written, for it would not play as {agent.name!r} does: {check}")
    write_atomically(path, content)
    return check


def random_positions(agent: NetworkAgent, options: Mapping[str, Any]) -> np.ndarray:
    """Views from random play, as many a game as the deck has cards."""
    batch = make_batch(agent.game.name, CHECKED_LANES, **{"players": agent.players, **options})
    random, found = load_agent("random", game=agent.game), []
    for _ in range(agent.game.deck.size):
        found.append(batch.views.copy())
        batch.step(random.act(batch.views, batch.keys()))
    return np.concatenate(found)


def model_of(agent: NetworkAgent) -> bytes:
    """The content of the file."""
    views = random_positions(agent, {})[:2]
    example = {name: torch.from_numpy(rows) for name, rows in inputs(agent, views).items()}
    rows = torch.export.Dim("rows")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # its progress is of no use to the user
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            Policy(agent).eval(),
            kwargs=example,
            dynamo=True,
            output_names=["log_probabilities", "value", *agent.network.forecasts],
            dynamic_shapes={name: {0: rows} for name in example},
        )
    assert program is not None
    model = program.model_proto
    for part in (model.graph, *model.graph.node):  # where the code lay and how it was traced
        part.ClearField("metadata_props")
    for key, text in metadata(agent).items():
        model.metadata_props.add(key=key, value=text)
    return model.SerializeToString()


def metadata(agent: NetworkAgent) -> dict[str, str]:
    """What the file says of itself; `outcomes` is JSON, the labels of each forecast."""
    game, shape = agent.game, agent.network.shape
    return {
        "format": FORMAT,
        "game": game.name,
        "players": str(agent.players),
        "encoding": str(game.encoding.version),
        "observation_size": str(agent.network.observation_size),
        "actions": str(game.deck.size),
        "anchor": shape.anchor or "",
        "anchor_bonus": str(shape.anchor_bonus),
        "deal_points": str(game.rules.DEAL_POINTS),  # points that a value of 1 stands for
        "outcomes": json.dumps(game.encoding.forecasts(agent.players)),
    }


def compare(agent: NetworkAgent, content: bytes, views: np.ndarray) -> Check:
    """How a file does beside the agent in the positions of views [N]."""
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    log_p, value, *forecasts = (np.asarray(rows) for rows in session.run(None, inputs(agent, views)))
    wanted = agent.log_probabilities(views)
    with torch.inference_mode():
        _, wanted_value, foretold = agent.network.explain(torch.from_numpy(agent.game.encode(views)))
    differences = [np.abs(np.exp(log_p) - np.exp(wanted)).max(), np.abs(value - wanted_value.numpy()).max()]
    for found, outcome in zip(forecasts, foretold.values(), strict=True):
        differences.append(np.abs(np.exp(found) - outcome.exp().numpy()).max())
    return Check(len(views), int((log_p.argmax(1) != wanted.argmax(1)).sum()), float(max(differences)))
