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
from rich.markdown import Markdown
from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table

from ..agents import load_agent
from ..agents.files import write_atomically
from ..envs.errors import OptionError
from ..envs.game import get_game
from .config import find_config, overrides, read_yaml, train_config
from .evaluate import Standing, as_json, evaluate
from .seeds import TEST, seed_of

EXTRAS = {
    "pyspiel": "test",
    **dict.fromkeys(("polars", "choix", "openskill", "jinja2", "scipy", "open_spiel", "networkx"), "tournament"),
    "sklearn": "study",
    "ray": "ray",
    **dict.fromkeys(("pygame", "PIL"), "render"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("onnx", "onnxscript", "onnxruntime"), "onnx"),
    **dict.fromkeys(("sb3_contrib", "stable_baselines3"), "sb3"),
}
"""The extra that brings a package."""

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
            extra = EXTRAS.get(str(error.name), "train")
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
def tournament(
    config: Annotated[str, typer.Argument(help="a YAML file, or the name of a shipped config")],
    words: Words = None,
    out: Annotated[Path | None, typer.Option(help="folder of the results; runs/NAME by default")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on with the tournament in that folder")] = False,
    ray: Annotated[str | None, typer.Option(help="address of a Ray cluster that does the work, or auto")] = None,
) -> None:
    """Let agents play each other on the same deals: cross-table, intervals, ratings, a report."""
    import polars as pl

    from .report import markdown_table
    from .tournament import Recipe, run_tournament, tournament_config

    path = find_config(config)
    settings = tournament_config(read_yaml(path), words or [])
    pool = None
    if ray is not None:
        from .cluster import RayPool

        pool = RayPool(Recipe(settings), settings.patience, ray)
    folder = out or Path("runs") / path.stem
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=console) as bar:
        task = bar.add_task("deals", total=None)
        run_tournament(
            settings,
            folder,
            resume=resume,
            pool=pool,
            progress=lambda played, total: bar.update(task, completed=played, total=total),
            say=lambda line: bar.console.print(line, markup=False),
        )
    console.print(Markdown((folder / "report.md").read_text()))
    console.print(Markdown(markdown_table(pl.read_csv(folder / "timing.csv"))))
    console.print(f"report: {folder / 'report.html'}", markup=False, highlight=False)


@app.command()
@clear_errors
def solve(
    words: Words = None,
    game: GameName = "herzeln",
    deal: Annotated[str | None, typer.Option(help="hands by seat, as in 'CA C7 ... / ... / ... / ...'")] = None,
    dealer: Annotated[int | None, typer.Option(help="seat of the dealer of that deal")] = None,
    turn_up: Annotated[str | None, typer.Option(help="Viersche: the card turned up, one of the dealer's")] = None,
    random: Annotated[int, typer.Option(help="solve so many random test deals instead")] = 0,
    seed: Annotated[int, typer.Option(help="which random deals")] = 0,
    nodes: Annotated[int, typer.Option(help="positions searched at most; 0 for no limit")] = 0,
    processes: Annotated[int, typer.Option(help="processes; 0 for one a core")] = 0,
    out: Annotated[Path, typer.Option(help="folder for solved.parquet")] = Path("runs/solve"),
) -> None:
    """Solve deals with all hands open: Viersche's card points, Herzeln's moons against any defence."""
    from .report import markdown_table
    from .solve import given_deal, solve_random, solve_states

    found, options = get_game(game), overrides(words or [])
    if (deal is None) == (random < 1):
        raise OptionError("nothing to solve, or two things. Valid: --deal 'HANDS', or --random N")
    if deal is not None:
        about = {"dealer": dealer, "turn_up": turn_up}
        about = {key: value for key, value in about.items() if value is not None}
        rows = solve_states(found, given_deal(found, deal, options, about), nodes, line=not nodes)
        console.print(Markdown(markdown_table(rows)))
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("deals", total=random)
        file = out / "solved.parquet"
        rows = solve_random(found, options, random, seed, nodes, processes, file, lambda n: bar.advance(task, n))
    console.print(Markdown(markdown_table(rows.describe())))
    console.print(f"rows: {file}", markup=False, highlight=False)


