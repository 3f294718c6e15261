// A deal that is over, card by card with all hands open, with the solver's verdict and what agents think.

import { adviceBox } from "./advice.js";
import { get } from "./api.js";
import { chip, short } from "./cards.js";
import { el, recall } from "./dom.js";
import { drawTable } from "./draw.js";
import { seatName, t } from "./texts.js";

// The cards of a deal in rows of tricks; `verdict` may still be missing.
export function dealTable(deal, verdict, now, pick) {
  const { frames, cards, seats } = deal;
  const tricks = new Map();
  cards.forEach((card, place) => {
    const frame = frames[place];
    const row = frame.phase === "pass" ? -1 : frame.trick_number;
    if (!tricks.has(row)) tricks.set(row, seats.map(() => []));
    tricks.get(row)[frame.seat].push(place);
  });
  const cell = (place, seat) => {
    const judged = verdict?.cards[place];
    const winner = winnerOf(frames, place);
    const lost = judged && judged.lost > 0.005 ? el("span", { class: "lost", title: t("lost_points", { n: judged.lost, best: judged.best.map(short).join(" ") }) }, ` −${plain(judged.lost)}`) : null;
    const look = `${place === now ? "now " : ""}${winner === seat ? "wins" : ""}`;
    return el("button", { type: "button", class: look, onclick: () => pick(place) }, frames[place].leader === seat && frames[place].phase !== "pass" ? "▸" : "", chip(cards[place]), lost);
  };
  const rows = [...tricks].map(([trick, bySeat]) =>
    el("tr", {}, el("th", { scope: "row" }, trick < 0 ? t("passes") : String(trick + 1)), bySeat.map((places, seat) => el("td", {}, places.map((place) => cell(place, seat))))));
  return el("div", { class: "deal-table" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, t("trick")), seats.map((_, seat) => el("th", {}, seatName(seats, seat))))), el("tbody", {}, rows)));
}

const plain = (number) => String(Math.round(number * 100) / 100);

// Who took the trick that a card was played to, where it was completed.
function winnerOf(frames, place) {
  const trick = frames[place].trick_number;
  if (frames[place].phase === "pass") return null;
  const after = frames.slice(place + 1).find((frame) => frame.trick.complete && frame.trick_number === trick + 1);
  return after?.trick.winner ?? null;
}

export function verdictBox(deal, verdict, now, pick) {
  const box = el("section", { class: "card-box verdict" }, el("h2", {}, t("verdict")));
  if (verdict === null) box.append(el("p", { class: "small", role: "status" }, t("judging")));
  else box.append(...summary(deal, verdict));
  box.append(dealTable(deal, verdict, now, pick));
  return box;
}

function summary(deal, verdict) {
  const judged = verdict.cards.filter((card) => card !== null);
  const all = deal.frames.filter((frame, place) => place < deal.cards.length && frame.phase !== "pass").length;
  const lines = [el("p", { class: "small" }, t(`verdict_hint_${deal.game}`), " ", t("judged", { n: judged.length, all }))];
  for (const { seat, first, last } of verdict.moons) lines.push(el("p", {}, t(deal.seats[seat] === "you" ? "could_moon_you" : "could_moon", { name: seatName(deal.seats, seat), first: first + 1, last: last + 1 })));
  const sums = deal.seats.map((_, seat) => verdict.cards.reduce((sum, card, place) => sum + (card && deal.frames[place].seat === seat ? card.lost : 0), 0));
  if (judged.length && Math.max(...sums) < 0.005) lines.push(el("p", {}, t("no_loss")));
  else if (judged.length) lines.push(el("p", { class: "sums" }, sums.map((sum, seat) => `${seatName(deal.seats, seat)} −${plain(sum)}`).join(" · ")));
  return lines;
}

// The whole view. `path` is the deal's address at the server, `explain` that of the question about a move.
export async function review(main, { path, explain, head, hash, alive, fail }) {
  let deal;
  try {
    deal = await get(path);
  } catch (error) {
    fail(error);
    return () => {};
  }
  let place = Math.min(Number(new URLSearchParams(location.hash.split("?")[1] ?? "").get("card") ?? 0), deal.cards.length);
  let verdict = null;
  const advice = adviceBox(deal.game, () => (place < deal.cards.length ? explain(place, deal.first) : null), recall("advice", true));
  const go = (to) => {
    place = Math.max(0, Math.min(deal.cards.length, to));
    history.replaceState(null, "", `${hash(deal)}?card=${place}`);
    show();
    advice.update();
  };
  const button = (text, to, off) => el("button", { type: "button", disabled: off, "data-go": text, onclick: () => go(to()) }, t(text));
  const human = deal.seats.indexOf("you");
  function show() {
    const frame = deal.frames[place];
    const judged = verdict?.cards[place];
    const card = place < deal.cards.length ? deal.cards[place] : null;
    const focus = document.activeElement?.dataset?.go;
    const says = el("p", { class: "status", role: "status" });
    if (card) {
      says.append(`${t("this_card", { n: place + 1, all: deal.cards.length })}: ${seatName(deal.seats, frame.seat)} `, chip(card));
      if (judged?.lost > 0.005) says.append(" ", el("span", { class: "lost" }, t("lost_points", { n: plain(judged.lost), best: judged.best.map(short).join(" ") })));
    } else says.append(`${t("deal_over", { deal: frame.deal + 1 })} ${deal.points.map((points, seat) => `${seatName(deal.seats, seat)} ${points}`).join(" · ")}`);
    main.replaceChildren(
      el("div", { class: "bar" }, head(deal)),
      drawTable({ game: deal.game, seats: deal.seats, bottom: Math.max(0, human), table: frame, legal: [] }, [says, steps(card === null)]),
      el("div", { class: "below" }, advice.box, verdictBox(deal, verdict, place, go)));
    if (focus) main.querySelector(`[data-go="${focus}"]`)?.focus();
  }
  const steps = (last) =>
    el("div", { class: "bar" }, button("first", () => 0, place === 0), button("previous", () => place - 1, place === 0), button("following", () => place + 1, last), button("end", () => deal.cards.length, last));
  show();
  advice.update();
  get(`${path}/verdict`).then((found) => {
    verdict = found;
    if (alive()) show();
  }).catch(fail);
  const keys = (event) => {
    if (event.target.matches?.("select, input")) return;
    if (event.key === "ArrowRight") go(place + 1);
    else if (event.key === "ArrowLeft") go(place - 1);
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  return () => document.removeEventListener("keydown", keys);
}
