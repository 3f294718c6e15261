// The entrance: a new game, one's own games, records to step through.

import { about, post } from "./api.js";
import { el, recall, remember } from "./dom.js";
import { seatName, t } from "./texts.js";

export async function lobby(main, { fail }) {
  let known;
  try {
    known = await about();
  } catch (error) {
    fail(error, () => location.reload());
    return;
  }
  const chosen = recall("chosen", { game: "herzeln" });
  main.replaceChildren(el("h1", {}, t("title")), el("div", { class: "lobby" }, newGame(known, chosen, fail), el("div", {}, ownGames(), records(known, fail))));
}

const choose = (name, values, value, onchange) =>
  el("select", { name, onchange }, values.map(([key, text]) => el("option", { value: key, selected: String(key) === String(value) }, text)));

function newGame(known, chosen, fail) {
  const form = el("form", { class: "card-box" });
  const names = el("datalist", { id: "agents" });
  const state = { players: 4, episode: "game", options: "", seats: {}, ...chosen };
  const set = (name) => (event) => {
    state[name] = event.target.value;
    if (name === "game") Object.assign(state, { preset: null, episode: "game", seats: {} });
    fill();
  };
  function fill() {
    const game = known.games[state.game];
    if (!game.players.includes(Number(state.players))) state.players = game.players[game.players.length - 1];
    if (!game.presets.includes(state.preset)) [state.preset] = game.presets;
    if (!game.episodes.includes(state.episode)) state.episode = "game";
    names.replaceChildren(...game.agents.map((agent) => el("option", { value: agent })));
    const seats = Array.from({ length: Number(state.players) }, (_, seat) => seatRow(state, game, seat));
    const rows = [
      el("h2", {}, t("new_game")),
      el("label", {}, t("game"), choose("game", Object.keys(known.games).map((name) => [name, t(name)]), state.game, set("game"))),
      game.players.length > 1 ? el("label", {}, t("players"), choose("players", game.players.map((n) => [n, String(n)]), state.players, set("players"))) : null,
      game.presets.length > 1 ? el("label", {}, t("preset"), choose("preset", game.presets.map((name) => [name, name]), state.preset, set("preset"))) : null,
      el("label", {}, t("length"), choose("episode", game.episodes.map((name) => [name, t(`episode_${name}`)]), state.episode, set("episode"))),
      ...seats, names,
      el("label", {}, t("options"), el("input", { name: "options", value: state.options, placeholder: t("options_hint"), oninput: (event) => { state.options = event.target.value; } })),
      el("button", { class: "main start" }, t("start")),
    ];
    form.replaceChildren(...rows.filter((row) => row !== null));
  }
  function seatRow(into, game, seat) {
    const partner = into.game === "viersche" && seat === 2;
    const text = seat === 0 ? t("seat_you") : partner ? t("seat_partner") : t(seat === 1 ? "seat_left" : "seat", { n: seat + 1 });
    const value = into.seats[seat] ?? (seat === 0 ? known.you : "rules");
    into.seats[seat] = value;
    const agents = game.agents.map((agent) => [agent, agent]);
    const all = seat === 0 ? [[known.you, t("you_play")], ...agents] : agents;
    const change = (event) => { into.seats[seat] = event.target.value || into.seats[seat]; };
    const empty = ({ target }) => { target.placeholder = target.value; target.value = ""; };  // a list shows only what fits the text
    const refill = ({ target }) => { target.value ||= into.seats[seat]; };
    const field = known.open_names && seat > 0
      ? el("input", { name: `seat${seat}`, list: "agents", value, onchange: change, oninput: change, onfocus: empty, onblur: refill })
      : choose(`seat${seat}`, all, value, change);
    return el("label", {}, text, field);
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const seats = Array.from({ length: Number(state.players) }, (_, seat) => state.seats[seat].trim());
    remember("chosen", state);
    const button = form.querySelector(".start");
    button.disabled = true;
    try {
      const { game, preset, episode, options } = state;
      const made = await post("/api/tables", { game, preset, episode, players: Number(state.players), seats, options });
      location.hash = `#/game/${made.id}`;
    } catch (error) {
      button.disabled = false;
      fail(error);
    }
  });
  fill();
  return form;
}

function ownGames() {
  const box = el("section", { class: "card-box" }, el("h2", {}, t("your_games")));
  const games = recall("games", []);
  if (!games.length) box.append(el("p", { class: "small" }, t("no_games")));
  box.append(el("ul", { class: "games" }, games.slice(0, 12).map(({ id, game, seats, over, deals }) =>
    el("li", {}, el("a", { href: over ? `#/game/${id}/deal/0` : `#/game/${id}` }, over ? t("look_at", { deal: 1 }) : t("continue")), ` ${t(game)}: ${seats.map((_, seat) => seatName(seats, seat)).join(", ")}`, deals > 1 && over ? ` (${deals})` : ""))));
  return box;
}

function records(known, fail) {
  const list = el("ul", { class: "games" }, known.replays.map(({ id, name, games }) => el("li", {}, el("a", { href: `#/replay/${id}/0/0` }, name), ` (${games})`)));
  const file = el("input", { type: "file", accept: ".json,.jsonl", "aria-label": t("open_file"), onchange: async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const found = await post("/api/replays", { name: chosen.name, text: await chosen.text() });
      location.hash = `#/replay/${found.id}/0/0`;
    } catch (error) {
      fail(error);
    }
  } });
  return el("section", { class: "card-box records" }, el("h2", {}, t("records")), el("p", { class: "small" }, t("records_hint")), list, file);
}

