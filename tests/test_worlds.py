"""Worlds agree with everything a seat knows, and all that agree are equally probable.

The referee is the definition: the deal of a world, played from the start with the cards that the table saw, is legal
throughout and gives the seat its view. It knows nothing of voids or of any other conclusion the sampler draws.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel
import pytest
from helpers import batches, many, play_on, positions, random_cards, random_options, same_records, views_for
from scipy import stats

from stich.agents import load_agent
from stich.agents.worlds import count_worlds, drawing, resample, sample_worlds, weigh
from stich.envs import make_batch
from stich.envs.batch import Batch, Terms
from stich.envs.cards import FACE_DOWN, NO_CARD
from stich.envs.game import GAMES, Game
from stich.envs.herzeln import HEARTS, RANKS, cards_dealt
from stich.envs.state import DEAL_OVER, PASS

every_game = pytest.mark.parametrize("game", GAMES)


def keys_for(views: np.ndarray, seed: int = 0) -> np.ndarray:
    """A key for each view."""
    return np.random.default_rng(seed).integers(1 << 63, size=len(views), dtype=np.uint64)


def own_views(game: Game, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Views [N], each of the seat given for it, without garbage in the padding."""
    out = np.zeros(len(states), game.state)
    game.lanes.view(np.ascontiguousarray(states), np.ascontiguousarray(seats, np.int8), out)
    return out


def differing(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """bool[N]: records that are not equal in every field."""
    found = np.zeros(len(left), bool)
    for name in left.dtype.names or ():
        unequal = left[name] != right[name]
        found |= unequal.reshape(len(left), -1).any(axis=1)
    return found


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("herzeln", {"passing": "left", "queen_breaks_hearts": True}),
    ("herzeln", {"passing": "across", "hearts_instead_of_queen": True}),
    ("herzeln", {"first_lead": "left_of_dealer"}),
    ("herzeln", {"players": 3, "three_players": "kitty", "passing": "right"}),
    ("herzeln", {"players": 3, "three_players": "kitty", "first_lead": "any_club"}),
    ("herzeln", {"players": 3, "three_players": "drop_club_two", "first_lead": "any_club"}),
    ("herzeln", {"players": 2, "two_players": "half"}),
    ("herzeln", {"players": 2, "two_players": "half", "first_lead": "any_club"}),
    ("herzeln", {"players": 2, "two_players": "half", "first_lead": "any_club", "hearts_instead_of_queen": True}),
    ("viersche", {}),
    ("viersche", {"jack_exempt": True, "trump": "random"}),
    ("viersche", {"jack_exempt": True, "reveal_face_down": "never"}),
]


# --------------------------------------------------------------------------------------- the referee


def popcount(cards: Any) -> np.ndarray:
    return np.bitwise_count(np.asarray(cards, np.int64)).astype(np.int64)


def opening(worlds: np.ndarray) -> np.ndarray:
    """The hands dealt int64[N, 4], before any passing."""
    hands = worlds["hands"] | worlds["played"]
    if "passed" not in (worlds.dtype.names or ()):
        return hands
    return hands & ~worlds["received"] | worlds["passed"]


def history(worlds: np.ndarray) -> np.ndarray:
    """The cards passed and played so far, in order: int64[T, N], NO_CARD where a world has none at that place."""
    columns = []
    if "passed" in (worlds.dtype.names or ()):
        players = int(worlds["players"][0])
        for turn in range(players):
            seat = (worlds["dealer"] + 1 + turn) % players
            columns += drawn_out(worlds["passed"][np.arange(len(worlds)), seat], 3)
    when = worlds["when"].astype(np.int64)
    order = np.argsort(np.where(when > 0, when, 99), axis=1)
    played = np.where(np.arange(when.shape[1]) < (when > 0).sum(axis=1, keepdims=True), order, NO_CARD)
    return np.array([*columns, *played.T[: int(worlds["plays"].max())]], np.int64).reshape(-1, len(worlds))


def drawn_out(cards: np.ndarray, count: int) -> list[np.ndarray]:
    """The lowest `count` cards of sets int64[N], NO_CARD where there are no more."""
    found = []
    for _ in range(count):
        found.append(np.where(cards != 0, popcount((cards & -cards) - 1), NO_CARD))
        cards = cards & (cards - 1)
    return found


