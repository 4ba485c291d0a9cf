"""Names and streets of the two pinned packages."""
import importlib
import json
import subprocess
import sys

DUMP = """
import('file://' + process.argv[1]).then(m => {
  const pick = l => ({person: l.person, location: l.location});
  const all = Object.entries(m.allLocales).map(([code, l]) => [code, pick(l)]);
  process.stdout.write(JSON.stringify(Object.fromEntries(all)));
});
"""


class Sources:
    """Lists by package and locale; each list is a dictionary of name and weight (or None)."""

    def __init__(self, folder):
        sys.path.insert(0, str(folder / "python"))
        dump = subprocess.run(["node", "-e", DUMP, str(folder / "faker/package/dist/index.js")],
                              check=True, capture_output=True, text=True).stdout
        self.javascript = json.loads(dump)

    def names(self, package, locale, kind):
        """The `kind` (female, male, surname, female surname) of one locale."""
        return self.from_javascript(locale, kind) if package == "js" else from_python(locale, kind)

    def from_javascript(self, locale, kind):
        person = self.javascript[locale]["person"]
        given, last = person.get("first_name") or {}, person.get("last_name") or {}
        if kind in ("female", "male"):
            return dict.fromkeys(given.get(kind) or [])
        sex = "female" if kind == "female surname" else "male"
        return dict.fromkeys((last.get("generic") or []) + (last.get(sex) or []))

    def streets(self, locale):
        """Whole street names, in the order of the package."""
        return self.javascript[locale]["location"].get("street_name") or []


def from_python(locale, kind):
    provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    # Avoids mixing Estonian names with those of the Russian minority.
    own = "_est" if locale == "et_EE" else ""
    if kind in ("female", "male"):
        return listed(provider, f"first_names_{kind}{own}")
    if own:
        return listed(provider, f"last_names{own}")
    sex = "female" if kind == "female surname" else "male"
    return listed(provider, f"last_names_{sex}") or listed(provider, "last_names")


def listed(provider, name):
    value = getattr(provider, name, None) or ()
    return dict(value) if isinstance(value, dict) else dict.fromkeys(value)
