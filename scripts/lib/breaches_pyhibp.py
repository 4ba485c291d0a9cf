"""Runs the PyPI package `pyhibp` as published against a breaches server.

Arguments: the server's base URL and the test domain.
"""

import sys

import pyhibp

base, domain = sys.argv[1:]
pyhibp.HIBP_API_BASE_URI = f"{base}/api/v3/"


def at(alias):
    return f"{alias}@{domain}"


def names(breaches):
    return [breach["Name"] for breach in breaches]


def raises(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("no error")


pyhibp.set_user_agent(ua="quintet-clients")
pyhibp.set_api_key(key="0" * 32)
found = pyhibp.get_account_breaches(account=at("multiple-breaches"), truncate_response=True)
assert found == [{"Name": "Acmegram"}, {"Name": "Borealis"}, {"Name": "Cobaltbay"}], found
found = pyhibp.get_account_breaches(account=at("account-exists"), domain="ACMEGRAM.example")
assert names(found) == ["Acmegram"] and found[0]["IsVerified"] is True, found
assert pyhibp.get_account_breaches(account=at("unverified-breach")) == []
found = pyhibp.get_account_breaches(account=at("unverified-breach"), include_unverified=True)
assert names(found) == ["Inkwell"], found
assert pyhibp.get_account_breaches(account=at("not-active-breach")) == []
assert len(pyhibp.get_all_breaches()) == 8
assert names(pyhibp.get_all_breaches(domain="borealis.example")) == ["Borealis"]
assert pyhibp.get_all_breaches(domain="not a domain") == []
assert pyhibp.get_single_breach(breach_name="Acmegram")["Title"] == "Acmegram"
assert not pyhibp.get_single_breach(breach_name="Nothing")
assert pyhibp.get_pastes(email_address=at("account-exists"))[0]["Id"] == "T3stP4st"
assert not pyhibp.get_pastes(email_address=at("opt-out"))
assert pyhibp.get_data_classes() == ["Email addresses", "Passwords"]
assert "401" in raises(pyhibp.get_account_breaches, account="someone@example.com")
assert "400" in raises(pyhibp.get_account_breaches, account=at("bad address"))
print("pyhibp: ok")
