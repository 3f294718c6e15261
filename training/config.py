"""Training configs: YAML files, typed, unknown keys refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from ..envs.errors import OptionError, unknown
from ..envs.game import get_game, with_episode
from ..envs.options import build

CONFIGS = Path(__file__).resolve().parent.parent / "configs"


BOUNDS = (
    ("decisions", 1, 10**15),
    ("lanes", 1, 1_000_000),
    ("steps", 1, 1_000_000),
    ("epochs", 1, 1000),
    ("minibatch", 1, 10**9),
    ("evaluate_every", 1, 10**9),
    ("evaluate_deals", 2, 10**9),
    ("final_deals", 0, 10**9),
    ("threads", 0, 1024),
    ("processes", 1, 1024),
    ("imitate", 0, 10**15),
    ("improve", 0, 10**15),
    ("improve_worlds", 0, 1000),
    ("improve_surplus", 1, 1000),
    ("improve_eps", 0.0, 1.0),
    ("improve_epochs", 1, 1000),
    ("temperature", 1e-6, 10.0),
    ("anchor_margin", 0.0, 10.0),
    ("past_every", 1, 10**9),
    ("past_size", 1, 10**6),
    ("reference_weight", 0.0, 100.0),
    ("reference_rate", 1e-6, 1.0),
    ("forecast_weight", 0.0, 100.0),
    ("infer_weight", 0.0, 100.0),
    ("learning_rate", 0.0, 10.0),
    ("lesson_learning_rate", 0.0, 10.0),
    ("final_learning_rate", 0.0, 10.0),
    ("entropy", 0.0, 10.0),
    ("final_entropy", 0.0, 10.0),
    ("clip", 1e-6, 10.0),
    ("gamma", 0.0, 1.0),
    ("trace", 0.0, 1.0),
    ("value_weight", 0.0, 1e6),
    ("gradient_norm", 1e-6, 1e6),
)
"""Numbers of a config with the least and the largest value that makes sense."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything that a training run depends on.

    Attributes:
        game: What is played.
        preset: Set of rule options; None for the game's default.
        presets: Several presets, which the updates take by turns, instead of one.
        options: Rule options on top of the preset, `players` and `episode` among them.
        whole_games: Cards of `decisions` after which episodes are whole games, paid by their result: 0 for never.
        goal: What is learned: the deal's `payoff`, or an event such as `moon=self`, a forecast with one of its outcomes
            (1 where it comes about, else 0).
        seed: Seed of the deals, the weights and the sampled cards.
        start: Checkpoint of the same game and network whose policy and critic the run begins with; None for new ones.
        decisions: Cards played in self-play until the run is over (forced ones included).
        teacher: An agent whose cards are imitated first: it names its card wherever the learner has to choose one.
        imitate: Cards of the learner's own play that are learned from in that way, the first of `decisions`.
        improve: Cards after these at which every legal card is tried in the true deal, played on by `improve_policy`;
            the learner takes over what they bring on average, which makes it better than that policy.
        improve_policy: An agent: rules, or a small network, `ppo:PATH`, which takes some ten times as long.
        improve_judge: A network's agent whose critic, which sees all hands, says at the mover's next decision what the
            deal brings; None plays on to the end of the deal.
        improve_worlds: Worlds beside the true deal in which the cards are tried, drawn from those that the mover can't
            tell from it; payoffs are means over all of them.
        improve_weigh: An agent by whose policy these worlds are weighed: how probable it makes what the others have
            played, so that the learner infers what they hold. None for all alike.
        improve_surplus: Worlds that are drawn, where they are weighed, for each one that is kept.
        improve_eps: Share of the others' plays that are taken to be any legal card rather than that agent's.
        improve_epochs: Passes over the decisions of such an update.
        temperature: Payoff by which a card must be better to be played e times as often, after `improve`.
        anchor: A kernel agent whose card the policy prefers: the network learns where to leave it. None for no such.
        anchor_margin: Payoff by which another card must be better to be as likely.
        opponents: Agents that sit at some of the seats in some of the lanes, by turns; `past` is an older self, of
            those kept the more often the better it does. Elsewhere the learner plays itself.
        opponent_share: Share of the lanes in which they do.
        opponent_seats: How many seats they hold there: half of them, or all but one of the sides.
        past_every: Updates between two older selves that are kept.
        past_size: How many are kept.
        lanes: Games played side by side.
        steps: Cards played in each lane between two updates; whole deals lose no decision.
        trunk: The network's form: `plain` layers, or `suits`, one encoder for all suits.
        hidden: Widths of the hidden layers; with trunk `suits` the first is that of each suit.
        counting: Whether the network is given what follows from counting cards: who may hold those that are out, and
            which tricks stand (trunk `suits` only).
        infer: Widths of a small network that infers from the play so far who holds the cards that are out; these
            chances then stand in what is counted (with `counting` only). A run may `start` from a network without it.
        critic: Whether the critic sees `all_hands` or the mover's `own` observation.
        judges: Whether the critic values the `state` (advantages by GAE) or each of the `cards` (expected SARSA).
        ignore: Slices of the observation that the network does not read; None for those that are constant under
            the rules trained on.
        lesson_learning_rate: Adam's step size at the start of imitating and improving, falling linearly ...
        learning_rate: ... to this at their end, or the first one where there are none, falling linearly
        final_learning_rate: ... to this at the end.
        entropy: Weight of the entropy bonus at the start, falling linearly.
        final_entropy: ... to this at the end.
        epochs: Passes over the decisions of an update.
        minibatch: Decisions in a minibatch.
        clip: PPO's clipping range of the probability ratio.
        gamma: Discount from one own decision to the next.
        trace: Lambda of the generalised advantage estimate along a seat's own decisions.
        value_weight: Weight of the critic's squared error.
        gradient_norm: Gradients are clipped to this norm.
        reference_weight: Weight of the divergence from a reference policy, which follows the learner slowly.
        reference_rate: Share of the way that it goes in an update.
        forecast_weight: Weight of the forecasts (points, moon, tricks) and of the value from the mover's observation.
        infer_weight: Weight of the error of who is said to hold each card; that network learns nothing else.
        evaluate_every: Updates between two evaluations (and checkpoints).
        evaluate_deals: Validation deals an evaluation plays against each baseline.
        baselines: Agents that the policy is measured against while it learns.
        select: The baseline against which the best policy so far, on the validation deals, becomes the run's agent;
            None: the last policy does.
        final_deals: Test deals of the table at the end; 0 for no table.
        processes: Processes that play and learn side by side, each on its share of the lanes.
        threads: Threads of torch in each process; 0 for all cores.
        device: Where the network is trained.
    """

    game: Literal["herzeln", "viersche"] = "herzeln"
    preset: str | None = None
    presets: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=lambda: {"episode": "deal"})
    whole_games: int = 0
    goal: str = "payoff"
    seed: int = 0
    start: str | None = None
    decisions: int = 5_000_000
    teacher: str | None = None
    imitate: int = 0
    improve: int = 0
    improve_policy: str = "rules"
    improve_judge: str | None = None
    improve_worlds: int = 0
    improve_weigh: str | None = None
    improve_surplus: int = 10
    improve_eps: float = 0.5
    improve_epochs: int = 2
    temperature: float = 0.02
    anchor: str | None = None
    anchor_margin: float = 0.04
    opponents: tuple[str, ...] = ()
    opponent_share: float = 0.0
    opponent_seats: Literal["half", "others"] = "half"
    past_every: int = 50
    past_size: int = 8
    lanes: int = 512
    steps: int = 52
    trunk: Literal["plain", "suits"] = "plain"
    hidden: tuple[int, ...] = (256, 256)
    counting: bool = False
    infer: tuple[int, ...] = ()
    critic: Literal["all_hands", "own"] = "all_hands"
    judges: Literal["state", "cards"] = "state"
    ignore: tuple[str, ...] | None = None
    lesson_learning_rate: float | None = None
    learning_rate: float = 7e-4
    final_learning_rate: float = 1e-4
    entropy: float = 0.03
    final_entropy: float = 0.01
    epochs: int = 2
    minibatch: int = 1024
    clip: float = 0.2
    gamma: float = 1.0
    trace: float = 0.95
    value_weight: float = 1.0
    gradient_norm: float = 1.0
    reference_weight: float = 0.0
    reference_rate: float = 0.02
    forecast_weight: float = 0.0
    infer_weight: float = 0.3
    evaluate_every: int = 10
    evaluate_deals: int = 200
    baselines: tuple[str, ...] = ("random",)
    select: str | None = None
    final_deals: int = 1000
    processes: int = 1
    threads: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def __post_init__(self) -> None:
        for name, low, high in BOUNDS:
            if getattr(self, name) is None:
                continue
            if not low <= getattr(self, name) <= high:
                raise OptionError(f"config key {name}={getattr(self, name)} is not valid. Valid: {low} to {high}")
        if self.lanes % self.processes:
            valid = f"a divisor of lanes={self.lanes}"
            raise OptionError(f"config key processes={self.processes} is not valid. Valid: {valid}")
        if self.processes > 1 and self.device == "cuda":
            valid = "processes=1, or device=cpu"
            raise OptionError(
                f"config key device='cuda' is not possible with processes={self.processes}. Valid: {valid}"
            )
        if self.imitate and not self.teacher:
            raise OptionError(f"config key imitate={self.imitate} needs a teacher, such as teacher: rules")
        if not 0 <= self.opponent_share <= 1 or (self.opponent_share and not self.opponents):
            raise OptionError(
                f"config key opponent_share={self.opponent_share} with opponents={list(self.opponents)} is not valid. "
                "Valid: 0 to 1, and opponents where it is above 0"
            )
        if self.whole_games and self.whole_games < self.imitate + self.improve:
            raise OptionError(
                f"config key whole_games={self.whole_games} is not valid. Valid: 0, or from imitate + improve on, "
                f"which is {self.imitate + self.improve}"
            )
        if self.select is not None and self.select not in self.baselines:
            raise OptionError(unknown("baseline to select by", self.select, self.baselines))
        if self.preset and self.presets:
            raise OptionError("config keys preset and presets exclude each other. Valid: one of them")
        if self.whole_games and "game" not in get_game(self.game).options_class.__annotations__["episode"]:
            raise OptionError(f"config key whole_games: {self.game} has no episode 'game'")
        least = 2 if self.trunk == "suits" else 1
        if len(self.hidden) < least or min(self.hidden) < 1:
            valid = f"{least} or more positive whole numbers with trunk={self.trunk}"
            raise OptionError(f"config key hidden={list(self.hidden)} is not valid. Valid: {valid}")
        if self.counting and self.trunk != "suits":
            raise OptionError(f"config key counting=True is not valid with trunk={self.trunk}. Valid: trunk=suits")
        if self.infer and (not self.counting or len(self.infer) < 2 or min(self.infer) < 1):
            valid = "two or more positive whole numbers, with counting=true"
            raise OptionError(f"config key infer={list(self.infer)} is not valid. Valid: {valid}")
        self.event()
        self.all_rules()

    def rules(self) -> Any:
        """The rule options; with several presets those of the first.

        Raises:
            OptionError: options that the game does not have.
        """
        return self.all_rules()[0]

    def all_rules(self) -> list[Any]:
        """The rule options of every preset, in turn."""
        game = get_game(self.game)
        return [game.options(preset, **self.options) for preset in self.presets or (self.preset,)]

    def event(self) -> tuple[int, int] | None:
        """Numbers of the forecast and of the outcome that are the goal; None for the payoff.

        Raises:
            OptionError: no such event.
        """
        if self.goal == "payoff":
            return None
        forecasts = get_game(self.game).encoding.forecasts(self.options.get("players", 4))
        events = [f"{name}={outcome}" for name, outcomes in forecasts.items() for outcome in outcomes]
        if self.goal not in events:
            raise OptionError(unknown("goal", self.goal, ["payoff", *events]))
        name, _, outcome = self.goal.partition("=")
        return list(forecasts).index(name), forecasts[name].index(outcome)

    def unread(self) -> tuple[str, ...]:
        """Slices of the observation that the network does not read."""
        if self.ignore is not None:
            return self.ignore
        encoding, rules = get_game(self.game).encoding, self.all_rules()
        if self.whole_games:
            rules = [*rules, *(with_episode(each, "game") for each in rules)]
        constant = [set(encoding.constant(each)) for each in rules]
        same = set.intersection(*constant) - ({"rules"} if len(rules) > 1 else set())
        return tuple(name for name in encoding.layout(rules[0].players) if name in same)

    def as_dict(self) -> dict[str, Any]:
        """The config as plain values."""
        return asdict(self)


def find_config(name: str) -> Path:
    """The file of a config: a path, or the name of one that is shipped.

    Raises:
        OptionError: there is none.
    """
    for path in (Path(name), CONFIGS / name, CONFIGS / f"{name}.yaml", CONFIGS / Path(name).name):
        if path.is_file():
            return path
    shipped = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.yaml")))
    raise OptionError(f"no config {name!r}. Valid: the path of a YAML file, or one of: {shipped}")


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        OptionError: no YAML, or no mapping.
    """
    try:
        values = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise OptionError(f"{path} holds no keys. Valid: lines of `key: value`")
    return values


