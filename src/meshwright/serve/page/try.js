"use strict";

const METHODS = ["get", "post", "delete"];
const EXAMPLES = {
  "/v1/events": '{"event": "join", "node": "b9", "topics": ["news"], "id": "join-b9-1"}',
  "/v1/what-if": '{"nodes": ["b1"]}',
  "/v1/session": '{"token": ""}',
};

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A field for a parameter, with its label. */
function field(key, parameter) {
  const id = `${key}-${parameter.name}`;
  const input = make("input", { id, autocomplete: "off", spellcheck: "false" });
  if (parameter.required) input.required = true;
  return { ...parameter, input, label: make("label", { for: id }, `${parameter.name}: ${parameter.description}`) };
}

function request(method, path, fields, body) {
  const headers = {};
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place, input } of fields) {
    if (!input.value) continue;
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (place === "query") query.set(name, input.value);
    else headers[name] = input.value;
  }
  const token = document.getElementById("token").value.trim();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = body.kind.value;
  const text = query.toString();
  return [text ? `${target}?${text}` : target, { method: method.toUpperCase(), headers, body: body && body.text.value }];
}

function bodyFields(key, path, operation) {
  if (!operation.requestBody) return null;
  const kind = make("select", { id: `${key}-kind` });
  for (const own of Object.keys(operation.requestBody.content)) kind.append(make("option", {}, own));
  const text = make("textarea", { id: `${key}-body`, spellcheck: "false" });
  text.value = EXAMPLES[path] || "";
  const labels = [make("label", { for: `${key}-kind` }, "Content-Type"), make("label", { for: `${key}-body` }, "Body")];
  return { kind, text, parts: [labels[0], kind, labels[1], text] };
}

function show(method, path, operation) {
  const key = operation.operationId;
  const fields = (operation.parameters || []).map((own) => field(key, own));
  const body = bodyFields(key, path, operation);
  const output = make("pre", { hidden: "", tabindex: "0", "aria-live": "polite" });
  const form = make("form", { id: key }, ...fields.flatMap((own) => [own.label, own.input]), ...(body ? body.parts : []));
  form.append(make("button", { type: "submit" }, "Send"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    try {
      const answer = await fetch(...request(method, path, fields, body));
      output.textContent = `${answer.status} ${answer.statusText}\n${pretty(await answer.text())}`;
    } catch (error) {
      output.textContent = `No answer: ${error.message}`;
    }
  });
  const role = operation.security.length ? `needs ${operation.security[0].token[0]}` : "open";
  return make(
    "section",
    {},
    make("h2", {}, `${method.toUpperCase()} ${path}`),
    make("p", {}, `${operation.summary} `, make("small", { class: "note" }, `(${role})`)),
    form,
    output,
  );
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

fetch("/openapi.json")
  .then((answer) => answer.json())
  .then(({ paths }) => {
    const sections = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => show(method, path, item[method])),
    );
    document.getElementById("operations").append(...sections);
  });
