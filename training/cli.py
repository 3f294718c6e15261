"""The command `stich`."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ..agents import load_agent
from ..envs.errors import OptionError
from ..envs.game import get_game
from .config import find_config, overrides, read_yaml, train_config
from .evaluate import Standing, as_json, evaluate
from .seeds import TEST, seed_of

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
console, errors = Console(), Console(stderr=True)


def clear_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Mistakes of the user's end in one line on the standard error, exit status 2, without a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except ModuleNotFoundError as error:
            extra = "test" if error.name in ("pyspiel", "open_spiel") else "train"
            _complain(f"{error.name} is not installed. Valid: pip install 'stich[{extra}]'")
        except (ValueError, OSError, MemoryError) as error:
            _complain(str(error) or type(error).__name__)

    return run


def _complain(text: str) -> NoReturn:
    errors.print(f"stich: {text}", style="bold red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(2)


Words = Annotated[list[str] | None, typer.Argument(help="key=value: config keys or rule options, as preset=hearts")]
GameName = Annotated[str, typer.Option("--game", help="herzeln or viersche")]


@app.command()
@clear_errors
def train(
    config: Annotated[str, typer.Argument(help="a YAML file, or the name of a shipped config")],
    words: Words = None,
    out: Annotated[Path | None, typer.Option(help="folder of the run; runs/NAME by default")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in that folder")] = False,
) -> None:
    """Train PPO by self-play; ends with a table of payoffs and a learning curve."""
    from .run import train as run  # torch is slow to import

    path = find_config(config)
    run(train_config(read_yaml(path), words or []), out or Path("runs") / path.stem, resume, console.print)


@app.command(name="evaluate")
@clear_errors
def evaluate_command(
    agents: Annotated[list[str], typer.Argument(help="agents, then key=value rule options")],
    game: GameName = "herzeln",
    deals: Annotated[int, typer.Option(help="number of deals, each played in every distinct seating")] = 1000,
    seed: Annotated[int, typer.Option(help="which test deals")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="also write the result to this file")] = None,
    out: Annotated[Path | None, typer.Option(help="also write evaluate.json and evaluate.md to this folder")] = None,
) -> None:
    """Compare agents on duplicate deals in all seatings: payoff with a 95 % interval by deal."""
    found = get_game(game)
    names, words = [a for a in agents if not _is_option(a)], [a for a in agents if _is_option(a)]
    options = found.options(**{"episode": "deal", **overrides(words)})
    if deals < 2:
        raise OptionError(f"--deals {deals} is not valid. Valid: 2 or more, for an interval")
    files = [file for file in (json_file, out / "evaluate.json" if out else None) if file is not None]
    for file in files:  # a result that can't be written is better known before it is computed
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("deals", total=deals)
        players = [load_agent(name, game=game) for name in names]
        standings, design = evaluate(
            found,
            options,
            players,
            names,
            deals=deals,
            seed=seed_of(TEST, seed),
            progress=lambda count: bar.advance(task, count),
        )
    unit = "deal" if options.episode == "deal" else f"{options.episode} of its own"
    title = f"{found.name}, {design.name}, {deals} times a {unit}"
    console.print(_standings_table(standings, title))
    for file in files:
        file.write_text(json.dumps(as_json(found, deals, design, standings), indent=1) + "\n")
    if out is not None:
        (out / "evaluate.md").write_text(_standings_markdown(standings, title))


def _standings_markdown(standings: list[Standing], title: str) -> str:
    rows = [f"# {title}", "", "| agent | payoff | 95 % interval |", "|---|---|---|"]
    for standing in standings:
        payoff = standing.payoff
        rows.append(f"| {standing.name} | {payoff.mean:+.3f} | {payoff.low:+.3f} to {payoff.high:+.3f} |")
    return "\n".join(rows) + "\n"


def _is_option(word: str) -> bool:
    """Whether a word is `option=value` rather than an agent such as `pimc:worlds=30`."""
    return "=" in word and word.split("=")[0].isidentifier()


def _standings_table(standings: list[Standing], title: str) -> Table:
    table = Table("agent", "payoff", "95 % interval", title=title)
    shares = standings[0].share is not None
    if shares:
        table.add_column("share of the points")
    for standing in standings:
        payoff, share = standing.payoff, standing.share
        row = [standing.name, f"{payoff.mean:+.3f}", f"{payoff.low:+.3f} to {payoff.high:+.3f}"]
        table.add_row(*row, *([f"{share.mean:.1%} ({share.low:.1%} to {share.high:.1%})"] if share else []))
    return table


@app.command()
@clear_errors
def play(
    words: Words = None,
    game: GameName = "herzeln",
    opponents: Annotated[str, typer.Option(help="the agent at the other seats")] = "rules",
    seat: Annotated[int, typer.Option(help="your seat")] = 0,
    seed: Annotated[int | None, typer.Option(help="which deals; random by default")] = None,
) -> None:
    """Play in the terminal against agents."""
    from .play import play_in_terminal

    play_in_terminal(game, overrides(words or []), opponents, seat, seed, console)


@app.command()
@clear_errors
def bench(
    json_file: Annotated[Path | None, typer.Option("--json", help="also write the figures to this file")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="CPU time of each measurement")] = 2.0,
) -> None:
    """Measure speed against peers in the same run, per CPU-second on one core."""
    from .bench import run_bench

    figures = run_bench(seconds, console)
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(figures, indent=1) + "\n")


def main() -> None:
    """Entry point; agents of one's own are found in the current folder."""
    sys.path.insert(0, "")
    app()


if __name__ == "__main__":
    main()
