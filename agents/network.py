"""Networks that play: an actor on the observation, beside a critic that may see all hands.

Needs the extra `train` (torch, safetensors). Letters: `N` rows, `A` cards of the deck, `H` features, `F` entries of the
full state, of which the first `D` are the observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.errors import OptionError, unknown
from ..envs.game import Game
from .base import kernel_agent
from .loader import kernel_of
from .reading import Columns
from .trunks import Located, PlainTrunk, SuitTrunk, linear

NEVER = -1e9  # log-probability of an illegal card: exp() of it is exactly 0, and nothing becomes NaN
LEAST = -80.0  # lowest log-probability of which an exponential is taken
TRUNKS = ("plain", "suits")
CRITICS = ("all_hands", "own")
JUDGED = ("state", "cards")


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal cards only.

    Args:
        logits: f32[N, A].
        mask: bool[N, A], at least one True a row.

    Returns:
        f32[N, A]; about -1e9 where illegal, finite everywhere.
    """
    return torch.where(mask, torch.where(mask, logits, -torch.inf).log_softmax(-1), NEVER)


def chances(log_p: Tensor) -> Tensor:
    """Probabilities; those of illegal cards are 1e-35, as exp() of `NEVER` takes ten times as long."""
    return log_p.clamp(min=LEAST).exp()


def anchored(logits: Tensor, cards: Tensor, bonus: float) -> Tensor:
    """Logits f32[N, A] with a bonus for one card each, int64[N]."""
    return logits.scatter_add(1, cards[:, None], torch.full_like(cards, bonus, dtype=logits.dtype)[:, None])


class Anchor:
    """The kernel agent whose card a policy prefers; it draws nothing, so its card follows from the view.

    Args:
        game: What is played.
        shape: Of the network; without an anchor there, logits stay as they are.
    """

    def __init__(self, game: Game, shape: Shape) -> None:
        self.bonus = shape.anchor_bonus
        self.agent = kernel_agent(shape.anchor, game.name, kernel_of(shape.anchor, game)) if shape.anchor else None

    def cards(self, views: np.ndarray) -> Tensor:
        """int64[N]; 0 everywhere where there is no anchor."""
        if self.agent is None:
            return torch.zeros(len(views), dtype=torch.int64)
        return torch.from_numpy(self.agent.act(views, np.zeros(len(views), np.uint64)))

    def __call__(self, logits: Tensor, cards: Tensor) -> Tensor:
        """Logits f32[N, A] of the policy, given the anchor's cards int64[N]."""
        return logits if self.agent is None else anchored(logits, cards, self.bonus)


@dataclass(frozen=True)
class Shape:
    """What a network is built from; checkpoints carry it.

    Attributes:
        hidden: Widths of the hidden layers; with trunk `suits` the first is that of each suit.
        trunk: `plain` layers, or `suits`: one encoder for all four suits, whose results are joined.
        ignore: Slices of the observation that are not read (constant under the rules trained on).
        critic: Whether it sees `all_hands` or the mover's `own` observation only.
        judges: What the critic values: the `state`, or each of the `cards`.
        anchor: A kernel agent whose card is preferred, so that the network learns where to leave it; None for no such.
        anchor_bonus: What that card's logit gains.
        counting: Whether it is given what a player who counts cards knows (with trunk `suits`).
        infer: Widths of a small network of the same form that infers from the play so far who holds the cards that are
            out; these chances then stand in what is counted (with counting). Empty for chances that follow from voids.
    """

    hidden: tuple[int, ...] = (256, 256)
    trunk: str = "plain"
    ignore: tuple[str, ...] = ()
    critic: str = "all_hands"
    judges: str = "state"
    anchor: str | None = None
    anchor_bonus: float = 0.0
    counting: bool = False
    infer: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, valid in (("trunk", TRUNKS), ("critic", CRITICS), ("judges", JUDGED)):
            if getattr(self, name) not in valid:
                raise OptionError(unknown(name, getattr(self, name), valid))
        if len(self.hidden) < (2 if self.trunk == "suits" else 1) or min(self.hidden) < 1:
            raise OptionError(f"hidden={list(self.hidden)} is not valid. Valid: positive whole numbers, two with suits")
        if self.counting and self.trunk != "suits":
            raise OptionError(f"counting=True is not valid with trunk={self.trunk!r}. Valid: trunk='suits'")
        if self.infer and (not self.counting or len(self.infer) < 2 or min(self.infer) < 1):
            valid = "two or more positive whole numbers, with counting=True"
            raise OptionError(f"infer={list(self.infer)} with counting={self.counting} is not valid. Valid: {valid}")


