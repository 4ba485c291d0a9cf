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
# What is no name, or what a reader of test data would stumble over.
UNWANTED = {"Doe", "Cock", "Raper", "Hooker", "Isis"}
# What the packages spell against the rules of a language.
SPELLING = {
    "ar": [("[\u064b-\u0652]", "")],
    "hi": [("\u200d", "")],
    "uz": [("(?<=[GgOo])['’`]", "ʻ"), ("['`]", "’")],
    "fa": [("ي", "ی"), ("ك", "ک")],
}
SPELLING |= {"ar_DZ": SPELLING["ar"], "ar_PS": SPELLING["ar"], "mr_IN": SPELLING["hi"], "ne": SPELLING["hi"]}
# What cannot be a name: an ending that no Uzbek surname has, a vowel sign before a virama.
IMPOSSIBLE = {"uz": "[^aeiou]yeva?$", "ne": "[ा-ौ]्", "bg": "-"}
ENDINGS = [("ов", "ова"), ("ев", "ева"), ("ин", "ина"), ("ски", "ска"), ("цки", "цка"), ("шки", "шка"),
           ("чки", "чка")]
POLISH = [("ski", "ska"), ("cki", "cka"), ("dzki", "dzka")]


def clean(name, code):
    """The name in NFC, or nothing when it does not belong into the culture's script."""
    name = unicodedata.normalize("NFC", " ".join(str(name).replace("_", " ").split()))
    for wrong, right in SPELLING.get(code, ()):
        name = re.sub(wrong, right, name)
    script = SCRIPTS.get(code, "LATIN")
    extra = PUNCTUATION.get(script, " ")
    if not name or name in UNWANTED or len(name) > 30:
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
    # A dot ends an abbreviation, which is no name.
    return None if "." in name and script == "LATIN" else name


def merge(sources, tops, code, mass, dropped=()):
    """One list of names with whole weights from 1.

    Names with a weight keep it; those that only the other source has share a tenth of the whole. Where
    no source has weights, a name that both know counts four times. The hand list is sorted by
    how common its names are and gets the share `mass` where the sources have no weights. No name
    is rarer than a tenth of the average, so that each appears.
    """
    cleaned = [{clean(name, code): weight for name, weight in source.items()} for source in sources]
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
    add_tops(weights, [top for top in tops if top not in dropped], 0 if known else mass)
    floor = sum(weights.values()) / len(weights) / 10 if weights else 0
    weights = {name: max(weight, floor) for name, weight in weights.items()}
    return scaled(weights)


def add_tops(weights, tops, mass):
    base = sum(weights.values()) or 1
    share = [1 / (rank + 7) for rank in range(len(tops))]
    total = base * mass / (1 - mass) / sum(share) if tops else 0
    for top, part in zip(tops, share):
        weights[top] = weights.get(top, 0) + part * total


def scaled(weights):
    """Weights as quarter powers of two, counted from the rarest, as they are packed."""
    lowest = min(weights.values(), default=1)
    return {name: min(60, round(4 * math.log2(weight / lowest))) for name, weight in weights.items()}


def irish(surname):
    """The form that an unmarried woman bears: Ó Caoin is Ní Chaoin, Mac Dónaill is Nic Dhónaill."""
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
    """The form that a woman bears, or nothing where the rule gives none."""
    for masculine, form in endings:
        if surname.endswith(masculine):
            return surname[:-len(masculine)] + form
    return None
