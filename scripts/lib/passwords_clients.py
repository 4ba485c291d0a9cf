"""PyPI pwned-passwords-django and pyhibp against a range service: passwords_clients.py BASE_URL"""

import os
import sys

base = sys.argv[1]
expected = int(os.environ["EXPECTED"])
unlisted = "not in the list: 8d1f2c"


def django():
    from django.conf import settings

    settings.configure(PWNED_PASSWORDS={}, USE_I18N=False)
    from pwned_passwords_django import api

    for padding in (False, True):
        client = api.PwnedPasswords()
        client.api_endpoint = f"{base}/range/"
        client.add_padding = padding
        assert client.check_password("password") == expected
        assert client.check_password(unlisted) == 0


def pyhibp():
    import pyhibp as module
    from pyhibp import pwnedpasswords

    module.set_user_agent(ua="acceptance check")
    pwnedpasswords.PWNED_PASSWORDS_API_BASE_URI = f"{base}/"
    for padding in (False, True):
        found = pwnedpasswords.is_password_breached(password="password", add_padding=padding)
        assert found == expected, found
        assert pwnedpasswords.is_password_breached(password=unlisted, add_padding=padding) == 0


django()
pyhibp()
