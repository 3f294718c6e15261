// Every text of the page in both languages, and nothing else that a person reads.

import { recall, remember } from "./dom.js";

const TEXTS = {
  title: { en: "stich: Herzeln and Viersche", de: "stich: Herzeln und Viersche" },
  rules: { en: "Rules", de: "Regeln" },
  close: { en: "Close", de: "Schließen" },
  herzeln: { en: "Herzeln (Hearts)", de: "Herzeln" },
  viersche: { en: "Viersche", de: "Viersche" },
  new_game: { en: "New game", de: "Neues Spiel" },
  game: { en: "Game", de: "Spiel" },
  players: { en: "Players", de: "Spieler" },
  preset: { en: "House rules", de: "Hausregeln" },
  length: { en: "Length", de: "Länge" },
  episode_deal: { en: "one deal", de: "ein Blatt" },
  episode_round: { en: "a round", de: "eine Runde" },
  episode_game: { en: "a game", de: "ein Spiel" },
  episode_session: { en: "a session", de: "eine Sitzung" },
  options: { en: "Options", de: "Optionen" },
  options_hint: { en: "as moon=subtract target=50", de: "etwa moon=subtract target=50" },
  seat: { en: "Seat {n}", de: "Platz {n}" },
  seat_left: { en: "Seat {n} (next)", de: "Platz {n} (nach dir)" },
  seat_partner: { en: "Partner", de: "Partner" },
  seat_you: { en: "Seat 1", de: "Platz 1" },
  you: { en: "you", de: "du" },
  you_play: { en: "you", de: "du selbst" },
  start: { en: "Start", de: "Los" },
  your_games: { en: "Your games", de: "Deine Spiele" },
  no_games: { en: "None yet.", de: "Noch keine." },
  continue: { en: "Continue", de: "Weiterspielen" },
  records: { en: "Step through records", de: "Aufzeichnungen ansehen" },
  records_hint: {
    en: "Files named to stich serve, or one of yours: game records, one JSON line each. Nothing leaves this machine.",
    de: "Dateien, die stich serve genannt wurden, oder eine eigene: Spielaufzeichnungen, je eine JSON-Zeile. Nichts verlässt diesen Rechner.",
  },
  open_file: { en: "Open a file", de: "Datei öffnen" },
  dealer: { en: "dealer", de: "Geber" },
  dealer_letter: { en: "D", de: "G" },
  leads: { en: "leads", de: "spielt aus" },
  tricks: { en: "{n} tricks", de: "{n} Stiche" },
  cards_left: { en: "{n} cards", de: "{n} Karten" },
  you_take: { en: "You take the trick", de: "Der Stich geht an dich" },
  takes: { en: "{name} takes the trick", de: "Der Stich geht an {name}" },
  your_hand: { en: "Your hand", de: "Deine Karten" },
  this_deal: { en: "this deal", de: "Blatt" },
  total: { en: "total", de: "gesamt" },
  taken: { en: "taken", de: "genommen" },
  broken: { en: "hearts broken", de: "Herz gebrochen" },
  unbroken: { en: "hearts not broken", de: "Herz nicht gebrochen" },
  where: { en: "Deal {deal}, trick {trick}", de: "Blatt {deal}, Stich {trick}" },
  where_pass: { en: "Deal {deal}, passing", de: "Blatt {deal}, Weitergeben" },
  trumps: { en: "Trumps", de: "Trumpf" },
  turned_up: { en: "turned up", de: "aufgedeckt" },
  points: { en: "points", de: "Augen" },
  carried: { en: "carried {n}", de: "übertragen {n}" },
  marks: { en: "marks", de: "Bollen" },
  rungs: { en: "ladder: {left} of {rungs} rungs left", de: "Leiter: noch {left} von {rungs} Sprossen" },
  your_turn: { en: "Your turn: choose a card (arrow keys and Enter work, too).", de: "Du bist dran: Wähle eine Karte (auch mit Pfeiltasten und Eingabe)." },
  your_pass: { en: "Pass three cards to {name}: card {n} of 3.", de: "Gib drei Karten an {name}: Karte {n} von 3." },
  thinking: { en: "{name} is thinking …", de: "{name} überlegt …" },
  deal_over: { en: "Deal {deal} is over.", de: "Blatt {deal} ist zu Ende." },
  game_over: { en: "The game is over.", de: "Das Spiel ist aus." },
  deal_points: { en: "Points of the deal:", de: "Augen im Blatt:" },
  won_by: { en: "Won by {names}.", de: "Gewonnen: {names}." },
  you_won: { en: "You win!", de: "Du gewinnst!" },
  you_lost: { en: "You lose.", de: "Du verlierst." },
  shot_moon: { en: "{name} shot the moon.", de: "{name} hat alle Strafkarten genommen (Durchmarsch)." },
  next_deal: { en: "Next deal", de: "Nächstes Blatt" },
  look_at: { en: "Look at deal {deal}", de: "Blatt {deal} ansehen" },
  save_record: { en: "Save the game as a file", de: "Spiel als Datei sichern" },
  back: { en: "Back to the game", de: "Zurück zum Spiel" },
  speed: { en: "Pace", de: "Tempo" },
  speed_slow: { en: "slow", de: "langsam" },
  speed_normal: { en: "normal", de: "normal" },
  speed_fast: { en: "fast", de: "schnell" },
  pause: { en: "Pause", de: "Anhalten" },
  go_on: { en: "Go on", de: "Weiter" },
  one_card: { en: "One card", de: "Eine Karte" },
  advice: { en: "What would an agent do?", de: "Was täte ein Agent?" },
  own_agent: { en: "the agent at that seat", de: "der Agent an diesem Platz" },
  would_play: { en: "would play {card}", de: "spielte {card}" },
  probability: { en: "probability of each card", de: "Wahrscheinlichkeit jeder Karte" },
  values: { en: "expected payoff of each card, in points", de: "erwarteter Wert jeder Karte, in Punkten" },
  value: { en: "expected payoff: {n}", de: "erwarteter Wert: {n}" },
  moon: { en: "probability of the moon: {n} %", de: "Wahrscheinlichkeit des Durchmarschs: {n} %" },
  distribution: { en: "points of the deal, by probability", de: "Punkte im Blatt, nach Wahrscheinlichkeit" },
  asking: { en: "asking …", de: "fragt nach …" },
  no_answer: { en: "{name} does not answer: {reason}", de: "{name} antwortet nicht: {reason}" },
  verdict: { en: "The solver's verdict, all hands open", de: "Das Urteil des Lösers bei offenen Karten" },
  verdict_hint_viersche: {
    en: "Points that a card lost for its side against the best card, if all play perfectly from there on.",
    de: "Augen, die eine Karte ihrer Seite gegenüber der besten verlor, wenn alle danach fehlerlos spielen.",
  },
  verdict_hint_herzeln: {
    en: "Points that a card lost against the best one, if everybody plays for itself from there on. What lies too far before the end is not judged.",
    de: "Punkte, die eine Karte gegenüber der besten verlor, wenn danach jeder für sich spielt. Was zu weit vor dem Ende liegt, bleibt ohne Urteil.",
  },
  judging: { en: "The solver is at work …", de: "Der Löser rechnet …" },
  lost_points: { en: "loses {n}; better: {best}", de: "verliert {n}; besser: {best}" },
  no_loss: { en: "No card lost anything.", de: "Keine Karte verlor etwas." },
  judged: { en: "{n} of {all} cards judged.", de: "{n} von {all} Karten beurteilt." },
  could_moon_you: {
    en: "You could force the moon before trick {first} (until trick {last}).",
    de: "Du konntest vor Stich {first} den Durchmarsch erzwingen (bis Stich {last}).",
  },
  could_moon: {
    en: "{name} could force the moon before trick {first} (until trick {last}).",
    de: "{name} konnte vor Stich {first} den Durchmarsch erzwingen (bis Stich {last}).",
  },
  this_card: { en: "Card {n} of {all}", de: "Karte {n} von {all}" },
  trick: { en: "Trick", de: "Stich" },
  passes: { en: "passed", de: "gegeben" },
  first: { en: "First", de: "Anfang" },
  previous: { en: "Previous card", de: "Eine Karte zurück" },
  following: { en: "Next card", de: "Eine Karte weiter" },
  end: { en: "End", de: "Ende" },
  deal_n: { en: "Deal {n}", de: "Blatt {n}" },
  record_n: { en: "Game {n} of {all}", de: "Spiel {n} von {all}" },
  failed: { en: "{name} has failed ({reason}). The game is kept.", de: "{name} ist ausgefallen ({reason}). Das Spiel bleibt erhalten." },
  again: { en: "Try again", de: "Noch einmal" },
  replace: { en: "Let {name} play on", de: "{name} spielt weiter" },
  lost: { en: "The server does not answer. Your game is kept there.", de: "Der Server antwortet nicht. Dein Spiel ist dort gesichert." },
  unknown_game: { en: "There is no such game here (any more).", de: "Dieses Spiel gibt es hier nicht (mehr)." },
  home: { en: "To the entrance", de: "Zum Eingang" },
  face_down: { en: "face down", de: "verdeckt" },
  card_name: { en: "{rank} of {suit}", de: "{suit} {rank}" },
  suit_C: { en: "clubs", de: "Kreuz" },
  suit_D: { en: "diamonds", de: "Karo" },
  suit_H: { en: "hearts", de: "Herz" },
  suit_S: { en: "spades", de: "Pik" },
  rank_J: { en: "jack", de: "Bube" },
  rank_Q: { en: "queen", de: "Dame" },
  rank_K: { en: "king", de: "König" },
  rank_A: { en: "ace", de: "Ass" },
};

