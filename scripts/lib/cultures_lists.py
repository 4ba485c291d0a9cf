"""Cleans, merges and weighs lists of names."""
import math
import re
import unicodedata

SCRIPTS = {
    "ar": "ARABIC", "ar_DZ": "ARABIC", "ar_PS": "ARABIC", "fa": "ARABIC", "bg": "CYRILLIC",
    "mk": "CYRILLIC", "ru": "CYRILLIC", "uk": "CYRILLIC", "bn_BD": "BENGALI", "el": "GREEK",
    "he": "HEBREW", "hi": "DEVANAGARI", "mr_IN": "DEVANAGARI", "ne": "DEVANAGARI", "hy": "ARMENIAN",
    "ja": "CJK", "ka": "GEORGIAN", "ko": "HANGUL", "ta_IN": "TAMIL", "th": "THAI", "zh_CN": "CJK",
    "zh_TW": "CJK",
}
CASELESS = {"ARABIC", "BENGALI", "HEBREW", "DEVANAGARI", "CJK", "GEORGIAN", "HANGUL", "TAMIL", "THAI"}
PUNCTUATION = {
    "LATIN": " '’ʻʼ.-·", "CYRILLIC": " '’ʼ-", "HEBREW": " '\"׳״-", "ARABIC": " \u200c-", "GREEK": " -",
    "ARMENIAN": " -", "DEVANAGARI": " .\u200d\u200c", "BENGALI": " .\u200d\u200c",
}
# Entries that are not names, or would disturb readers of test data.
UNWANTED = {"Doe", "Cock", "Raper", "Hooker", "Isis"}
# Halves of surnames, and letters in the wrong case.
UNWANTED |= {"Co", "Da", "Lg", "Ne", "Scc", "Van", "Von", "VI", "VonRueden", "Mc", "De", "The Elder"}
CAPITALS = re.compile(r"^(?!Mc|Mac|Mag|Mhac|Fitz|De|Di|Du|La|Le|Van)\w*[^\W\dA-ZÀ-ÞА-Я]{2}[A-ZÀ-ÞА-Я]|^[A-Z]{2}[a-z]")
# Misspellings of the packages.
SPELLING = {
    "ar": [("[\u0640\u064b-\u0652]", "")],
    "hi": [("[\u200c\u200d]", "")],
    "uz": [("(?<=[GgOo])['’`]", "ʻ"), ("['`]", "’")],
    "en_US": [(r"^Mc([a-z])", lambda found: "Mc" + found[1].upper())],
    "cs": [("ű", "ü")],
    "ga": [("^Ó H([aeiouáéíóú])", lambda found: "Ó h" + found[1].upper())],
    "fa": [("ي", "ی"), ("ك", "ک")],
}
SPELLING |= {code: SPELLING["en_US"] for code in ("en", "en_CA", "en_AU", "en_GB", "en_IE", "en_NZ")}
SPELLING |= {"ar_DZ": SPELLING["ar"], "ar_PS": SPELLING["ar"], "mr_IN": SPELLING["hi"], "ne": SPELLING["hi"]}
# Impossible names: an ending that Uzbek surnames never have, a vowel sign before a virama.
IMPOSSIBLE = {"uz": "[^aeiou]yeva?$", "ne": "[ा-ौ]्", "bg": "-", "fr": "^(Da|Le) [a-z]",
              "el": "^[^άέήίόύώΐΰΆΈΉΊΌΎΏ]{4,}$"}
# Languages that spell with marks: the same name without them is mistyped.
MARKED = {"es", "es_AR", "es_CL", "es_CO", "es_MX", "fr", "fr_BE", "fr_CA", "fr_CH", "pt_BR", "pt_PT", "el",
          "ro", "ro_MD", "is", "ga", "hu", "lv"}
# Pairs that differ in marks and are both real names.
BOTH = {"Arana", "Cerda", "Mora", "Pena", "Muller", "Marti", "Igor", "Theo", "Andrea", "Andreas", "Elena", "Amelia",
        "Camelia", "Daphne", "Deborah", "Cristian", "Jordan", "Mia", "Marioara", "Inguna", "Karina", "Leonard", "Jordana"}
ENDINGS = [("ов", "ова"), ("ев", "ева"), ("ин", "ина"), ("ски", "ска"), ("цки", "цка"), ("шки", "шка"),
           ("чки", "чка")]
POLISH = [("ski", "ska"), ("cki", "cka"), ("dzki", "dzka")]


