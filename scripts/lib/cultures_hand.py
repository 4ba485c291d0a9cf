"""Reads the hand lists, services/generator/data/hand/CODE.txt.

A line is `key: value`; lines that begin with blanks continue the value. Lists are
separated by semicolons; `item*3` weighs three times as much as `item`.
"""


def read(path):
    values, key = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            values[key] += " " + line.strip()
        else:
            key, value = line.split(":", 1)
            values[key] = value.strip()
    return values


def read_all(folder):
    hands = {path.stem: read(path) for path in sorted(folder.glob("*.txt"))}
    for hand in hands.values():
        if "same as" in hand:
            own = dict(hand)
            hand.update(hands[hand["same as"]])
            hand.update(own)
    for hand in hands.values():
        for key, value in hand.items():
            if value.startswith("@"):
                hand[key] = hands[value[1:]][key]
    return hands


def items(hand, key):
    """The items of a list, without weights."""
    return [item for item, _ in weighted(hand, key)]


def weighted(hand, key):
    """The items of a list with their weights."""
    rows = []
    for item in filter(None, (item.strip() for item in hand.get(key, "").split(";"))):
        text, star, weight = item.rpartition("*")
        rows.append((text, int(weight)) if star and weight.isdigit() else (item, 1))
    return rows


def cities(hand):
    """Rows of city, region (or nothing) and alternatives of postcodes, in the order of size."""
    rows = []
    for item in items(hand, "cities"):
        place, _, postcodes = item.partition("=")
        city, _, region = place.partition("/")
        rows.append((city, region, postcodes))
    return rows
