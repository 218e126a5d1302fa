/* After the success criteria of WCAG 2.2 that a program can check. */
() => {
  const faults = [];
  const shown = (own) => own.checkVisibility({ checkVisibilityCSS: true });
  const named = (own) =>
    own.textContent.trim() || own.getAttribute("aria-label") || (own.labels && own.labels.length) ||
    (own.getAttribute("aria-labelledby") || "").split(" ").some((id) => document.getElementById(id)?.textContent.trim());
  const tell = (own, words) => faults.push(`${own.tagName.toLowerCase()}#${own.id} ${words}`);
  if (!document.documentElement.lang) faults.push("the page has no language");
  if ([...document.querySelectorAll("h1")].filter(shown).length !== 1) faults.push("there is not one h1");
  const ids = [...document.querySelectorAll("[id]")].map((own) => own.id);
  for (const id of new Set(ids)) if (ids.filter((own) => own === id).length > 1) faults.push(`the id ${id} is there twice`);
  let level = 0;
  for (const own of [...document.querySelectorAll("h1,h2,h3,h4")].filter(shown)) {
    const next = Number(own.tagName[1]);
    if (next > level + 1) tell(own, "skips a level");
    level = next;
  }
  for (const own of [...document.querySelectorAll("button,input,a,canvas,select,[role=region],[tabindex='0']")].filter(shown)) {
    if (!named(own)) tell(own, "has no name");
    const box = own.getBoundingClientRect();
    if (own.tagName === "BUTTON" && (box.width < 24 || box.height < 24)) tell(own, "is too small to hit");
  }
  for (const own of document.querySelectorAll("[aria-labelledby],[aria-describedby]"))
    for (const key of ["aria-labelledby", "aria-describedby"])
      for (const id of (own.getAttribute(key) || "").split(" ").filter(Boolean))
        if (!document.getElementById(id)) tell(own, `refers to ${id}, which is not there`);
  for (const own of document.querySelectorAll("th")) if (!own.scope) tell(own, "has no scope");
  const parts = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const line = [r, g, b].map((one) => ((one /= 255) <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2];
  };
  const paper = (own) => {
    for (; own; own = own.parentElement) {
      const found = parts(getComputedStyle(own).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  for (const own of [...document.querySelectorAll("body *")].filter(shown)) {
    const text = [...own.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    if (!text || own.disabled) continue;
    const [a, b] = [light(parts(getComputedStyle(own).color)), light(paper(own))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) tell(own, `has a contrast of ${contrast.toFixed(2)}`);
  }
  return faults;
}
