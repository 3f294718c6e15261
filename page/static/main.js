// Where the page begins: the language, the rules, and which view an address shows.

import { about } from "./api.js";
import { useShapes } from "./cards.js";
import { el, recall, remember } from "./dom.js";
import { lobby } from "./lobby.js";
import { review } from "./review.js";
import { playTable } from "./table.js";
import { RULES, currentLanguage, setLanguage, t } from "./texts.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
let leave = () => {};
let turn = 0;

function fine() {
  banner.hidden = true;
}

// One message; where something can be tried again, with a button.
function fail(error, again) {
  const text = error.lost ? t("lost") : error.status === 404 ? t("unknown_game") : error.message;
  const parts = [el("span", {}, text)];
  if (error.status === 404) parts.push(el("a", { href: "#/" }, t("home")));
  else if (again) parts.push(el("button", { type: "button", onclick: again }, t("again")));
  banner.replaceChildren(...parts);
  banner.hidden = false;
}

// The games of this browser, the latest first.
function keep({ id, game, seats, over, deals }) {
  const others = recall("games", []).filter((known) => known.id !== id);
  remember("games", [{ id, game, seats, over, deals }, ...others].slice(0, 40));
}

async function route() {
  leave();
  leave = () => {};
  turn += 1;
  const mine = turn;
  const alive = () => mine === turn;
  fine();
  try {
    useShapes(await about());
  } catch (error) {
    fail(error, route);
    return;
  }
  if (!alive()) return;
  const [view, ...words] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
  const tools = { alive, fail: (error, again) => alive() && fail(error, again), fine, keep };
  const found = await show(view, words, tools);
  if (alive()) leave = found ?? leave;
  else found?.();
}

function show(view, words, tools) {
  if (view === "game" && words[1] === "deal") return gameReview(words[0], Number(words[2]), tools);
  if (view === "game") return playTable(main, words[0], tools);
  if (view === "replay") return recordReview(words[0], Number(words[1]), Number(words[2]), tools);
  return lobby(main, tools);
}

function deals(deal, number, hash) {
  if (deal.deals < 2) return null;
  return el("select", { "aria-label": t("deal_n", { n: "" }), onchange: (event) => { location.hash = hash(event.target.value); } },
    Array.from({ length: deal.deals }, (_, n) => el("option", { value: n, selected: n === number }, t("deal_n", { n: n + 1 }))));
}

function gameReview(id, number, tools) {
  const path = `/api/tables/${id}/deals/${number}`;
  return review(main, {
    ...tools,
    path,
    explain: (place, first) => `/api/tables/${id}/explain?move=${first + place}`,
    hash: () => `#/game/${id}/deal/${number}`,
    head: (deal) => [el("a", { href: `#/game/${id}` }, t("back")), deals(deal, number, (n) => `#/game/${id}/deal/${n}`)],
  });
}

function recordReview(id, game, number, tools) {
  const path = `/api/replays/${id}/${game}/${number}`;
  const jump = (event) => { location.hash = `#/replay/${id}/${Math.max(0, Number(event.target.value) - 1)}/0`; };
  return review(main, {
    ...tools,
    path,
    explain: (place) => `${path}/explain?move=${place}`,
    hash: () => `#/replay/${id}/${game}/${number}`,
    head: (deal) => [
      el("a", { href: "#/" }, t("home")),
      el("label", { class: "small" }, `${t("game")} `, el("input", { type: "number", min: 1, max: deal.games, value: game + 1, onchange: jump }), ` / ${deal.games}`),
      deals(deal, number, (n) => `#/replay/${id}/${game}/${n}`),
    ],
  });
}

function language() {
  const chosen = document.getElementById("language");
  chosen.value = currentLanguage();
  chosen.addEventListener("change", () => {
    setLanguage(chosen.value);
    words();
    route();
  });
}

function words() {
  document.documentElement.lang = currentLanguage();
  document.title = t("title");
  document.getElementById("rules-button").textContent = t("rules");
  document.getElementById("rules-close").textContent = t("close");
  const parts = Object.entries(RULES).map(([game, texts]) => [el("h2", {}, t(game)), ...texts[currentLanguage()].map((text) => el("p", {}, text))]);
  document.getElementById("rules-text").replaceChildren(...parts.flat());
}

document.getElementById("rules-button").addEventListener("click", () => document.getElementById("rules").showModal());
window.addEventListener("hashchange", route);
language();
words();
route();
