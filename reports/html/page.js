"use strict";
// The report reads whole without this script; it adds tooltips, sorting, a
// switch per series and the choice of theme.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Theme: the system's until somebody chooses.
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const store = {
    get() { try { return localStorage.getItem("decodegap-theme"); } catch { return null; } },
    set(v) { try { localStorage.setItem("decodegap-theme", v); } catch { /* from disk some browsers keep nothing */ } },
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to the light theme" : "Switch to the dark theme");
  };
  const kept = store.get();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    store.set(root.dataset.theme);
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;

  // Tooltips: at once, and where the pointer is, instead of the browser's own.
  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  const show = (e) => {
    const group = e.target.closest?.("[data-title]");
    if (!group) return hide();
    if (tip.textContent !== group.dataset.title) tip.textContent = group.dataset.title;
    tip.hidden = false;
    const edge = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const above = e.clientY > tip.offsetHeight + 24;
    tip.style.left = scrollX + Math.max(8, Math.min(e.clientX + 12, edge)) + "px";
    tip.style.top = scrollY + e.clientY + (above ? -tip.offsetHeight - 12 : 18) + "px";
  };
  for (const figure of all("figure")) {
    for (const title of all("g[data-title] > title", figure)) title.remove();
    figure.addEventListener("pointermove", show);
    figure.addEventListener("pointerdown", show);
    figure.addEventListener("pointerleave", hide);
  }
  addEventListener("keydown", (e) => { if (e.key === "Escape") hide(); });
  addEventListener("scroll", hide, { passive: true });

  // Sorting: first click by size or name, second the other way round.
  const prefix = { n: 1e-9, "μ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  const value = (text) => {
    const m = /^[+<≤]?\s*([−-]?[\d,]*\.?\d+(?:e[+−-]?\d+)?)\s*([nμmkMGTP]?)/.exec(text.trim());
    return m ? Number(m[1].replaceAll(",", "").replaceAll("−", "-")) * (prefix[m[2]] ?? 1) : null;
  };
  const sort = (table, column, numbers, down) => {
    const body = table.tBodies[0];
    const key = (row) => {
      const text = row.cells[column]?.textContent ?? "";
      return numbers ? value(text) : (text === "–" ? null : text.toLowerCase());
    };
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // what is absent stays last
      const order = numbers ? a - b : a.localeCompare(b);
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of all("table[data-sort]")) {
    if (table.tBodies[0].rows.length < 2) continue;
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((th, column) => {
      const numbers = th.classList.contains("n");
      const b = document.createElement("button");
      b.type = "button";
      b.append(...th.childNodes);
      th.append(b);
      b.addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        const down = now ? now === "ascending" : numbers;
        for (const other of heads) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, column, numbers, down);
      });
    });
  }

  // Series: one button each, to look at few lines at a time.
  for (const figure of all("figure")) {
    const series = all('g[data-id^="series-"]', figure).filter((g) => !g.parentNode.closest("g[data-id]"));
    if (series.length < 2) continue;
    const keys = document.createElement("div");
    keys.className = "keys";
    keys.setAttribute("role", "group");
    keys.setAttribute("aria-label", "Series shown");
    for (const g of series) {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = g.dataset.title;
      b.setAttribute("aria-pressed", "true");
      b.addEventListener("click", () => {
        const on = b.getAttribute("aria-pressed") === "false";
        b.setAttribute("aria-pressed", String(on));
        g.toggleAttribute("hidden", !on);
      });
      keys.append(b);
    }
    figure.append(keys);
  }
})();
