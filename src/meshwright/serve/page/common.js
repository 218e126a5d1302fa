"use strict";

const at = (id) => document.getElementById(id);
const whole = (number) => number.toLocaleString("en");

/** An element with text and children; text is never read as markup. */
function make(tag, { text = "", className = "", ...more } = {}, ...children) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  Object.assign(element, more);
  element.append(...children);
  return element;
}

function many(number, one, several) {
  return `${whole(number)} ${number === 1 ? one : several}`;
}

class RefusedError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  const answer = await fetch(path, { credentials: "same-origin", ...options });
  if (answer.status === 204) return null;
  const value = await answer.json();
  if (!answer.ok) throw new RefusedError(answer.status, value.detail);
  return value;
}

function send(path, value) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
}

function linksText(links) {
  const shown = links.slice(0, 3).map(([a, b]) => `${a} – ${b}`);
  if (links.length > shown.length) shown.push(`and ${whole(links.length - shown.length)} more`);
  return shown.join(", ") || "none";
}
