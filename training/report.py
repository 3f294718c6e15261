"""The results of a tournament as files that people open: Parquet, CSV, Markdown, one self-contained HTML page."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jinja2 import Environment

from ..agents.files import write_atomically
from ..envs.game import get_game
from .results import KEY, MatchResult, Tables, collect, rows_by_seat, tabulate, timings
from .rippoldsau import standings

SUMMARY = ("agent", "against", "deals", "payoff", "low", "high", "share", "win", "score", "deals_to_separate")
SUMMARY_MORE = ("free", "forced", "failed_deals", "illegal_deals")


def write_results(config: Any, out: Path) -> Tables:
    """Write all result files into the folder `out` from its parts."""
    from .tournament import matches

    results = collect(config, matches(config), out / "parts")
    tables = tabulate(config, results)
    text = (out / "config.yaml").read_text()
    _parquet(out / "deals.parquet", rows_by_seat(config, tables.names, results), text)
    _parquet(out / "games.parquet", _games(tables.names, results), text)
    _csv(out / "summary.csv", tables.summary)
    _csv(out / "matrix.csv", matrix_frame(tables))
    _csv(out / "ratings.csv", tables.ratings)
    _csv(out / "failures.csv", failure_frame(results))
    _csv(out / "timing.csv", timings(out / "parts", tables.names))
    write_atomically(out / "report.md", markdown(tables).encode())
    write_atomically(out / "report.html", html(tables).encode())
    return tables


def _parquet(path: Path, frame: pl.DataFrame, config: str) -> None:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata={KEY: config})
    write_atomically(path, buffer.getvalue())


def _csv(path: Path, frame: pl.DataFrame) -> None:
    write_atomically(path, frame.write_csv(float_precision=6).encode() if frame.width else b"")


def _games(names: list[str], results: list[MatchResult]) -> pl.DataFrame:
    """`games.parquet`: one row a game, with who sat where and all cards."""
    labels = pl.col("agents").list.eval(pl.element().replace_strict(dict(enumerate(names)), return_dtype=pl.String))
    frames = [
        result.games.select(pl.lit(result.number).alias("match"), "deal", "game", labels, "score", "actions")
        for result in results
        if not result.games.is_empty()
    ]
    return pl.concat(frames) if frames else pl.DataFrame()


def matrix_frame(tables: Tables) -> pl.DataFrame:
    """`matrix.csv`: a row an agent, its payoff against each other one."""
    columns = {name: tables.payoff[:, at] for at, name in enumerate(tables.names)}
    return pl.DataFrame({"agent": tables.names, **columns})


def failure_frame(results: list[MatchResult]) -> pl.DataFrame:
    """`failures.csv`: the deals that could not be played."""
    rows = [{"match": result.number, **failure} for result in results for failure in result.failures]
    return pl.DataFrame(rows)


def event_frame(tables: Tables) -> pl.DataFrame:
    """Events of each agent (such as moons) per 1,000 deals and seat, and how many attempts came off."""
    events = get_game(tables.config.game).events
    if not events or tables.summary.is_empty():
        return pl.DataFrame()
    per_thousand = [(pl.col(name) * pl.col("deals")).sum() / pl.col("deals").sum() * 1000 for name in events]
    frame = tables.summary.group_by("agent", maintain_order=True).agg(
        expression.alias(f"{name} per 1000") for expression, name in zip(per_thousand, events, strict=True)
    )
    if "moons" in events:
        success = pl.col("moons per 1000") / pl.col("moon_attempts per 1000")
        frame = frame.with_columns(success.fill_nan(None).alias("attempts that came off"))
    return frame


# ------------------------------------------------------------------------------------------------- text


def title(config: Any) -> str:
    """What was played, in one line."""
    rules = config.rules()
    preset = config.preset or next(iter(get_game(config.game).presets))
    return f"{config.game.capitalize()}: {config.design.replace('_', ' ')}, preset {preset}, {rules.players} players"


def sections(tables: Tables) -> list[tuple[str, str, pl.DataFrame]]:
    """Heading, explanation and table of each part of the report."""
    config, rules = tables.config, tables.config.rules()
    unit = "deal" if rules.episode == "deal" else rules.episode
    games = {len(result.games) / result.deals for result in tables.matches if result.deals}
    each = f"{max(games):g} games a {unit}" if games else "no game"
    kind = (
        "interval that holds however often one looks"
        if not config.stop.never
        else f"bootstrap over the {unit}s, {config.bootstrap} resamples"
    )
    found = [
        (
            "Cross-table",
            f"Payoff of the row against the column in points per seat and {unit}: mean points of the others minus "
            f"own, or own side's card points minus the other's ({each}, the same cards for both).",
            _shown(matrix_frame(tables)),
        ),
        (
            "Ratings",
            "`rating`: additive least squares of the cross-table, with 95 % interval. `bradley_terry`: log-odds of "
            "winning a deal. `openskill`: its mu, sigma beside it. `nash_average` and `alpha_rank`: weight in the "
            "meta-game.",
            _shown(tables.ratings),
        ),
        (
            "Matches",
            f"95 % intervals: {kind}. `win`: share of the wins. `deals_to_separate`: deals after which a difference "
            f"of this size is told from 0 in four studies of five.",
            _shown(tables.summary.select([name for name in SUMMARY if name in tables.summary.columns])),
        ),
        (
            "Decisions",
            f"Cards per seat and {unit} with and without a choice, and deals that an agent could not play.",
            _shown(tables.summary.select([n for n in ("agent", "against", *SUMMARY_MORE) if n in tables.summary])),
        ),
        ("Events", "Per 1,000 deals and seat, over all matches of an agent.", _shown(event_frame(tables))),
        ("Failures", "Deals that were not played; they count nowhere.", failure_frame(tables.matches)),
    ]
    if config.design == "rippoldsau":
        found.insert(0, _rippoldsau(tables))
    return [section for section in found if section[2].height]


def _rippoldsau(tables: Tables) -> tuple[str, str, pl.DataFrame]:
    text = (
        "Marks of each pair over a tournament, in which it meets every other pair; the fewest win (ties share), all "
        "with the most are Bollenkönige."
    )
    return "Tournaments as in Bad Rippoldsau", text, _shown(standings(tables.config, tables.names, tables.matches))


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers as people read them."""
    signed = ("payoff", "low", "high", "rating", "bradley_terry")
    columns = []
    for name, dtype in frame.schema.items():
        if not dtype.is_float():
            columns.append(pl.col(name).cast(pl.String))
            continue
        sign = "+" if name in signed or name in frame.get_column(frame.columns[0]).to_list() else ""
        digits = 0 if name == "deals_to_separate" else 3
        columns.append(
            pl.col(name).map_elements(
                lambda x, sign=sign, digits=digits: "" if np.isnan(x) else f"{x:{sign},.{digits}f}",
                return_dtype=pl.String,
            )
        )
    return frame.select(columns).fill_null("")