// The rules, a paragraph an entry; those of one's options stand in the README.
export const RULES = {
  herzeln: {
    en: [
      "Two to four players, each for itself. Aim: take as few points as possible. Each heart counts 1, the queen of spades 13, together 26 in a deal.",
      "52 cards, ace high, no trumps, all dealt out (three players: without the 2 of diamonds). With the house rules hearts, three cards are first passed to the left, to the right, across, or not at all, by turns.",
      "The 2 of clubs leads to the first trick. Follow suit if you can, else play any card. The highest card of the suit led takes the trick and leads next.",
      "In the first trick no heart and no queen of spades may be played, unless you hold nothing else. Hearts may be led once a heart has fallen, or if you hold only hearts.",
      "Who takes all hearts and the queen of spades has shot the moon: it gets 0, every other player 26.",
      "A game ends after the deal in which somebody reaches 100; the fewest points win.",
    ],
    de: [
      "Zwei bis vier Spieler, jeder für sich. Ziel: möglichst wenige Punkte. Jedes Herz zählt 1, die Pik-Dame 13, zusammen 26 im Blatt.",
      "52 Karten, Ass hoch, kein Trumpf, alle werden verteilt (zu dritt ohne die Karo-2). Mit den Hausregeln hearts werden zuerst drei Karten weitergegeben: reihum nach links, nach rechts, gegenüber oder gar nicht.",
      "Die Kreuz-2 eröffnet den ersten Stich. Farbe muss bedient werden, sonst ist jede Karte erlaubt. Die höchste Karte der ausgespielten Farbe nimmt den Stich und spielt aus.",
      "Im ersten Stich sind Herz und Pik-Dame verboten, außer man hat nichts anderes. Herz darf man ausspielen, sobald ein Herz gefallen ist oder wenn man nur Herz hat.",
      "Wer alle Herzen und die Pik-Dame nimmt, hat den Durchmarsch geschafft: Er bekommt 0, alle anderen 26.",
      "Das Spiel endet nach dem Blatt, in dem jemand 100 erreicht; die wenigsten Punkte gewinnen.",
    ],
  },
  viersche: {
    en: [
      "Four players, partners opposite. 36 cards, nine each. The dealer's last card is turned up: its suit is trumps.",
      "Trumps, high to low: the jack of trumps (Old Man), the other jack of the same colour (Little Man), then A K Q 10 9 8 7 6. Other suits: A K Q J 10 9 8 7 6.",
      "Card points: Old Man and Little Man 12 each, ace 11, ten 10, king 4, queen 3, other jacks 2; 140 in a deal.",
      "The player after the dealer leads a trump; without one it puts any card face down, which counts as a trump lead and can't win.",
      "A plain suit led is followed with that suit or with any trump; void, play anything. A trump led is followed with a trump. Nobody must trump or head a trick.",
      "A side with 100 or more wins the round and erases a rung of its ladder (two for all nine tricks). If neither has 100, both carry their points into a second deal, which ends when a side reaches 100.",
      "The first side without rungs wins the game; the losers get a mark, two if they erased no rung. Four marks lose the session.",
    ],
    de: [
      "Vier Spieler, Partner gegenüber. 36 Karten, jeder neun. Die letzte Karte des Gebers wird aufgedeckt: Ihre Farbe ist Trumpf.",
      "Trümpfe von oben: der Trumpf-Bube (der Alt), der andere Bube gleicher Farbe (der Kloei), dann A K D 10 9 8 7 6. Andere Farben: A K D B 10 9 8 7 6. Auf den Karten stehen Q für die Dame und J für den Buben.",
      "Augen: Alt und Kloei je 12, Ass 11, Zehn 10, König 4, Dame 3, die anderen Buben 2; zusammen 140.",
      "Der Spieler nach dem Geber spielt Trumpf aus; hat er keinen, legt er eine Karte verdeckt, die als Trumpf gilt und nicht gewinnen kann.",
      "Eine Farbe wird mit ihr oder mit Trumpf bedient; wer sie nicht hat, spielt, was er will. Auf Trumpf muss Trumpf gespielt werden. Kein Zwang zu stechen oder zu überstechen.",
      "Eine Seite mit 100 oder mehr gewinnt die Runde und wischt eine Sprosse ihrer Leiter weg (zwei bei allen neun Stichen). Hat keine 100, nehmen beide ihre Augen in ein zweites Blatt mit, das endet, sobald eine Seite 100 hat.",
      "Die erste Seite ohne Sprossen gewinnt das Spiel; die Verlierer bekommen eine Bolle, zwei, wenn sie keine Sprosse wegwischten. Vier Bollen verlieren die Sitzung.",
    ],
  },
};

let language = recall("language", navigator.language?.startsWith("de") ? "de" : "en");

export const currentLanguage = () => language;

export function setLanguage(chosen) {
  language = chosen;
  remember("language", chosen);
}

export function t(key, values = {}) {
  const found = TEXTS[key]?.[language] ?? key;
  return found.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

// How a seat is called: `you`, or the agent's name with its number where several have one name.
export function seatName(seats, seat) {
  const name = seats[seat];
  if (name === "you") return t("you");
  const short = name.startsWith("ppo:") ? "ppo" : name.split(":")[0];
  const same = seats.filter((other) => other.split(":")[0] === name.split(":")[0]);
  return same.length > 1 ? `${short} ${seats.slice(0, seat + 1).filter((other) => other.split(":")[0] === name.split(":")[0]).length}` : short;
}