class ActorCritic(nn.Module):
    """Policy logits, a value and forecasts from the observation; the critic's value from the full state.

    Args:
        game: The game, whose encoding gives the sizes.
        players: Seats at the table.
        shape: The network's form.
    """

    def __init__(self, game: Game, players: int, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        encoding = game.encoding
        for name in shape.ignore:
            if name not in encoding.layout(players):
                raise OptionError(unknown("slice of the observation", name, encoding.layout(players)))
        self.observation_size = encoding.size(players)
        seen, unseen = Columns(game, players, shape.ignore), Columns(game, players, shape.ignore, hidden=True)
        suits = shape.trunk == "suits"
        self.trunk = (
            SuitTrunk(seen, unseen, shape.hidden, game, players, shape.counting, infer=shape.infer)
            if suits
            else PlainTrunk(seen, unseen, shape.hidden)
        )
        self.actor = self.trunk.branch(shape.hidden, game.deck.size, 0.01)
        self.critic = self.trunk.branch(shape.hidden, game.deck.size if shape.judges == "cards" else 1, 1.0)
        self.forecasts = {name: len(outcomes) for name, outcomes in encoding.forecasts(players).items()}
        self.foretell = linear(self.trunk.features, 1 + sum(self.forecasts.values()), 0.1)

    def logits(self, observation: Tensor) -> Tensor:
        """f32[N, A] from observations int8[N, D]."""
        return self.actor(*self.trunk.observe(observation))[1]

    def explain(self, observation: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Logits f32[N, A], values f32[N] and the forecasts' log-probabilities, all from observations int8[N, D]."""
        features, logits = self.actor(*self.trunk.observe(observation))
        value, *forecasts = self._foretold(features)
        return logits, value, dict(zip(self.forecasts, forecasts, strict=True))

    def _foretold(self, features: Tensor) -> list[Tensor]:
        value, *rest = self.foretell(features).split([1, *self.forecasts.values()], 1)
        return [value[:, 0], *(logits.log_softmax(1) for logits in rest)]

    def locate(self, observation: Tensor) -> Located | None:
        """Who holds the cards that are out, from observations int8[N, D]; None where that is not inferred."""
        return self.trunk.locate(observation)

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor, list[Tensor], Located | None]:
        """Logits f32[N, A], the critic's values f32[N] or f32[N, A], and what is foretold, from states int8[N, F].

        That is the value from the observation f32[N], followed by the forecasts' log-probabilities; and who holds the
        cards, where that is inferred.
        """
        located = self.locate(state)
        observed = self.trunk.observe(state, located)
        features, logits = self.actor(*observed)
        return logits, self._worth(observed, state), self._foretold(features), located

    def values(self, state: Tensor, mask: Tensor) -> Tensor:
        """The critic's values f32[N] of states int8[N, F] with the legal cards bool[N, A]."""
        observed = self.trunk.observe(state)
        worth = self._worth(observed, state)
        if worth.dim() == 1:
            return worth
        return value_of(worth, masked_log_softmax(self.actor(*observed)[1], mask))

    def _worth(self, observed: tuple[Tensor, ...], state: Tensor) -> Tensor:
        known = self.trunk.reveal(observed, state) if self.shape.critic == "all_hands" else observed
        worth = self.critic(*known)[1]
        return worth if self.shape.judges == "cards" else worth[:, 0]


def value_of(worth: Tensor, log_p: Tensor) -> Tensor:
    """Values f32[N] of states from a critic's output: itself, or the policy's mean over the cards."""
    return worth if worth.dim() == 1 else (chances(log_p) * worth).sum(1)


class NetworkAgent:
    """An agent that plays a network's policy: its most probable card, or a draw from it.

    Args:
        name: How it is called in tables.
        game: What it plays.
        network: An `ActorCritic`.
        players: The number of players it was trained for.
        sample: Draw from the policy (keyed) instead of taking the most probable card.
        goal: What it was trained for; the value of another goal than the payoff is not in points and is not told.
    """

    def __init__(
        self, name: str, game: Game, network: ActorCritic, players: int, sample: bool = False, goal: str = "payoff"
    ) -> None:
        self.name, self.game, self.network, self.players, self.sample = name, game, network, players, sample
        self.goal = goal
        self.anchor = Anchor(game, network.shape)

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N]."""
        if len(views) and int(views["players"][0]) != self.players:
            players = int(views["players"][0])
            raise OptionError(f"agent {self.name!r} was trained for {self.players} players, not {players}")
        log_p = self.log_probabilities(views)
        if self.sample:
            log_p = log_p + gumbel(keys, views["plays"], self.game.deck.size)
        return log_p.argmax(1)

    def log_probabilities(self, views: np.ndarray) -> np.ndarray:
        """f32[N, A]: log-probability of each card.

        A row is the same whatever else is in the batch: rows are padded to blocks, small ones for a few rows, for
        matrix products of any shape may round differently; those of these two sizes round alike.
        """
        count = len(views)
        observation, mask = self.game.encode(views), self.game.masks(views).astype(bool)
        out, cards = np.empty(mask.shape, np.float32), self.anchor.cards(views)
        device = self.device
        with torch.inference_mode():
            size = FEW if count <= MOST_FEW else BLOCK
            for start in range(0, count, size):
                rows = slice(start, min(start + size, count))
                block = np.zeros((size, observation.shape[1]), np.int8)
                block[: rows.stop - start] = observation[rows]
                logits = self.network.logits(torch.from_numpy(block).to(device)).cpu()[: rows.stop - start]
                logits = self.anchor(logits, cards[rows])
                out[rows] = masked_log_softmax(logits, torch.from_numpy(mask[rows])).numpy()
        return out

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    def values(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """f32[N]: what the critic, which sees all hands, expects a seat of each state to be paid from there on.

        Args:
            states: States [N].
            seats: int8[N].

        Returns:
            In units of a whole deal.
        """
        players, game = int(states["players"][0]), self.game
        views, full = np.empty_like(states), np.empty((len(states), game.encoding.state_size(players)), np.int8)
        game.lanes.view(states, seats, views)
        game.lanes.observe_state(states, seats, full.reshape(-1), np.zeros(1, game.state))
        mask = game.masks(views).astype(bool)
        mask[~mask.any(1)] = True  # a seat that is not to move
        out = np.empty(len(states), np.float32)
        with torch.inference_mode():
            for start in range(0, len(states), MANY):
                rows = slice(start, start + MANY)
                here = (torch.from_numpy(each[rows]).to(self.device) for each in (full, mask))
                out[rows] = self.network.values(*here).cpu().numpy()
        return out

    def expected_payoff(self, states: np.ndarray) -> np.ndarray:
        """f32[N, P]: what the critic, which sees all hands, expects each seat to be paid (in units of a whole deal)."""
        seats = range(int(states["players"][0]))
        return np.stack([self.values(states, np.full(len(states), seat, np.int8)) for seat in seats], 1)

    def explain(self, view: np.void) -> dict[str, Any]:
        """What the network makes of a view whose observer is to move.

        Returns:
            `probabilities` of the legal cards by name, `value` (the payoff it expects of the deal, in points; left out
            by one that was trained for another goal), and the game's forecasts by name with the probability of each
            outcome: in Herzeln `points` (penalty points of the observer at the end of the deal) and `moon` (who shoots
            it), in Viersche `points` and `tricks` of its side. Where it infers hands also `holders`: of each card that
            is out the probability by seat, 1 being the next to the left, given that one of them holds it.
        """
        views = np.atleast_1d(np.asarray(view))
        mask = torch.from_numpy(self.game.masks(views).astype(bool))
        observation = torch.from_numpy(self.game.encode(views)).to(self.device)
        with torch.inference_mode():
            logits, value, forecasts = self.network.explain(observation)
            logits = self.anchor(logits.cpu(), self.anchor.cards(views))
            policy = masked_log_softmax(logits, mask)[0].exp().tolist()
        labels, named = self.game.encoding.forecasts(self.players), self.game.deck.name
        return {
            "probabilities": {named(int(card)): policy[card] for card in mask[0].nonzero()[:, 0]},
            **({"value": float(value[0]) * self.game.rules.DEAL_POINTS} if self.goal == "payoff" else {}),
            **{
                name: dict(zip(labels[name], log_p[0].exp().tolist(), strict=True)) for name, log_p in forecasts.items()
            },
            **self._holders(views, observation),
        }

    def _holders(self, views: np.ndarray, observation: Tensor) -> dict[str, dict[str, dict[int, float]]]:
        """`holders` of `explain`; nothing where hands are not inferred."""
        seen = int(views["hands"][0, views["observer"][0]]) | int(np.bitwise_or.reduce(views["played"][0]))
        with torch.inference_mode():
            found = self.network.locate(observation)
        if found is None:
            return {}
        located = found.log_p[0].exp().T.tolist()
        out = [card for card in range(self.game.deck.size) if not seen >> card & 1]
        return {"holders": {self.game.deck.name(card): dict(enumerate(located[card], 1)) for card in out}}


BLOCK, FEW, MOST_FEW = 256, 16, 64  # rows of a block, of a block where few are asked for, and up to how many that is
MANY = 1024  # rows of states that are judged at once, so that what is between the layers stays in the cache


def gumbel(keys: np.ndarray, turns: Any, cards: int) -> np.ndarray:
    """Gumbel noise f32[N, cards] keyed by the agents' keys and the number of cards played."""
    turn = np.asarray(turns).astype(np.uint64)[:, None] * np.uint64(64) + np.arange(cards, dtype=np.uint64)
    x = keys[:, None] + (turn + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    return (-np.log(-np.log(uniform))).astype(np.float32)