def notes(tables: Tables) -> list[str]:
    """What the reader should know beyond the tables."""
    found = [
        f"{' beats '.join((*ring, ring[0]))}: strength here is no ladder (each interval above 0)."
        for ring in tables.cycles
    ]
    gone = [result.number for result in tables.matches if not result.deals]
    if gone:
        found.append(f"matches without a deal played: {', '.join(str(number) for number in gone)}.")
    if tables.ratings.is_empty():
        found.append("no ratings: they need a match of every pair.")
    return found


def markdown(tables: Tables) -> str:
    """The report as Markdown."""
    lines = [f"# {title(tables.config)}", ""]
    for note in notes(tables):
        lines += [f"Note: {note}", ""]
    for heading, text, frame in sections(tables):
        lines += [f"## {heading}", "", text, "", markdown_table(frame), ""]
    return "\n".join(lines)


def markdown_table(frame: pl.DataFrame) -> str:
    """A table in Markdown."""
    rows = ["| " + " | ".join(frame.columns) + " |", "|---" * frame.width + "|"]
    rows += ["| " + " | ".join(str(value) for value in row) + " |" for row in frame.iter_rows()]
    return "\n".join(rows)


# ------------------------------------------------------------------------------------------------- page

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; } img { max-width: 100%; } .note { background: #fff4d6; padding: .5rem 1rem; }
pre { background: #f6f6f6; padding: 1rem; overflow-x: auto; }
</style></head><body>
<h1>{{ title }}</h1>
{% for note in notes %}<p class="note">{{ note }}</p>{% endfor %}
{% for heading, text, frame in sections %}
<h2>{{ heading }}</h2><p>{{ text }}</p>
{% for name, image in figures.get(heading, []) %}
<p><img alt="{{ name }}" src="data:image/png;base64,{{ image }}"></p>
{% endfor %}
<div class="wide"><table><thead><tr>{% for name in frame.columns %}<th>{{ name }}</th>{% endfor %}</tr></thead><tbody>
{% for row in frame.iter_rows() %}<tr>{% for value in row %}<td>{{ value }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{% endfor %}
<h2>Config</h2><pre>{{ config }}</pre>
</body></html>
"""


def html(tables: Tables) -> str:
    """The report as one page with its pictures inside."""
    from .plots import cross_table, payoff_distributions, rating_intervals
    from .tournament import config_text

    figures: dict[str, list[tuple[str, str]]] = {}

    def add(heading: str, name: str, png: bytes) -> None:
        figures.setdefault(heading, []).append((name, base64.b64encode(png).decode()))

    if np.isfinite(tables.payoff).any():
        add("Cross-table", "payoff of the row against the column", cross_table(tables))
    if not tables.ratings.is_empty():
        add("Ratings", "additive ratings with 95 % intervals", rating_intervals(tables))
    if tables.summary.height:
        add("Matches", "payoffs of single deals", payoff_distributions(tables))
    page = Environment(autoescape=True).from_string(PAGE)
    return page.render(
        title=title(tables.config),
        notes=notes(tables),
        sections=sections(tables),
        figures=figures,
        config=config_text(tables.config),
    )
