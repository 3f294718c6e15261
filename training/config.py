"""Training configs: YAML files, typed, unknown keys refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from ..envs.errors import OptionError
from ..envs.game import get_game
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
    ("imitate", 0, 10**15),
    ("learning_rate", 0.0, 10.0),
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
        options: Rule options on top of the preset, `players` and `episode` among them.
        seed: Seed of the deals, the weights and the sampled cards.
        decisions: Cards played in self-play until the run is over (forced ones included).
        teacher: An agent whose cards are imitated first: it names its card wherever the learner has to choose one.
        imitate: Cards of the learner's own play that are learned from in that way, the first of `decisions`.
        opponent: An agent that sits at half of the seats in some of the lanes; elsewhere the learner plays itself.
        opponent_share: Share of the lanes in which it does.
        opponent_seats: How many seats it holds there: half of them, or all but one of the sides.
        lanes: Games played side by side.
        steps: Cards played in each lane between two updates; whole deals lose no decision.
        hidden: Widths of the hidden layers.
        ignore: Slices of the observation that the network does not read; None for those that are constant under
            the rules trained on.
        learning_rate: Adam's step size at the start, falling linearly.
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
        evaluate_every: Updates between two evaluations (and checkpoints).
        evaluate_deals: Validation deals an evaluation plays against each baseline.
        baselines: Agents that the policy is measured against while it learns.
        final_deals: Test deals of the table at the end; 0 for no table.
        threads: Threads of torch; 0 for all cores.
        device: Where the network is trained.
    """

    game: Literal["herzeln", "viersche"] = "herzeln"
    preset: str | None = None
    options: dict[str, Any] = field(default_factory=lambda: {"episode": "deal"})
    seed: int = 0
    decisions: int = 5_000_000
    teacher: str | None = None
    imitate: int = 0
    opponent: str | None = None
    opponent_share: float = 0.0
    opponent_seats: Literal["half", "others"] = "half"
    lanes: int = 512
    steps: int = 52
    hidden: tuple[int, ...] = (256, 256)
    ignore: tuple[str, ...] | None = None
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
    evaluate_every: int = 10
    evaluate_deals: int = 200
    baselines: tuple[str, ...] = ("random",)
    final_deals: int = 1000
    threads: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def __post_init__(self) -> None:
        for name, low, high in BOUNDS:
            if not low <= getattr(self, name) <= high:
                raise OptionError(f"config key {name}={getattr(self, name)} is not valid. Valid: {low} to {high}")
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(f"config key hidden={list(self.hidden)} is not valid. Valid: positive whole numbers")
        if self.imitate and not self.teacher:
            raise OptionError(f"config key imitate={self.imitate} needs a teacher, such as teacher: rules")
        if not 0 <= self.opponent_share <= 1 or (self.opponent_share and not self.opponent):
            raise OptionError(
                f"config key opponent_share={self.opponent_share} with opponent={self.opponent!r} is not valid. "
                "Valid: 0 to 1, and an opponent where it is above 0"
            )
        self.rules()

    def rules(self) -> Any:
        """The rule options.

        Raises:
            OptionError: options that the game does not have.
        """
        return get_game(self.game).options(self.preset, **self.options)

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