def replayed(game: Game, options: Any, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states [N] that the deals of worlds lead to, card by card, and where all of that was legal, bool[N]."""
    hands = opening(worlds)
    fine = (popcount(hands)[:, : options.players] == worlds["hand_size"][:, None]).all(axis=1)
    fine &= popcount(np.bitwise_or.reduce(hands, axis=1)) == popcount(hands).sum(axis=1)
    if game.name == "viersche" and options.trump == "turn_up":
        fine &= hands[np.arange(len(worlds)), worlds["dealer"]] >> worlds["turn_up"] & 1 == 1
    terms = Terms(illegal="terminate")
    batch = Batch(game, options, terms, 0, np.arange(len(worlds)), np.zeros(len(worlds), np.int64), "disabled")
    batch.states[:] = worlds
    batch.states["hands"] = hands
    for lane in range(len(worlds)):
        game.lanes.deal_lane(batch.states, lane, False)
    batch.look()
    for cards in history(worlds):
        fine &= ~batch.advance(np.where(batch.running, cards, NO_CARD)).illegal
    return batch.states, fine


def assert_consistent(game: Game, options: Any, worlds: np.ndarray, views: np.ndarray) -> None:
    """Worlds [N, W] have the views [N], and (while the deal goes on) their own history leads to them."""
    flat, seen = worlds.reshape(-1), np.repeat(views, worlds.shape[1])
    assert (flat["observer"] == -1).all()
    wrong = differing(own_views(game, flat, seen["observer"]), seen)
    assert not wrong.any(), (options, seen[wrong][0])
    flat = flat[flat["phase"] < DEAL_OVER]
    if len(flat):
        states, fine = replayed(game, options, flat)
        assert fine.all(), (options, flat[~fine][0])
        assert not differing(states, flat).any(), options


# ------------------------------------------------------------------------------ positions out of the way


def skewed(batch: Batch, rng: np.random.Generator) -> None:
    """Deal anew so that suits stick together: hands without trumps, of penalty cards only and the like come up."""
    for lane in range(batch.lanes):
        state, pull = batch.states[lane], 1.5 * rng.random()
        deck = np.array(batch.game.deck.in_set(_deck(batch)))
        suits = deck // len(batch.game.deck.ranks)
        if batch.game.name == "herzeln":
            suits[deck == batch.game.deck.parse("SQ")] = HEARTS
        cards = deck[np.argsort(rng.random(len(deck)) + pull * rng.permutation(4)[suits])]
        _give(batch.game, state, cards, rng)
        batch.game.lanes.deal_lane(batch.states, lane, False)
    batch.look()


def _deck(batch: Batch) -> int:
    return cards_dealt(batch.options) if batch.game.name == "herzeln" else (1 << batch.game.deck.size) - 1


def _give(game: Game, state: Any, cards: np.ndarray, rng: np.random.Generator) -> None:
    """Deal cards in this order to the seats in any order."""
    size, seats = int(state["hand_size"]), rng.permutation(int(state["players"]))
    for place, seat in enumerate(seats):
        state["hands"][seat] = sum(1 << int(card) for card in cards[place * size : (place + 1) * size])
    if game.name == "herzeln":
        state["kitty"] = cards[-1] if state["kitty"] != NO_CARD else NO_CARD
    elif state["turn_up"] != NO_CARD:
        held = game.deck.in_set(int(state["hands"][state["dealer"]]))
        state["turn_up"] = rng.choice(held)
        state["trump"] = state["turn_up"] // len(game.deck.ranks)


def mixed_batches(game: str, number: int, seed: int) -> Iterator[tuple[Batch, np.random.Generator]]:
    """Batches under random options, then under each of the settings; every other one with skewed hands."""
    under = [make_batch(name, 8, seed=seed, **options) for name, options in SETTINGS if name == game for _ in "ab"]
    chosen = itertools.chain(batches(game, number, seed), ((batch, random.Random(seed)) for batch in under))
    for place, (batch, rng) in enumerate(chosen):
        luck = np.random.default_rng(rng.getrandbits(32))
        if place % 2:
            skewed(batch, luck)
        yield batch, luck


# --------------------------------------------------------------------------------------------- the tests


@every_game
def test_worlds_have_the_view_and_a_legal_history(game: str) -> None:
    for batch, rng in mixed_batches(game, many(30, 1000), seed=21):
        for _ in positions(batch, rng, int(rng.integers(20, 70)), every=int(rng.integers(3, 9))):
            seats = rng.integers(batch.players, size=batch.lanes)
            views = own_views(batch.game, batch.states, seats)
            worlds = sample_worlds(game, views, keys_for(views), 4)
            assert_consistent(batch.game, batch.options, worlds, views)
            assert (count_worlds(game, views) >= 1).all()


@every_game
@pytest.mark.parametrize("illegal", [False, True])
def test_worlds_after_the_end(game: str, illegal: bool) -> None:
    """Also where an illegal card has ended the deal in the middle, of passing too."""
    for number in range(many(12, 150)):
        rng = random.Random(f"end {game} {number}")
        options = random_options(GAMES[game], rng, episode="deal")
        batch = make_batch(game, 8, seed=number, autoreset="disabled", illegal="terminate", **options)
        luck = np.random.default_rng(number)
        if not illegal:
            while batch.running.any():
                batch.step(random_cards(batch, luck))
        else:
            play_on(batch, luck, rng.randrange(25))
            wrong = (batch.action_mask == 0).argmax(axis=1)
            batch.step(np.where(batch.running, wrong, NO_CARD))
        for seat in range(batch.players):
            views = views_for(batch.game, batch.states, seat)
            assert_consistent(batch.game, batch.options, sample_worlds(game, views, keys_for(views), 3), views)


@every_game
def test_worlds_depend_on_view_and_key_only(game: str) -> None:
    for batch, rng in itertools.islice(mixed_batches(game, 8, seed=3), 8):
        play_on(batch, rng, int(rng.integers(30)))
        views, keys = batch.views, keys_for(batch.views)
        worlds = sample_worlds(game, views, keys, 6)
        assert same_records(worlds, sample_worlds(game, views, keys, 6))
        assert same_records(worlds[:, :2], sample_worlds(game, views, keys, 2))
        order = rng.permutation(len(views))
        assert same_records(worlds[order], sample_worlds(game, views[order], keys[order], 6))
        assert same_records(worlds[3:4], sample_worlds(game, views[3:4], keys[3:4], 6))
        assert same_records(views, batch.views)


@every_game
def test_a_state_is_no_view(game: str) -> None:
    batch = make_batch(game, 2)
    with pytest.raises(ValueError, match="no observer"):
        sample_worlds(game, batch.states, keys_for(batch.states), 1)
    with pytest.raises(ValueError, match="one for each view"):
        sample_worlds(game, batch.views, np.zeros(3, np.uint64), 1)


@every_game
def test_a_view_that_cannot_be_is_refused(game: str) -> None:
    views = make_batch(game, 3).views
    views["voids"][1] = 15
    assert count_worlds(game, views)[1] == 0
    with pytest.raises(ValueError, match="view 1"):
        sample_worlds(game, views, keys_for(views), 1)


# ------------------------------------------------------------------------------ against full enumeration


def unseen_cards(batch: Batch, view: Any) -> int:
    """The cards of the deal that lie somewhere out of sight."""
    cards = _deck(batch) & ~int(view["hands"][view["observer"]])
    for seat in range(4):
        cards &= ~int(view["played"][seat])
    if batch.game.name == "herzeln" and view["kitty"] != NO_CARD:
        cards &= ~(1 << int(view["kitty"]))
    return cards


def room(batch: Batch, view: Any) -> list[int]:
    """Free places in the hands of the seats after the observer, then beside the hands."""
    seats = [(int(view["observer"]) + 1 + offset) % batch.players for offset in range(batch.players - 1)]
    free = [int(view["hand_size"]) - int(view["played"][seat]).bit_count() for seat in seats]
    if batch.game.name == "viersche" and view["face_down"] == FACE_DOWN:
        free[seats.index((int(view["dealer"]) + 1) % 4)] -= 1
    return [*free, unseen_cards(batch, view).bit_count() - sum(free)]


def placements(cards: tuple[int, ...], free: list[int]) -> Iterator[tuple[int, ...]]:
    """Every way to deal cards to places, as one set a place."""
    if len(free) == 1:
        yield (sum(1 << card for card in cards),)
        return
    for chosen in itertools.combinations(cards, free[0]):
        rest = tuple(card for card in cards if card not in chosen)
        for others in placements(rest, free[1:]):
            yield (sum(1 << card for card in chosen), *others)


def placed(batch: Batch, view: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """States [M] that hold the sets int64[M, places], legal or not; view is [1]."""
    worlds = np.repeat(view, len(sets))
    own, players = int(view["observer"][0]), batch.players
    for offset in range(players - 1):
        worlds["hands"][:, (own + 1 + offset) % players] = sets[:, offset]
    pile = drawn_out(sets[:, -1], 1)[0]
    if batch.game.name == "herzeln":
        if batch.players == 3 and (pile != NO_CARD).all():
            worlds["kitty"] = pile
        _pass_any(worlds, own)
    elif view["face_down"][0] == FACE_DOWN:
        forehand = (int(view["dealer"][0]) + 1) % 4
        worlds["when"][np.arange(len(sets)), pile] = 1
        worlds["played"][:, forehand] |= sets[:, -1]
    return worlds


def _pass_any(worlds: np.ndarray, own: int) -> None:
    """The others have passed whatever three cards."""
    direction, players = int(worlds["direction"][0]), int(worlds["players"][0])
    for giver in range(players if direction else 0):
        receiver = (giver + direction) % players
        cards = worlds["passed"][:, giver].copy()
        if receiver == own:
            cards = worlds["received"][:, own].copy()
        elif giver != own:
            rest = worlds["hands"][:, receiver] | worlds["played"][:, receiver]
            cards = sum(np.int64(1) << card for card in drawn_out(rest, 3))
        worlds["passed"][:, giver] = worlds["received"][:, receiver] = cards


def agreeing(batch: Batch, view: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """bool[M]: placements whose deal, played as the table saw it, is legal and gives this view."""
    states, fine = replayed(batch.game, batch.options, placed(batch, view, sets))
    for name in ("seed", "lane", "lane_deal"):
        states[name] = 0
    sight = own_views(batch.game, states, np.repeat(view["observer"], len(sets)))
    if int(view["phase"][0]) >= DEAL_OVER:
        raise AssertionError("only deals that go on are replayed")
    return fine & ~differing(sight, np.repeat(view, len(sets)))


def sets_of(batch: Batch, view: Any, worlds: np.ndarray) -> np.ndarray:
    """The sets int64[M, places] that worlds hold, in the order of `placements`."""
    own, players = int(view["observer"]), batch.players
    columns = [worlds["hands"][:, (own + 1 + offset) % players] for offset in range(players - 1)]
    return np.stack([*columns, unseen_cards(batch, view) & ~np.bitwise_or.reduce(columns)], axis=1)


def assert_uniform(batch: Batch, view: np.ndarray, draws: int, seed: int) -> int:
    """The number of placements that agree is the count, and all are drawn equally often; returns the number."""
    free = room(batch, view[0])
    cards = tuple(batch.game.deck.in_set(unseen_cards(batch, view[0])))
    every = np.array(list(placements(cards, free)), np.int64)
    possible = every[agreeing(batch, view, every)]
    assert count_worlds(batch.game, view)[0] == len(possible), (batch.options, view)
    worlds = sample_worlds(batch.game, view, keys_for(view, seed), draws)[0]
    number = {tuple(row): place for place, row in enumerate(possible.tolist())}
    drawn = np.bincount([number[tuple(row)] for row in sets_of(batch, view[0], worlds).tolist()], minlength=len(number))
    if len(possible) > 1:
        assert stats.chisquare(drawn).pvalue > 1e-5, (batch.options, view)
    return len(possible)


def small_positions(batch: Batch, rng: np.random.Generator, most: int) -> Iterator[np.ndarray]:
    """Views [1], of any seat, of positions with few placements of the unseen cards, at most one a lane."""
    left = np.ones(batch.lanes, bool)
    while left.any() and batch.running.any():
        for lane in np.flatnonzero(left & batch.running):
            seat = int(rng.integers(batch.players))
            view = views_for(batch.game, batch.states[lane : lane + 1], seat)
            if view["phase"][0] != PASS and _ways(room(batch, view[0])) <= most:
                left[lane] = False
                yield view
        batch.step(random_cards(batch, rng))


def _ways(free: list[int]) -> float:
    """Ways to deal so many cards to places without knowing anything of them."""
    return math.factorial(sum(free)) / math.prod(map(math.factorial, free))


@pytest.mark.parametrize(("game", "options"), SETTINGS, ids=str)
def test_all_worlds_are_equally_probable(game: str, options: dict[str, Any]) -> None:
    sizes = []
    for number in range(2):
        batch = make_batch(game, many(4, 60), seed=number, episode="deal", autoreset="disabled", **options)
        rng = np.random.default_rng(number)
        if number:
            skewed(batch, rng)
        sizes += [
            assert_uniform(batch, view, 4000, place) for place, view in enumerate(small_positions(batch, rng, 700))
        ]
    assert max(sizes) > 20


@every_game
def test_all_worlds_are_equally_probable_under_any_options(game: str) -> None:
    for batch, rng in mixed_batches(game, many(6, 150), seed=31):
        for place, view in enumerate(small_positions(batch, rng, 400)):
            assert_uniform(batch, view, 1500, place)


@pytest.mark.parametrize("options", [{}, {"reveal_face_down": "never"}, {"reveal_face_down": "never", "trump": "H"}])
def test_all_worlds_are_equally_probable_behind_a_lead_face_down(options: dict[str, Any]) -> None:
    """Also in the second deal of a round, which goes on only as long as no side has enough points."""
    batch = make_batch("viersche", 400, seed=2, episode="round", **options)
    rng, tried = np.random.default_rng(5), 0
    for _ in positions(batch, rng, 72, every=3):
        states = batch.states
        for lane in np.flatnonzero((states["face_down"] >= 0) & (states["plays"] > 22))[:3]:
            forehand = int(states["dealer"][lane] + 1) % 4
            view = views_for(batch.game, states[lane : lane + 1], (forehand + int(rng.integers(1, 4))) % 4)
            if _ways(room(batch, view[0])) < 4000:
                tried += 1
                assert_uniform(batch, view, 3000, tried)
    assert tried >= 12


@pytest.mark.parametrize(("card", "ranks"), [("D9", {"6", "7", "8", "9"}), ("D10", {"10"})])
def test_points_of_a_hidden_card_are_known_by_the_deal_going_on_or_ending(card: str, ranks: set[str]) -> None:
    """The first trick ends the deal if the card lying face down has points; the score then says how many."""
    deal: dict[str, Any] = {"scores": {"carried": (99, 41)}, "turn_up": "CA", "dealer": 3}
    deal["hands"] = [
        "D6 D7 D8 D9 D10 H6 H7 H8 H9",
        "C6 C10 S6 S7 S8 S9 DJ DQ DK",
        "C9 CQ DA H10 HJ HQ HK HA S10",
        "C7 C8 CK CA CJ SJ SQ SK SA",
    ]
    batch = make_batch("viersche", 1, episode="round", reveal_face_down="never", autoreset="disabled", deals=[deal])
    for name in (card, "C6", "C9", "C7"):
        batch.step([batch.game.deck.parse(name)])
    for seat in range(1, 4):
        view = views_for(batch.game, batch.states, seat)
        worlds = sample_worlds("viersche", view, keys_for(view), 1000)
        assert_consistent(batch.game, batch.options, worlds, view)
        assert {batch.game.deck.name(hidden)[1:] for hidden in worlds["face_down"][0]} == ranks


HALF: dict[str, Any] = {"players": 2, "two_players": "half"}


def scripted(deal: dict[str, Any], script: str, **options: Any) -> tuple[Batch, np.ndarray]:
    """A deal given by hand after some cards of a script, and the view of seat 1."""
    batch = make_batch("herzeln", 1, episode="deal", deals=[deal], **options)
    for name in script.split():
        batch.step([batch.game.deck.parse(name)])
    return batch, views_for(batch.game, batch.states, 1)


@pytest.mark.parametrize("instead", [False, True])
def test_who_leads_the_first_heart_holds_nothing_else(instead: bool) -> None:
    """Nothing but the queen, where a heart may be led instead of her."""
    own = "D2 D3 D4 D5 D6 D7 D8 D9 D10 DJ DQ DK DA"
    queen = "SQ" if instead else "HK"
    hands = [f"C2 H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ {queen}", own]
    batch, view = scripted({"hands": hands, "dealer": 1}, "C2 D2 H2", hearts_instead_of_queen=instead, **HALF)
    assert count_worlds("herzeln", view)[0] == math.comb(12 + instead, 11)
    worlds = sample_worlds("herzeln", view, keys_for(view), 500)
    assert_consistent(batch.game, batch.options, worlds, view)
    assert len(np.unique(worlds["hands"][0, :, 0])) == math.comb(12 + instead, 11)


@pytest.mark.parametrize("first_lead", ["club_two", "any_club"])
def test_the_first_leader_may_hold_no_club(first_lead: str) -> None:
    """Seat 1 has no club; the other one leads as the dealer's left neighbour or as the holder of a club."""
    hands = ["H2 H3 H4 D2 D3 D4 D5 D6 D7 D8 D9 S2 S3", "H5 H6 H7 D10 DJ DQ DK DA S4 S5 S6 S7 S8"]
    _, view = scripted({"hands": hands, "dealer": 1}, "", first_lead=first_lead, **HALF)
    assert count_worlds("herzeln", view)[0] == math.comb(39, 13)
    _, view = scripted({"hands": hands, "dealer": 1}, "D2", first_lead=first_lead, **HALF)
    assert count_worlds("herzeln", view)[0] == math.comb(25, 12)
    _, view = scripted({"hands": hands, "dealer": 0}, "", first_lead=first_lead, **HALF)
    assert count_worlds("herzeln", view)[0] == math.comb(26, 13)


@pytest.mark.parametrize("first_lead", ["club_two", "any_club"])
def test_the_first_leader_holds_the_lowest_club(first_lead: str) -> None:
    """Seat 1's only club is the five: the other one holds a lower club, and the lead of another tells more."""
    hands = ["C4 C9 H4 D2 D3 D4 D5 D6 D7 D8 D9 S2 S3", "C5 H6 H7 D10 DJ DQ DK DA S4 S5 S6 S7 S8"]
    lower = math.comb(39, 13) - math.comb(36, 13)
    for dealer in range(2):
        _, view = scripted({"hands": hands, "dealer": dealer}, "", first_lead=first_lead, **HALF)
        assert count_worlds("herzeln", view)[0] == lower
    card, deals = (
        ("C4", math.comb(36, 12)) if first_lead == "club_two" else ("C9", math.comb(38, 12) - math.comb(35, 12))
    )
    _, view = scripted({"hands": hands, "dealer": 1}, card, first_lead=first_lead, **HALF)
    assert count_worlds("herzeln", view)[0] == deals


# ------------------------------------------------------------------------------- against random placements


@pytest.mark.parametrize(("game", "options"), SETTINGS, ids=str)
def test_counts_agree_with_random_placements(game: str, options: dict[str, Any]) -> None:
    """Where there are too many placements to try all: the share that agrees is the share counted."""
    for number in range(many(3, 40)):
        batch = make_batch(game, 6, seed=number, episode="deal", autoreset="disabled", **options)
        rng = np.random.default_rng(number)
        if number % 2:
            skewed(batch, rng)
        play_on(batch, rng, (12 if "passing" in options else 0) + int(rng.integers(16)))
        for lane in range(batch.lanes):
            view = views_for(batch.game, batch.states[lane : lane + 1], int(rng.integers(batch.players)))
            assert_share(batch, view, rng, 1500)


def assert_share(batch: Batch, view: np.ndarray, rng: np.random.Generator, draws: int) -> None:
    """Of random placements as many agree as should, within five standard errors."""
    free = room(batch, view[0])
    cards = np.array(batch.game.deck.in_set(unseen_cards(batch, view[0])))
    mixed = np.int64(1) << rng.permuted(np.repeat(cards[None], draws, axis=0), axis=1)
    parts = np.split(mixed, np.cumsum(free)[:-1], axis=1)
    sets = np.stack([part.sum(axis=1) for part in parts], axis=1)
    share = count_worlds(batch.game, view)[0] / _ways(free)
    found = agreeing(batch, view, sets).mean()
    assert abs(found - share) <= 5 * (share * (1 - share) / draws) ** 0.5 + 1e-12 + (share < 1e-2) * 5e-3, batch.options


def test_while_passing_every_deal_is_possible() -> None:
    batch, rng = make_batch("herzeln", 4, passing="left"), np.random.default_rng(0)
    for _ in range(12):
        for seat in range(4):
            deals = count_worlds("herzeln", views_for(batch.game, batch.states, seat))
            assert deals == pytest.approx(_ways([13, 13, 13]), rel=1e-12)
        batch.step(random_cards(batch, rng))


def test_the_seat_to_move_has_passed_up_to_two_cards() -> None:
    """How many, no view of the others shows; all numbers come up, as do all cards that the others have passed."""
    batch, rng = make_batch("herzeln", 1, passing="across"), np.random.default_rng(0)
    play_on(batch, rng, 4)
    watcher = (int(batch.seat[0]) + 1) % 4
    view = views_for(batch.game, batch.states, watcher)
    worlds = sample_worlds("herzeln", view, keys_for(view), 3000)[0]
    numbers = popcount(worlds["passed"])
    assert stats.chisquare(np.bincount(numbers[:, batch.seat[0]], minlength=3)).pvalue > 1e-4
    first = (int(batch.states["dealer"][0]) + 1) % 4
    passed = worlds["passed"][:, first]
    often = (passed[:, None] >> np.array(batch.game.deck.in_set(unseen_cards(batch, view[0]))) & 1).sum(axis=0)
    assert stats.chisquare(often).pvalue > 1e-4


# --------------------------------------------------------------------------------------------- weights


class Uniform:
    """A policy that plays every legal card with the same probability."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def log_probabilities(self, views: np.ndarray) -> np.ndarray:
        masks = self.game.masks(views)
        with np.errstate(divide="ignore"):
            return np.log(masks / masks.sum(axis=1, keepdims=True))


@every_game
@pytest.mark.parametrize("plays", [None, 5])
def test_weights_are_products_of_probabilities(game: str, plays: int | None) -> None:
    for batch, rng in itertools.islice(mixed_batches(game, 3, seed=8), 3):
        play_on(batch, rng, 12 + int(rng.integers(15)))
        views = batch.views
        worlds = sample_worlds(game, views, keys_for(views), 4)
        expected = np.exp(choices_of_others(batch, worlds, views, plays))
        expected /= expected.sum(axis=1, keepdims=True)
        assert weigh(game, worlds, views, Uniform(batch.game), plays) == pytest.approx(expected, rel=1e-5)


def choices_of_others(batch: Batch, worlds: np.ndarray, views: np.ndarray, plays: int | None) -> np.ndarray:
    """Minus the logarithms of the numbers of legal cards that the other seats had, world by world: float64[N, W]."""
    found = np.zeros(worlds.shape)
    for place in np.ndindex(*worlds.shape):
        world = worlds[place][None]
        replay = Batch(batch.game, batch.options, Terms(), 0, np.zeros(1), np.zeros(1, np.int64), "disabled")
        replay.states[:] = world
        replay.states["hands"] = opening(world)
        batch.game.lanes.deal_lane(replay.states, 0, False)
        replay.look()
        for card in history(world)[:, 0]:
            if card == NO_CARD:
                continue
            counts = plays is None or replay.states["plays"][0] >= world["plays"][0] - plays
            if replay.states["phase"][0] != PASS and counts and replay.seat[0] != views["observer"][place[0]]:
                found[place] -= np.log(replay.action_mask.sum())
            replay.advance(np.array([card]))
    return found


@every_game
def test_weights_bring_worlds_nearer_to_the_truth(game: str) -> None:
    """Where the others play as the policy says, cards lie more often where they are in worlds that count more."""
    batch, agent = (
        make_batch(game, 200, seed=4, episode="deal"),
        load_agent({"herzeln": "duck", "viersche": "greedy"}[game], game),
    )
    for _ in range(16):
        batch.step(agent.act(batch.views, batch.keys()))
    views, keys = batch.views, keys_for(batch.views)
    worlds = sample_worlds(game, views, keys, 60)
    weights = weigh(game, worlds, views, agent)
    assert weights.sum(axis=1) == pytest.approx(1)
    right = popcount(worlds["hands"] & batch.states["hands"][:, None]).sum(axis=2)
    chosen = popcount(resample(worlds, weights, keys, 60)["hands"] & batch.states["hands"][:, None]).sum(axis=2)
    assert (right * weights).sum(axis=1).mean() > right.mean() + 0.3
    assert chosen.mean() == pytest.approx((right * weights).sum(axis=1).mean(), abs=0.1)


@every_game
def test_without_plays_all_weights_are_equal(game: str) -> None:
    batch = make_batch(game, 3)
    worlds = sample_worlds(game, batch.views, keys_for(batch.views), 5)
    assert weigh(game, worlds, batch.views, Uniform(batch.game)) == pytest.approx(0.2)


def test_resampling_is_in_proportion() -> None:
    batch = make_batch("viersche", 300)
    worlds = sample_worlds("viersche", batch.views, keys_for(batch.views), 4)
    weights = np.tile([0.5, 0.0, 0.3, 0.2], (300, 1))
    drawn = resample(worlds, weights, keys_for(worlds, 1), 5)
    assert drawn.shape == (300, 5)
    shares = [(drawn["seed"] == worlds["seed"][:, [place]]).mean() for place in range(4)]
    assert shares == pytest.approx([0.5, 0.0, 0.3, 0.2], abs=0.02)
    assert same_records(drawn, resample(worlds, weights * 7, keys_for(worlds, 1), 5))


# ------------------------------------------------------------------------------------------- comparison


def shown_voids(played: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """(seat, suit led) of every card that did not follow, from (seat, suit) of the cards in order."""
    leads = [played[place - place % 4][1] for place in range(len(played))]
    return {(seat, led) for (seat, suit), led in zip(played, leads, strict=True) if suit != led}


def openspiel_share(deals: int, worlds: int, rng: random.Random) -> float:
    """Share of the worlds of OpenSpiel's sampler, from the fourth trick on, in which a seat holds a suit it has
    shown not to hold."""
    wrong = drawn = 0
    for _ in range(deals):
        state = pyspiel.load_game("hearts", {"pass_cards": False}).new_initial_state()
        played: list[tuple[int, int]] = []
        while state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))
        while not state.is_terminal():
            if len(played) >= 12 and len(played) % 9 == 0:
                for _ in range(worlds):
                    drawn += 1
                    world = state.resample_from_infostate(state.current_player(), rng.random)
                    wrong += any(_holds(world, *shown) for shown in shown_voids(played))
            seat, card = state.current_player(), rng.choice(state.legal_actions())
            played.append((seat, card % 4))
            state.apply_action(card)
    return wrong / drawn


def _holds(world: Any, seat: int, suit: int) -> bool:
    """Whether a seat has cards of a suit left: then it plays them sooner or later."""
    rest = world.clone()
    while not rest.is_terminal():
        card = rest.legal_actions()[0]
        if rest.current_player() == seat and card % 4 == suit:
            return True
        rest.apply_action(card)
    return False


def own_share(deals: int, worlds: int) -> float:
    """The same share of our worlds."""
    batch, rng = make_batch("herzeln", deals, episode="deal"), np.random.default_rng(0)
    wrong = drawn = 0
    for step in positions(batch, rng, 52):
        if step >= 12 and step % 9 == 0:
            found = sample_worlds("herzeln", batch.views, keys_for(batch.views), worlds)
            suits = np.int64((1 << RANKS) - 1) << RANKS * np.arange(4)
            shown = batch.states["voids"][:, None, :, None] >> np.arange(4) & 1
            wrong += ((found["hands"][..., None] & suits != 0) & (shown != 0)).any(axis=(2, 3)).sum()
            drawn += found.size
    return float(wrong / drawn)


def test_openspiel_draws_worlds_that_contradict_voids() -> None:
    theirs, ours = openspiel_share(many(6, 100), 3, random.Random(0)), own_share(100, 3)
    print(f"worlds that contradict a void: OpenSpiel {theirs:.0%}, here {ours:.0%}")
    assert ours == 0.0
    assert theirs > 0.2


@every_game
def test_the_benchmark_draws_worlds(game: str) -> None:
    assert drawing(game, make_batch(game, 5).views, 7)() == 35
