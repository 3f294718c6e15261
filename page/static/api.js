// Requests to the server. A refusal becomes an Error with the server's sentence, a lost server one with `lost` set.

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw Object.assign(new Error("lost"), { lost: true });
  }
  let found = {};
  try {
    found = await response.json();
  } catch {
    found = { error: `HTTP ${response.status}` };
  }
  if (!response.ok) throw Object.assign(new Error(found.error ?? `HTTP ${response.status}`), { status: response.status });
  return found;
}

export const get = (path) => ask(path);

export const post = (path, body) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

let known = null;

// What the server offers: games, agents, records and the shapes of the suits; asked for once.
export async function about() {
  known ??= await get("/api/about");
  return known;
}