def overrides(words: Sequence[str]) -> dict[str, Any]:
    """`key=value` words as a mapping; values are read as YAML.

    >>> overrides(["players=3", "hidden=[64, 64]", "preset=hearts"])
    {'players': 3, 'hidden': [64, 64], 'preset': 'hearts'}
    """
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise OptionError(f"{word!r} is not valid. Valid: key=value")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            valid = "key=value, with a value such as 3, true, text or [64, 64]"
            raise OptionError(f"{word!r} is not valid. Valid: {valid}") from None
    return found


def split_words(
    cls: type, values: Mapping[str, Any], words: Sequence[str], defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values of a config file with `key=value` words on top.

    Args:
        cls: Dataclass of the config, with the fields `game` and `options`.
        values: What the file says.
        words: Each names a key of the config or a rule option of its game.
        defaults: Rule options where neither says anything.
    """
    merged = dict(values)
    given = overrides(words)
    game = get_game(given.get("game", merged.get("game", "herzeln")))
    rules = set(game.options_class.__dataclass_fields__) - set(cls.__dataclass_fields__)
    options = given.pop("options", merged.get("options") or {})
    if not isinstance(options, Mapping):
        raise OptionError(f"config key options={options!r} is not valid. Valid: a mapping of rule options")
    options = {**(defaults or {}), **options}
    for key, value in given.items():
        if key in rules:
            options[key] = value
        else:
            merged[key] = value
    return {**merged, "options": options}


def train_config(values: Mapping[str, Any], words: Sequence[str] = ()) -> TrainConfig:
    """A config from the values of a file and `key=value` words on top (config keys or rule options)."""
    return build(TrainConfig, split_words(TrainConfig, values, words, {"episode": "deal"}), what="config key")


def plain(value: Any) -> Any:
    """Tuples as lists, for YAML."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
