// Small helpers to build elements; texts go in as text, never as HTML.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, set] of Object.entries(value)) made.style.setProperty(key, set);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const remember = (key, value) => {
  try {
    localStorage.setItem(`stich.${key}`, JSON.stringify(value));
  } catch {
    // a browser without storage plays all the same
  }
};

export const recall = (key, fallback) => {
  try {
    return JSON.parse(localStorage.getItem(`stich.${key}`)) ?? fallback;
  } catch {
    return fallback;
  }
};
