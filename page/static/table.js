// A game in progress: draws what the server shows, plays the person's cards, asks for the agents' ones.

import { adviceBox } from "./advice.js";
import { get, post } from "./api.js";
import { el, recall, remember } from "./dom.js";
import { drawTable } from "./draw.js";
import { verdictBox } from "./review.js";
import { seatName, t } from "./texts.js";

const PACES = { slow: 1400, normal: 650, fast: 60 };

export async function playTable(main, id, { alive, fail, fine, keep }) {
  let shown = null;
  let busy = false;
  let paused = false;
  let seen = recall(`seen.${id}`, -1); // the last deal whose result has been looked at
  let timer = null;
  let ended = null; // {deal, verdict} of the deal that is over
  let advice = null;
  const address = `/api/tables/${id}`;

  const resting = () => shown.last && shown.last.end === shown.move && shown.last.deal > seen;
  const agentsTurn = () => !shown.over && shown.table.seat !== shown.human;

  async function act(path, body) {
    if (busy || !alive()) return;
    busy = true;
    clearTimeout(timer);
    try {
      shown = await post(`${address}/${path}`, body);
      fine();
    } catch (error) {
      fail(error, () => open());
      return;
    } finally {
      busy = false;
    }
    if (alive()) refresh();
  }

  const play = (card) => act("play", { move: shown.move, card });
  const next = () => act("next", { move: shown.move });

  // Draw, then see to it that the game goes on.
  function refresh() {
    keep(shown);
    draw();
    if (!alive() || shown.failure || resting() || !agentsTurn() || paused) return;
    const pace = PACES[recall("pace", "normal")] ?? PACES.normal;
    timer = setTimeout(next, shown.table.trick.complete ? 1.6 * pace : pace);
  }

  function draw() {
    const focused = document.activeElement?.dataset?.card;
    const atHand = focused !== undefined;
    const rest = resting() || shown.over;
    const table = rest ? shown.last.table : shown.table;
    const mine = !rest && !shown.failure && shown.legal.length > 0;
    advice = mine || shown.human === null ? adviceFor() : null;
    const under = [el("p", { class: "status", role: "status" }, status(rest))];
    if (shown.failure) under.push(failure());
    if (rest) under.push(result());
    under.push(controls(rest));
    const drawn = drawTable({ game: shown.game, seats: shown.seats, bottom: shown.human ?? 0, table, legal: shown.legal, onPlay: mine ? play : null }, under);
    main.replaceChildren(drawn, el("div", { class: "below" }, advice && !rest ? advice.box : null, rest ? verdict() : null));
    advice?.update();
    if (rest) main.querySelector("button.main")?.focus({ preventScroll: true });
    else if (mine && atHand) main.querySelector("button.card")?.focus({ preventScroll: true });
  }

  function adviceFor() {
    return adviceBox(shown.game, () => (shown.over ? null : `${address}/explain?move=${shown.move}`), recall("advice", shown.human === null));
  }

  function status(rest) {
    if (shown.over) return `${t("game_over")} ${outcome()}`;
    if (rest) return t("deal_over", { deal: shown.last.deal + 1 });
    if (shown.failure) return "";
    const { table, human, seats } = shown;
    if (table.seat !== human) return t("thinking", { name: seatName(seats, table.seat) });
    if (table.phase !== "pass") return t("your_turn");
    const receiver = (human + table.direction) % seats.length;
    return t("your_pass", { name: seatName(seats, receiver), n: table.passed[human].length + 1 });
  }

  function outcome() {
    const best = shown.higher_is_better ? Math.max(...shown.score) : Math.min(...shown.score);
    const winners = shown.seats.map((_, seat) => seat).filter((seat) => shown.score[seat] === best);
    if (winners.includes(shown.human)) return t("you_won");
    const by = t("won_by", { names: winners.map((seat) => seatName(shown.seats, seat)).join(", ") });
    return shown.human === null ? by : `${t("you_lost")} ${by}`;
  }

  function result() {
    const { last, seats } = shown;
    const lines = [`${t("deal_points")} ${seats.map((_, seat) => `${seatName(seats, seat)} ${last.points[seat]}`).join(" · ")}`];
    if (last.table.moon !== null && last.table.moon !== undefined) lines.push(t("shot_moon", { name: seatName(seats, last.table.moon) }));
    return el("p", { class: "result" }, lines.join(" — "));
  }

  function failure() {
    const { agent, reason } = shown.failure;
    return el("div", { class: "notice failure", role: "alert" }, t("failed", { name: agent, reason }),
      el("button", { type: "button", onclick: next }, t("again")),
      el("button", { type: "button", onclick: () => act("replace", { agent: "rules" }) }, t("replace", { name: "rules" })));
  }

  function controls(rest) {
    const bar = el("div", { class: "bar" });
    if (rest && !shown.over) {
      bar.append(el("button", { type: "button", class: "main", onclick: () => {
        seen = shown.last.deal;
        remember(`seen.${id}`, seen);
        refresh();
      } }, t("next_deal")));
    }
    if (shown.over) bar.append(el("a", { href: "#/" }, el("button", { type: "button", class: "main" }, t("new_game"))));
    if (rest) bar.append(el("a", { href: `#/game/${id}/deal/${shown.last.deal}` }, t("look_at", { deal: shown.last.deal + 1 })));
    if (shown.over || shown.human === null) bar.append(el("a", { href: `${address}/record`, download: true }, t("save_record")));
    if (shown.human === null && !shown.over) {
      bar.append(el("button", { type: "button", onclick: () => {
        paused = !paused;
        clearTimeout(timer);
        refresh();
      } }, t(paused ? "go_on" : "pause")));
      bar.append(el("button", { type: "button", disabled: !paused || rest, onclick: next }, t("one_card")));
    }
    const pace = el("select", { "aria-label": t("speed"), onchange: (event) => remember("pace", event.target.value) },
      Object.keys(PACES).map((name) => el("option", { value: name, selected: recall("pace", "normal") === name }, t(`speed_${name}`))));
    bar.append(el("label", { class: "small" }, `${t("speed")} `, pace));
    return bar;
  }

  // The verdict on the deal that is over; asked for once.
  function verdict() {
    const number = shown.last.deal;
    if (ended?.number !== number) {
      ended = { number, deal: null, verdict: null };
      const mine = ended;
      get(`${address}/deals/${number}`).then(async (deal) => {
        mine.deal = deal;
        if (alive() && mine === ended && (resting() || shown.over)) draw();
        mine.verdict = await get(`${address}/deals/${number}/verdict`);
        if (alive() && mine === ended && (resting() || shown.over)) draw();
      }).catch((error) => fail(error));
    }
    if (!ended.deal) return null;
    return verdictBox(ended.deal, ended.verdict, null, (place) => {
      location.hash = `#/game/${id}/deal/${number}?card=${place}`;
    });
  }

  async function open() {
    if (busy) return;
    busy = true;
    try {
      shown = await get(address);
      fine();
    } catch (error) {
      fail(error, () => open());
      return;
    } finally {
      busy = false;
    }
    if (alive()) refresh();
  }

  // Arrow keys walk over the legal cards, Enter plays (the cards are buttons).
  const keys = (event) => {
    if (event.target.matches?.("select, input") || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const cards = [...main.querySelectorAll("button.card")];
    if (!cards.length) return;
    const at = cards.indexOf(document.activeElement);
    const step = event.key === "ArrowRight" ? 1 : -1;
    cards[at < 0 ? (step > 0 ? 0 : cards.length - 1) : (at + step + cards.length) % cards.length].focus();
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  await open();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("keydown", keys);
  };
}
