"use strict";

/* The fleet: the plan that waits, the kill switch, and the health of links. */

const Fleet = (() => {
  const EVERY = 2000;
  const MOST = 100;
  let roles = [];
  let plan = null;
  let timer = 0;

  function enter(session) {
    roles = session.roles;
    at("fleet").hidden = !session.fleet;
    clearInterval(timer);
    if (!session.fleet) return;
    timer = setInterval(look, EVERY);
    look();
  }

  function leave() {
    clearInterval(timer);
    at("fleet").hidden = true;
  }

  async function look() {
    if (document.hidden) return;
    try {
      const [found, fleet] = await Promise.all([ask("/v1/plan"), ask("/v1/fleet")]);
      showPlan(found);
      showHealth(fleet);
    } catch (error) {
      if (error.status !== undefined) at("plan-state").textContent = error.message;
    }
  }

  function words(found) {
    if (found.paused) return ["Paused: nothing is brought to brokers", "bad"];
    if (found.applying) return ["A plan is being applied", ""];
    if (found.plan && found.mode === "apply") return ["A plan is about to be applied", ""];
    if (found.plan && found.approved) return ["Approved; it is being applied", ""];
    if (found.plan) return ["A plan waits for approval", ""];
    return ["All brokers follow the overlay", "good"];
  }

  function showPlan(found) {
    const changed = !plan || plan.plan !== found.plan;
    plan = found;
    const [text, state] = words(found);
    if (at("plan-state").textContent !== text) at("plan-state").textContent = text;
    at("plan-state").className = `verdict ${state}`;
    at("troubles").replaceChildren(...found.troubles.map((own) => make("li", { text: own })));
    at("plan-waiting").hidden = !found.plan;
    if (changed) showDiff(found);
    const may = roles.includes("apply");
    at("approve").hidden = found.mode === "apply";
    at("approve").disabled = !may || !found.plan || found.approved;
    at("dry-run").disabled = !may || !found.plan;
    at("pause").disabled = !may;
    at("pause").textContent = found.paused ? "Resume" : "Pause";
    at("role-note").textContent = may ? "" : "Approving and pausing need a token with the role apply.";
  }

  function showDiff(found) {
    const rows = [
      ...found.opened.map((pair) => [pair, "is opened"]),
      ...found.closed.map((pair) => [pair, "is closed"]),
      ...found.changed.map((pair) => [pair, "carries other topics"]),
    ];
    const shown = rows.slice(0, MOST).map(([[a, b], what]) =>
      make("tr", {}, make("td", { text: `${a} – ${b}`, className: "name" }), make("td", { text: what })),
    );
    at("plan-diff").replaceChildren(...shown);
    const more = rows.length - shown.length;
    at("plan-more").textContent =
      more > 0 ? `and ${whole(more)} more` : rows.length ? "" : "No link changes; some broker has an old file.";
    at("plan-answer").textContent = "";
  }

  function state(link) {
    if (link.silent) return ["up, but carries nothing", "bad-words"];
    if (link.carries === false) return ["carries nothing", "bad-words"];
    if (link.astray) return [`probes come to ${many(link.astray, "broker", "brokers")} astray`, "bad-words"];
    if (link.carries) return ["carries", "good-words"];
    return [link.reason || "not known", "note"];
  }

  function showHealth({ brokers, links }) {
    const rank = (link) => (link.silent ? 0 : link.carries === false ? 1 : link.carries === null ? 2 : 3);
    const ordered = [...links].sort((a, b) => rank(a) - rank(b));
    const carrying = links.filter((link) => link.carries).length;
    at("health-state").textContent = links.length
      ? `${whole(carrying)} of ${many(links.length, "link", "links")} carried the last probes.`
      : "Links have not been probed yet.";
    at("health-state").className = carrying === links.length ? "good-words" : "bad-words";
    at("health").replaceChildren(
      ...ordered.slice(0, MOST).map((link) => {
        const [text, className] = state(link);
        return make(
          "tr",
          {},
          make("td", { text: link.opens, className: "name" }),
          make("td", { text: link.to, className: "name" }),
          make("td", { text, className }),
          make("td", { text: link.milliseconds === null ? "" : link.milliseconds.toFixed(1), className: "number" }),
        );
      }),
    );
    const down = brokers.filter((broker) => broker.up === false).map((broker) => broker.name);
    at("brokers-down").textContent = down.length
      ? `${many(down.length, "broker does", "brokers do")} not answer: ${down.slice(0, 20).join(", ")}`
      : `All ${many(brokers.length, "broker answers", "brokers answer")}.`;
  }

  function act(id, work) {
    at(id).addEventListener("click", async () => {
      at(id).disabled = true;
      try {
        at("plan-answer").textContent = await work();
      } catch (error) {
        at("plan-answer").textContent = error.message;
      }
      look();
    });
  }

  act("approve", async () => {
    await send("/v1/plan/approve", { plan: plan.plan });
    return "Approved.";
  });
  act("dry-run", async () => {
    const { steps, drift } = await send("/v1/plan/approve", { plan: plan.plan, dry_run: true });
    const nodes = [...new Set(steps.map((step) => step.node))];
    const edited = drift.length ? ` Edited by hand, so nothing would be applied: ${drift.join(", ")}.` : "";
    return `Would bring ${many(steps.length, "file", "files")} to ${nodes.slice(0, 10).join(", ")}.${edited}`;
  });
  act("pause", async () => {
    const { paused } = await send("/v1/plan/pause", { paused: !plan.paused });
    return paused ? "Paused." : "Resumed.";
  });

  return { enter, leave };
})();