def clean(name, code):
    """Returns the name in NFC, or None if it is not in the culture's script."""
    name = unicodedata.normalize("NFC", " ".join(str(name).replace("_", " ").split()))
    for wrong, right in SPELLING.get(code, ()):
        name = re.sub(wrong, right, name)
    script = SCRIPTS.get(code, "LATIN")
    extra = PUNCTUATION.get(script, " ")
    if not name or name in UNWANTED or len(name) > 30:
        return None
    if CAPITALS.search(name):
        return None
    # A mark belongs to the letter before it.
    if unicodedata.category(name[0])[0] == "M":
        return None
    if code in IMPOSSIBLE and re.search(IMPOSSIBLE[code], name):
        return None
    for letter in name:
        if letter in extra:
            continue
        known = unicodedata.name(letter, "")
        if unicodedata.category(letter)[0] not in "LM" or not known.startswith((script, "MODIFIER", "COMBINING")):
            return None
    if script in CASELESS:
        return name
    if name.isupper() and len(name) > 2:
        name = name.capitalize()
    words = [word for word in re.split(r"[ \-]", name) if word]
    if len(name) < 2 or not any(word[0].isupper() for word in words):
        return None
    # A dot ends an abbreviation, which is not a name.
    return None if "." in name and script == "LATIN" else name


def bare(name):
    """The name without its marks."""
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


def marked(weights):
    """Adds the weight of a name without marks to the same name with marks."""
    twins = {bare(name): name for name in sorted(weights) if bare(name) != name}
    for name in [name for name in weights if name in twins and name not in BOTH]:
        weights[twins[name]] += weights.pop(name)
    return weights


def merge(sources, tops, code, mass, dropped=(), respelled=()):
    """One list of names with whole weights from 1.

    Names with a weight keep it; those that only the other source has share a tenth of the whole. Where
    no source has weights, a name that both know counts four times. The hand list has weights or is
    sorted by how common its names are, and gets the share `mass` where the sources have no weights. No name
    is rarer than a tenth of the average, so that each appears.
    """
    respelled = dict(respelled)
    spelled = lambda name: respelled.get(clean(name, code), clean(name, code))  # noqa: E731
    cleaned = [{spelled(name): weight for name, weight in source.items()} for source in sources]
    weights, known = {}, False
    for source in cleaned:
        total = sum(weight or 0 for weight in source.values())
        for name, weight in source.items():
            if not name or name in dropped:
                continue
            if weight and total:
                known = True
                weights[name] = weights.get(name, 0) + weight / total
            else:
                weights.setdefault(name, 0)
    if not known:
        for name in weights:
            weights[name] = 4 if all(name in source for source in cleaned) and len(cleaned) > 1 else 1
    if code in MARKED:
        weights = marked(weights)
    add_tops(weights, [(top, weight) for top, weight in tops if top not in dropped], 0 if known else mass)
    floor = sum(weights.values()) / len(weights) / 10 if weights else 0
    weights = {name: max(weight, floor) for name, weight in weights.items()}
    return scaled(weights)


def add_tops(weights, tops, mass):
    base = sum(weights.values()) or 1
    if any(weight > 1 for _, weight in tops):
        share = [weight for _, weight in tops]
    else:
        share = [1 / (rank + 7) for rank in range(len(tops))]
    total = base * mass / (1 - mass) / sum(share) if tops else 0
    for (top, _), part in zip(tops, share):
        weights[top] = weights.get(top, 0) + part * total


def scaled(weights):
    """Weights as quarter powers of two, counted from the rarest, as they are packed."""
    lowest = min(weights.values(), default=1)
    return {name: min(60, round(4 * math.log2(weight / lowest))) for name, weight in weights.items()}


def irish(surname):
    """Returns the surname of an unmarried woman: Ó Caoin is Ní Chaoin, Mac Dónaill is Nic Dhónaill."""
    prefix, _, rest = surname.partition(" ")
    if prefix == "Ó":
        bare = rest[1:] if rest[:1] == "h" else rest
        return f"Ní {lenited(bare)}"
    if prefix == "Mac":
        kept = rest.startswith(("C", "G", "an ", "a'", "Dh", "Th", "Mh", "Bh", "Ph", "Fh", "Sh"))
        return f"Nic {rest if kept else lenited(rest)}"
    return surname


def lenited(word):
    soft = word[:1] in "BCDFGMPST" and word[1:2] != "h" and not re.match("S[cfmptv]", word)
    return word[0] + "h" + word[1:] if soft and word else word


def feminine(surname, endings):
    """Returns the surname of a woman, or None if the rule has none."""
    for masculine, form in endings:
        if surname.endswith(masculine):
            return surname[:-len(masculine)] + form
    return None