@app.command()
@clear_errors
def moon(
    config: Annotated[str | None, typer.Argument(help="a YAML file, or the name of a shipped config")] = None,
    words: Words = None,
    hand: Annotated[str | None, typer.Option(help="ask about one hand, as in 'S AQ5 H AKQJ9 D K2 C A43'")] = None,
    table: Annotated[str, typer.Option(help="with --hand: the agent at the other seats")] = "rules",
    scores: Annotated[str | None, typer.Option(help="with --hand: totals, the own first, as in 40,62,71,18")] = None,
    shooter: Annotated[str, typer.Option(help="with --hand: who plays it, an agent that takes an aim")] = "rules",
    deals: Annotated[int, typer.Option(help="with --hand: random deals around it, at most")] = 3000,
    seed: Annotated[int, typer.Option(help="with --hand: which random deals")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="with --hand: also write the answer here")] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the study; runs/NAME by default")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on with the study in that folder")] = False,
    ray: Annotated[str | None, typer.Option(help="address of a Ray cluster that does the work, or auto")] = None,
) -> None:
    """When does shooting the moon pay off? The whole study of a config, or the answer for one hand of Herzeln."""
    if hand is not None:
        from .moon_hand import answer_table, ask

        given = [word for word in (config, *(words or [])) if word is not None]
        answer = ask(hand, table, scores, overrides(given), shooter=shooter, deals=deals, seed=seed)
        console.print(answer_table(answer))
        if json_file is not None:
            write_atomically(json_file, (json.dumps(answer.as_dict(), indent=1) + "\n").encode())
        return
    if config is None:
        raise OptionError("nothing to do. Valid: a config, such as moon_smoke, or --hand 'S AQ5 H AKQJ9 D K2 C A43'")
    _moon_study(config, words or [], out, resume, ray)


