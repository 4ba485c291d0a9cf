"use strict";
// Counts the files of a search by bucket, extension and type. Each of them works as a filter.
const FACETS = [["buckets", "bucket"], ["extensions", "extension"], ["types", "type"]];
const MOST_FACETS = 5;
// The search whose counts are shown. Other pages and orders of it have the same counts.
let counted = "";

function showFacet([name, member], facets, taken) {
  const list = field(`facet-${name}`);
  list.replaceChildren();
  for (const facet of facets) {
    const part = facet[member];
    const item = document.createElement("li");
    const mark = taken.includes(part) ? " ×" : "";
    const title = mark ? "Remove this filter" : "Only these files";
    item.append(button(visible(part) + mark, title, () => filter(name, part, Boolean(mark))));
    item.append(element("span", facet.files.toLocaleString("en"), "soft"));
    list.append(item);
  }
}

/** Counts the files of a search, unless its counts are shown already. */
async function showFacets(parameters, results, signal) {
  const search = new URLSearchParams(parameters);
  for (const name of ["start", "order", "direction"]) search.delete(name);
  search.set("limit", String(MOST_FACETS));
  const wanted = `${key()} ${search}`;
  if (counted === wanted) return;
  counted = "";
  show("facets", false);
  if (results === 0) return;
  try {
    const answer = await ask(`api/v2/files/facets?${search}`, signal);
    for (const facet of FACETS) {
      const taken = (parameters.get(facet[0]) || "").split(",").map((text) => text.trim());
      showFacet(facet, answer[facet[0]], taken);
    }
    for (const name of ["buckets", "extensions"]) {
      const [all, shown] = [answer.meta[name], answer[name].length];
      const count = all > shown ? `${shown} of ${all.toLocaleString("en")}` : "";
      field(`facet-${name}-count`).textContent = count;
    }
    counted = wanted;
    show("facets", true);
  } catch (error) {
    // The files are shown without their counts, for example after too many requests.
    if (error.name !== "AbortError") console.warn(`no counts: ${error.message}`);
  }
}
