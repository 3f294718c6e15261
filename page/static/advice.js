// What an agent says of a decision: probabilities, values, distribution of points, moon; whatever is there.

import { chip, spoken } from "./cards.js";
import { about, get } from "./api.js";
import { el, recall, remember } from "./dom.js";
import { t } from "./texts.js";

// A box that asks on demand, the agent at that seat unless another is chosen. `where` gives the path of the question.
export function adviceBox(game, where, open) {
  const answer = el("div", { class: "answer", "aria-live": "polite" });
  const choose = el("select", { "aria-label": t("advice") });
  const box = el("details", { class: "card-box advice", open }, el("summary", {}, t("advice")), choose, answer);
  let asked = 0;
  const update = async () => {
    const path = where();
    if (!box.open || !path) return;
    asked += 1;
    const mine = asked;
    answer.replaceChildren(el("p", { class: "small" }, t("asking")));
    try {
      const found = await get(`${path}&agent=${encodeURIComponent(choose.value)}`);
      if (mine === asked) answer.replaceChildren(...explanation(found));
    } catch (error) {
      if (mine === asked) answer.replaceChildren(el("p", { class: "small" }, error.message));
    }
  };
  about().then((known) => {
    const chosen = recall(`adviser.${game}`, "");
    const names = new Set([chosen, ...known.games[game].agents].filter(Boolean));
    choose.append(el("option", { value: "" }, t("own_agent")), ...[...names].map((name) => el("option", { value: name }, name)));
    choose.value = chosen;
    update();
  });
  choose.addEventListener("change", () => {
    remember(`adviser.${game}`, choose.value);
    update();
  });
  box.addEventListener("toggle", () => {
    remember("advice", box.open);
    update();
  });
  return { box, update };
}

function explanation(found) {
  if (found.failure) return [el("p", {}, t("no_answer", { name: found.agent, reason: found.failure }))];
  const parts = [el("p", {}, `${found.agent} `, t("would_play", { card: "" }), chip(found.card))];
  if (found.probabilities) parts.push(...bars(found.probabilities, t("probability"), found.card, (p) => `${(100 * p).toFixed(1)} %`, 0, 1));
  if (found.values) {
    const numbers = Object.values(found.values);
    parts.push(...bars(found.values, t("values"), found.card, (v) => v.toFixed(2), Math.min(...numbers), Math.max(...numbers)));
  }
  if (found.value !== undefined) parts.push(el("p", {}, t("value", { n: found.value.toFixed(2) })));
  if (found.moon !== undefined) parts.push(el("p", {}, t("moon", { n: (100 * found.moon).toFixed(1) })));
  if (found.points) parts.push(...histogram(found.points));
  return parts;
}

function bars(byCard, title, chosen, words, low, high) {
  const rows = Object.entries(byCard).sort((a, b) => b[1] - a[1]).map(([card, number]) => {
    const width = high > low ? (100 * (number - low)) / (high - low) : 100;
    return el("div", { class: `row${card === chosen ? " chosen" : ""}`, "aria-label": `${spoken(card)} ${words(number)}` },
      chip(card), el("div", { class: "track" }, el("div", { class: "fill", css: { width: `${Math.max(1, width)}%` } })), el("span", {}, words(number)));
  });
  return [el("p", { class: "small" }, title), ...rows];
}

function histogram(points) {
  const most = Math.max(...points.map(([, chance]) => chance), 1e-9);
  const columns = points.map(([value, chance]) => el("i", { title: `${value}: ${(100 * chance).toFixed(1)} %`, css: { height: `${(100 * chance) / most}%` } }));
  return [
    el("p", { class: "small" }, t("distribution")),
    el("div", { class: "histogram" }, columns),
    el("p", { class: "small" }, `${points[0][0]} … ${points[points.length - 1][0]}`),
  ];
}