def _moon_study(config: str, words: list[str], out: Path | None, resume: bool, ray: str | None) -> None:
    from .moon_config import moon_config
    from .moon_jobs import Recipe, run_jobs
    from .moon_pages import IN_SHORT, shown
    from .moon_report import write_study
    from .report import markdown_table

    path = find_config(config)
    settings = moon_config(read_yaml(path), words)
    pool = None
    if ray is not None:
        from .cluster import RayPool

        pool = RayPool(Recipe(settings), settings.patience, ray)
    folder = out or Path("runs") / path.stem
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=console) as bar:
        task = bar.add_task("jobs", total=None)
        run_jobs(
            settings,
            folder,
            resume=resume,
            pool=pool,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    console.print("jobs are done; fitting models and drawing", markup=False)
    study = write_study(settings, folder)
    console.print(Markdown(markdown_table(shown(study.tables["pairs"], IN_SHORT))))
    console.print(f"report: {folder / 'report.md'}", markup=False, highlight=False)


@app.command()
@clear_errors
def replay(
    file: Annotated[Path, typer.Argument(help="games.parquet of a tournament, or game records, one JSON line each")],
    deal: Annotated[int, typer.Option(help="number of the deal, or of the line")] = 0,
    match: Annotated[int, typer.Option(help="number of the match")] = 0,
    game: Annotated[int, typer.Option(help="which of the games the deal was played in")] = 0,
    png: Annotated[Path | None, typer.Option(help="also draw all tricks in rows to this file")] = None,
    gif: Annotated[Path | None, typer.Option(help="also draw the table card by card to this file")] = None,
    table: Annotated[Path | None, typer.Option(help="also draw the table after --card cards to this PNG")] = None,
    card: Annotated[int, typer.Option(help="the cards played before that picture")] = 0,
    part: Annotated[int | None, typer.Option(help="of the game's deals draw only this one, from 0")] = None,
    seat: Annotated[int | None, typer.Option(help="draw what this seat sees; all hands open by default")] = None,
) -> None:
    """Show a game trick by trick: > leads, * takes the trick."""
    from .replay import open_story, story_gif, story_picture, story_text, table_png

    story = open_story(file, deal, match, game)
    console.print(story_text(story), markup=False, highlight=False, soft_wrap=True)
    if png is not None:
        write_atomically(png, story_picture(story))
    if table is not None:
        write_atomically(table, table_png(story, part, card, seat))
    if gif is not None:
        write_atomically(gif, story_gif(story, part, seat))


@app.command()
@clear_errors
def benchmark(
    agent: Annotated[str, typer.Argument(help="the agent that is measured")],
    game: GameName = "herzeln",
    json_file: Annotated[Path | None, typer.Option("--json", help="also write the result to this file")] = None,
    out: Annotated[Path | None, typer.Option(help="also write benchmark.json and benchmark.md to this folder")] = None,
) -> None:
    """Score an agent on the game's named benchmark: fixed deals, a fixed field, one figure to publish."""
    from .benchmark import BENCHMARKS, DEALS, run_benchmark

    found = get_game(game).name
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("deals", total=DEALS * len(BENCHMARKS[found].field))
        score = run_benchmark(found, load_agent(agent, game=found), progress=lambda count: bar.advance(task, count))
    console.print(score.markdown(), markup=False, highlight=False)
    text = json.dumps(score.as_dict(), indent=1) + "\n"
    for path, content in (
        (json_file, text),
        *(((out / "benchmark.json", text), (out / "benchmark.md", score.markdown())) if out else ()),
    ):
        if path is not None:
            write_atomically(path, content.encode())


@app.command(name="exploit")
@clear_errors
def exploit_command(
    agent: Annotated[str, typer.Argument(help="the agent to be exploited")],
    words: Words = None,
    game: GameName = "herzeln",
    decisions: Annotated[int, typer.Option(help="cards that the best response learns from")] = 4_000_000,
    deals: Annotated[int, typer.Option(help="test deals of the measurement")] = 2000,
    out: Annotated[Path | None, typer.Option(help="folder of the run; runs/exploit_AGENT by default")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the run in that folder")] = False,
) -> None:
    """Train a best response to an agent and report what it gains: a lower bound of its exploitability."""
    from .exploit import exploit, response_config  # torch is slow to import

    if deals < 2:
        raise OptionError(f"--deals {deals} is not valid. Valid: 2 or more, for an interval")
    folder = out or Path("runs") / f"exploit_{game}_{Path(agent).stem.replace(':', '_')}"
    found = exploit(response_config(agent, game, decisions, words or []), folder, deals, resume, console.print)
    console.print(str(found), markup=False, highlight=False)


@app.command(name="ship")
@clear_errors
def ship_command(
    run: Annotated[Path, typer.Argument(help="folder of a finished training run")],
    against: Annotated[list[str] | None, typer.Argument(help="agents to measure it against; rules by default")] = None,
    deals: Annotated[int, typer.Option(min=2, help="test deals of each measurement")] = 2000,
) -> None:
    """Make a run's policy the agent `ppo` of its game and number of players, with a model card."""
    from .ship import ship  # torch is slow to import

    console.print(f"shipped: {ship(run, deals, tuple(against or ['rules']), say=console.print)}")


@app.command(name="export")
@clear_errors
def export_command(
    agent: Annotated[str, typer.Argument(help="ppo, or ppo:PATH")],
    file: Annotated[Path, typer.Argument(help="the ONNX file")],
    words: Words = None,
    game: GameName = "herzeln",
) -> None:
    """Write a network's policy as an ONNX file, once it has played as the agent does."""
    from ..agents.export import export, network_agent  # torch is slow to import

    options = overrides(words or [])
    players = get_game(game).options(**options).players if "players" in options else None
    check = export(network_agent(load_agent(agent, game=game), players), file, options)
    console.print(f"{file}: {check}", markup=False, highlight=False, soft_wrap=True)


@app.command(name="ablate")
@clear_errors
def ablate_command(
    config: Annotated[str, typer.Argument(help="a YAML file, or the name of a shipped config")],
    words: Words = None,
    out: Annotated[Path | None, typer.Option(help="folder of the study; runs/NAME by default")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue the study in that folder")] = False,
) -> None:
    """Measure what each part of a training recipe is worth, at equal budget."""
    from .ablation import ablate, ablation_config

    path = find_config(config)
    ablate(ablation_config(read_yaml(path), words or []), out or Path("runs") / path.stem, resume, console.print)


@app.command()
@clear_errors
def variance(
    agents: Annotated[list[str], typer.Argument(help="two agents, then key=value rule options")],
    game: GameName = "herzeln",
    deals: Annotated[int, typer.Option(help="number of deals")] = 2000,
    field: Annotated[
        str | None, typer.Option(help="agent at the other seats of the gauntlet; the second by default")
    ] = None,
    seed: Annotated[int, typer.Option(help="which test deals")] = 0,
) -> None:
    """Measure how many times fewer games the duplicate designs need than games on deals of their own."""
    from .variance import variance_gains

    names, words = [a for a in agents if not _is_option(a)], [a for a in agents if _is_option(a)]
    if len(names) != 2:
        raise OptionError(f"{len(names)} agents given. Valid: 2")
    found = get_game(game)
    options = found.options(**{"episode": "deal", **overrides(words)})
    console.print(variance_gains(found, options, names, field or names[1], deals, seed_of(TEST, seed)))


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
def serve(
    records: Annotated[
        list[Path] | None, typer.Argument(help="games.parquet of tournaments or game records to step through")
    ] = None,
    host: Annotated[str, typer.Option(help="address to listen at; the default is reached from this machine only")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="port; 0 for any free one")] = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open the page in a browser")] = True,
    agent: Annotated[list[str] | None, typer.Option(help="an agent to list; can be given several times")] = None,
    patience: Annotated[float, typer.Option(help="seconds that an agent may take for a card")] = 120.0,
    out: Annotated[Path, typer.Option(help="folder in which games are kept")] = Path("runs/page"),
) -> None:
    """Open a page in the browser: play, watch agents play, step through records."""
    from ..page.server import LOOPBACK, Page  # needs the extra
    from ..page.server import serve as run

    page = Page(out, records or [], agent or [], host in LOOPBACK, patience)
    run(page, host, port, browser, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True))


@app.command()
@clear_errors
def bench(
    json_file: Annotated[Path | None, typer.Option("--json", help="also write the figures to this file")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="CPU time of each measurement")] = 2.0,
    learning: Annotated[
        bool, typer.Option("--learning", help="only learning, beside sb3-contrib's MaskablePPO")
    ] = False,
) -> None:
    """Measure speed against peers in the same run, per CPU-second on one core."""
    if learning:
        from .throughput import run_learning as run  # torch is slow to import
    else:
        from .bench import run_bench as run

    figures = run(seconds, console)
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(figures, indent=1) + "\n")


def main() -> None:
    """Entry point; agents of one's own are found in the current folder."""
    sys.path.insert(0, "")
    app()


if __name__ == "__main__":
    main()
