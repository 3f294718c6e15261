// Cards as SVG, drawn from the shapes of the suits that the server shares with the pictures (envs/suits.py).

import { el, svg } from "./dom.js";
import { t } from "./texts.js";

const SUITS = "CDHS";
const SYMBOLS = "♣♦♥♠";
let shapes = { suits: [], crown: "" };

export const useShapes = (about) => {
  shapes = about;
};

export const isRed = (card) => card[0] === "D" || card[0] === "H";
export const symbolOf = (suit) => SYMBOLS[SUITS.indexOf(suit)];
export const short = (card) => (card in HIDDEN ? HIDDEN[card] : symbolOf(card[0]) + card.slice(1));
const HIDDEN = { "??": "?", "--": "" };

export function spoken(card) {
  if (card in HIDDEN) return t("face_down");
  const rank = t(`rank_${card.slice(1)}`);
  return t("card_name", { suit: t(`suit_${card[0]}`), rank: rank.startsWith("rank_") ? card.slice(1) : rank });
}

function shape(path, x, y, size, fill) {
  return svg("path", { d: path, fill, transform: `translate(${x - size / 2} ${y - size / 2}) scale(${size / 100})` });
}

function letters(text, x, y, size, fill) {
  const made = svg("text", { x, y, "font-size": size, fill, "text-anchor": "middle", "font-weight": 700 });
  if (text.length > 1) { // in wide fonts a ten would reach beyond the card
    made.setAttribute("textLength", size);
    made.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  made.textContent = text;
  return made;
}

export function cardSvg(card) {
  const box = svg("svg", { viewBox: "0 0 100 145", class: "face", "aria-hidden": "true", focusable: "false" });
  box.append(svg("rect", { x: 1, y: 1, width: 98, height: 143, rx: 9, fill: "#fdfdfa", stroke: "#96948c", "stroke-width": 2 }));
  if (card === "??") return back(box);
  const suit = SUITS.indexOf(card[0]);
  const rank = card.slice(1);
  const color = isRed(card) ? "#c21e2a" : "#1c1c1e";
  box.append(letters(rank, rank === "10" ? 25 : 21, 40, rank === "10" ? 38 : 42, color), shape(shapes.suits[suit], 21, 61, 27, color));
  if ("JQK".includes(rank)) {
    box.append(svg("rect", { x: 40, y: 58, width: 50, height: 77, rx: 6, fill: isRed(card) ? "#fae8e4" : "#e4e8f0", stroke: "#f0be40", "stroke-width": 2 }));
    if (rank !== "J") box.append(shape(shapes.crown, 65, 75, rank === "K" ? 34 : 26, "#ce9822"));
    box.append(shape(shapes.suits[suit], 65, 108, 38, color));
  } else {
    box.append(shape(shapes.suits[suit], 61, 98, rank === "A" ? 66 : 54, color));
  }
  return box;
}

function back(box) {
  box.append(svg("rect", { x: 8, y: 8, width: 84, height: 129, rx: 6, fill: "#2a4a82" }));
  for (let row = 0; row < 6; row += 1) {
    for (let column = 0; column < 4; column += 1) {
      const x = 18.5 + column * 21;
      const y = 18.75 + row * 21.5;
      box.append(svg("path", { d: `M ${x} ${y - 7} l 7 7 l -7 7 l -7 -7 Z`, fill: "#aac0e2" }));
    }
  }
  return box;
}

// A small card in running text.
export function chip(card, more = {}) {
  const red = card.length > 1 && isRed(card) ? " red" : "";
  return el("span", { ...more, class: `chip${red} ${more.class ?? ""}`, title: spoken(card) }, short(card));
}
