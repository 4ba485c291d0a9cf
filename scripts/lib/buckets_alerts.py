"""Saves alerts with webhooks for the first key: buckets_alerts.py DATABASE COUNT

Words are those of the example synthetic_files: 6 in 10 searches have one word, the others also an extension, a second
word, a phrase, an expression or a bucket. Nothing is sent, because no server runs.
"""

import random
import re
import sqlite3
import sys

database, count = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
source = open("services/buckets/examples/synthetic_files.rs").read()
WORDS, EXTENSIONS = (
    re.findall(r'"([a-z.]+)"', re.search(rf"const {name}: .*?= \[(.*?)\];", source, re.S)[1])
    for name in ("WORDS", "EXTENSIONS")
)
dice = random.Random(7)


def word():
    def small(bound):
        return int(dice.random() ** 3 * bound)

    return WORDS[small(64)] if dice.random() < 0.6 else f"{dice.choice(WORDS)}{small(200_000)}"


def query():
    chance, first = dice.random(), word()
    if chance < 0.6:
        return f"keywords={first}"
    if chance < 0.75:
        return f"keywords={first}&extensions={dice.choice(EXTENSIONS)}"
    if chance < 0.85:
        return f"keywords={first}+{word()}"
    if chance < 0.9:
        return f"keywords=%22{first}-{word()}%22"
    if chance < 0.95:
        return f"regexp=1&keywords=.*{first}.*%5C.{dice.choice(['sql', 'log', 'zip', 'pdf'])}"
    return f"keywords={first}&buckets={1 + dice.randrange(20_000)}"


(key,) = database.execute("SELECT id FROM api_key ORDER BY id LIMIT 1").fetchone()
secret = "whsec_" + "A" * 32
rows = [(key, f"alert {number}", query(), "https://example.org/", secret) for number in range(count)]
database.executemany(
    "INSERT INTO alert (key_id, name, query, webhook, secret, since_generation, since_id, created_at)"
    " VALUES (?, ?, ?, ?, ?, 1, 0, 1)",
    rows,
)
database.commit()
