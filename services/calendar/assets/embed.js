// Adds a frame with events after this script element, and keeps it as tall as its content:
// <script src="https://calendar.example/embed.js" data-view="list" data-count="5" async></script>
(() => {
  "use strict";
  // The server inserts the languages of the site, with the default one first.
  const titles = new Map([["en", "Events"]]);
  const script = document.currentScript;
  if (!script) return;
  const base = new URL(".", script.src);
  const { view, title, ...options } = script.dataset;
  const isMonth = view === "month";
  const url = new URL(isMonth ? "embed/month" : "embed/list", base);
  // Months show all events.
  const own = isMonth ? ["month"] : ["category", "tag", "search", "count"];
  for (const name of ["theme", "lang", ...own]) {
    if (options[name]) url.searchParams.set(name, options[name]);
  }
  const frame = document.createElement("iframe");
  frame.src = url.href;
  frame.title = title || titles.get(options.lang) || [...titles.values()][0];
  frame.loading = "lazy";
  Object.assign(frame.style, { width: "100%", height: "20rem", border: "0" });
  addEventListener("message", (event) => {
    const { type, height } = event.data || {};
    if (event.source !== frame.contentWindow || event.origin !== base.origin) return;
    if (type === "calendar-embed" && Number.isFinite(height)) {
      frame.style.height = `${Math.min(Math.max(height, 0), 20000)}px`;
    }
  });
  script.after(frame);
})();
