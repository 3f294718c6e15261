// The table of a game as elements: seats, trick, own hand, scores. Shows what the server has sent and knows no rules.

import { cardSvg, chip, spoken, symbolOf } from "./cards.js";
import { el } from "./dom.js";
import { seatName, t } from "./texts.js";

const PLACES = { 2: ["bottom", "top"], 3: ["bottom", "left", "right"], 4: ["bottom", "left", "top", "right"] };
const MIRRORED = { left: "right", right: "left" };

// Where a seat sits: the next one at the left, in Viersche (anticlockwise) at the right.
function placeOf(game, seats, bottom, seat) {
  const place = PLACES[seats.length][(seat - bottom + seats.length) % seats.length];
  return game === "viersche" ? (MIRRORED[place] ?? place) : place;
}

// shown: {game, seats, bottom, table, legal, onPlay}; `under` stands below the board.
export function drawTable(shown, under) {
  const { game, seats, table } = shown;
  const bottom = shown.bottom ?? 0;
  const felt = el("div", { class: `felt n${seats.length}` });
  seats.forEach((_, seat) => felt.append(drawSeat(shown, seat, placeOf(game, seats, bottom, seat))));
  felt.append(drawTrick(shown, bottom));
  const board = el("div", { class: "board" }, felt, drawHand(shown, bottom));
  return el("div", { class: "play" }, el("div", { class: "left-side" }, board, under), el("aside", { class: "panel" }, game === "herzeln" ? herzeln(shown) : viersche(shown)));
}

function drawSeat(shown, seat, place) {
  const { table, seats } = shown;
  const name = seatName(seats, seat);
  const label = el("div", { class: "label" });
  if (table.leader === seat) label.append(el("span", { class: "lead", title: t("leads") }, "▶"));
  label.append(el("span", { class: "name", title: name }, name));
  if (table.dealer === seat) label.append(el("span", { class: "dealer", title: t("dealer") }, t("dealer_letter")));
  if (table.tricks[seat]) label.append(el("span", { class: "tricks", title: t("tricks", { n: table.tricks[seat] }) }, `▤ ${table.tricks[seat]}`));
  const box = el("div", { class: `seat ${place}`, "data-seat": seat, "aria-current": table.seat === seat ? "true" : null }, label);
  if (place !== "bottom") box.append(others(shown, seat));
  return box;
}

// The hand of another seat: small open cards, or so many backs.
function others(shown, seat) {
  const { table } = shown;
  const cards = table.hands[seat];
  if (cards) return el("div", { class: "chips" }, cards.map((card) => chip(card)));
  if (!table.counts[seat]) return el("div", {});
  const backs = Array.from({ length: table.counts[seat] }, () => el("i", { class: "mini" }));
  return el("div", { class: "backs", title: t("cards_left", { n: table.counts[seat] }) }, backs, el("b", {}, String(table.counts[seat])));
}

function drawTrick(shown, bottom) {
  const { game, seats, table } = shown;
  const box = el("div", { class: "trick" });
  for (const { seat, card } of table.trick.cards) {
    const place = placeOf(game, seats, bottom, seat);
    const wins = table.trick.winner === seat ? " wins" : "";
    box.append(el("div", { class: `laid ${place}${wins}`, role: "img", "aria-label": `${seatName(seats, seat)}: ${spoken(card)}` }, cardSvg(card)));
  }
  if (table.trick.complete) {
    const taker = table.trick.winner;
    box.append(el("p", { class: "caption" }, seats[taker] === "you" ? t("you_take") : t("takes", { name: seatName(seats, taker) })));
  }
  return box;
}

function drawHand(shown, bottom) {
  const { table, legal, onPlay } = shown;
  const cards = table.hands[bottom] ?? [];
  const fresh = table.received && table.trick_number === 0 && !table.trick.cards.length ? table.received[bottom] : [];
  const hand = el("div", { class: "hand", role: "group", "aria-label": t("your_hand") });
  for (const card of cards) {
    const playable = onPlay && legal.includes(card);
    const look = `card${playable ? "" : onPlay && legal.length ? " illegal" : ""}${fresh.includes(card) ? " fresh" : ""}`;
    const attributes = { class: look, "data-card": card, "aria-label": spoken(card) };
    if (playable) hand.append(el("button", { ...attributes, type: "button", onclick: () => onPlay(card) }, cardSvg(card)));
    else hand.append(el("div", { ...attributes, role: "img" }, cardSvg(card)));
  }
  return el("div", { class: "holding" }, hand);
}

// -------------------------------------------------------------------------------------------- scores

function herzeln({ seats, table }) {
  const rows = seats.map((_, seat) =>
    el("tr", {},
      el("th", { scope: "row" }, seatName(seats, seat)),
      el("td", {}, String(table.points[seat])),
      el("td", {}, String(table.totals[seat])),
      el("td", { class: "taken" }, table.taken[seat].map((card) => chip(card)))));
  return [
    el("p", { class: "where" }, where(table), " · ", el("span", { class: table.broken ? "red" : "pale" }, `♥ ${t(table.broken ? "broken" : "unbroken")}`)),
    el("table", { class: "scores" },
      el("thead", {}, el("tr", {}, el("th", {}), el("th", {}, t("this_deal")), el("th", {}, t("total")), el("th", {}, t("taken")))),
      el("tbody", {}, rows)),
  ];
}

const where = (table) =>
  table.phase === "pass" ? t("where_pass", { deal: table.deal + 1 }) : t("where", { deal: table.deal + 1, trick: Math.min(table.trick_number + (table.phase === "play" ? 1 : 0), 99) });

function viersche({ seats, table }) {
  const turned = table.turn_up ? [" · ", t("turned_up"), " ", chip(table.turn_up)] : [];
  const trump = el("p", { class: "trump" }, t("trumps"), " ", el("b", { class: "DH".includes(table.trump) ? "red" : "" }, symbolOf(table.trump)), ...turned);
  const sides = [0, 1].map((side) =>
    el("div", { class: "side" },
      el("p", { class: "pair" }, seatName(seats, side), el("br"), seatName(seats, side + 2)),
      ladder(table.rungs[side], table.ladder),
      el("p", { class: "small" }, t("points")),
      el("p", { class: "points", "data-side": side }, String(table.points[side])),
      el("p", { class: "small" }, table.carried[side] + table.carried[1 - side] ? t("carried", { n: table.carried[side] }) : " "),
      el("p", { class: "small" }, t("marks")),
      el("p", { class: "marks", title: `${table.marks[side]} / ${table.session_marks}` }, marks(table.marks[side], table.session_marks))));
  return [el("p", { class: "where" }, where(table)), trump, el("div", { class: "slate" }, sides)];
}

const marks = (count, most) => (most > 8 ? `${count} / ${most}` : "●".repeat(count) + "○".repeat(Math.max(0, most - count)));

function ladder(left, rungs) {
  const all = Array.from({ length: rungs }, (_, rung) => el("i", { class: rung < rungs - left ? "gone" : "" }));
  return el("div", { class: "ladder", role: "img", "aria-label": t("rungs", { left, rungs }) }, all);
}
