"""Checks the generator's values with independent libraries; called by scripts/clients.d/generator.

    python generator_judges.py GENERATOR COUNT [SUBJECT...]

Every generated value must be accepted. Tax and identity numbers are also changed in one place, and the generator and
python-stdnum must then agree. The table DIFFERENT lists the exceptions with their reasons.
"""
import contextlib
import importlib
import io
import json
import random
import subprocess
import sys
import warnings

import phonenumbers
import schwifty
import stdnum.bitcoin
import stdnum.iban
import stdnum.imei
import stdnum.luhn
import stdnum.us.ssn

GENERATOR, COUNT = sys.argv[1], sys.argv[2]
SUBJECTS = sys.argv[3:] or ["card", "imei", "ssn", "iban", "phone", "vat", "person", "bitcoin"]

# The schemes of python-stdnum by country. A number is valid if any of them accepts it.
VAT = {
    "AD": "ad.nrt", "AL": "al.nipt", "AR": "ar.cuit", "AT": "at.uid", "AU": "au.abn",
    "AZ": "az.voen", "BE": "be.vat", "BG": "bg.vat", "BR": "br.cnpj", "BY": "by.unp",
    "CA": "ca.bn", "CH": "ch.vat", "CL": "cl.rut", "CN": "cn.uscc", "CO": "co.nit", "CR": "cr.cpj",
    "CY": "cy.vat", "CZ": "cz.dic", "DE": "de.vat", "DK": "dk.cvr", "DO": "do.rnc", "DZ": "dz.nif",
    "EC": "ec.ruc", "EE": "ee.kmkr", "EG": "eg.tn", "ES": "es.nif", "EU": "eu.oss", "FI": "fi.alv",
    "FO": "fo.vn", "FR": "fr.tva", "GB": "gb.vat", "GH": "gh.tin", "GN": "gn.nifp",
    "GR": "gr.vat", "GT": "gt.nit", "HR": "hr.oib", "HU": "hu.anum", "ID": "id.npwp",
    "IE": "ie.vat", "IL": "il.hp", "IM": "eu.oss", "IN": "in_.gstin", "IS": "is_.vsk",
    "IT": "it.iva", "JP": "jp.cn", "KE": "ke.pin", "KR": "kr.brn", "LI": "li.peid", "LT": "lt.pvm",
    "LU": "lu.tva", "LV": "lv.pvn", "MA": "ma.ice", "MC": "mc.tva", "MD": "md.idno",
    "ME": "me.pib", "MK": "mk.edb", "MT": "mt.vat", "MX": "mx.rfc", "MZ": "mz.nuit",
    "NL": "nl.btw", "NO": "no.mva", "NZ": "nz.ird", "PE": "pe.ruc", "PL": "pl.nip", "PT": "pt.nif",
    "PY": "py.ruc", "RO": "ro.cf", "RS": "rs.pib", "RU": "ru.inn", "SE": "se.vat", "SG": "sg.uen",
    "SI": "si.ddv", "SK": "sk.dph", "SM": "sm.coe", "SN": "sn.ninea", "SV": "sv.nit",
    "TH": "th.moa", "TN": "tn.mf", "TR": "tr.vkn", "TW": "tw.ubn", "UA": "ua.edrpou",
    "US": "us.ein", "UY": "uy.rut", "VE": "ve.rif", "VN": "vn.mst", "ZA": "za.tin",
}
PERSON = {
    "AD": "ad.nrt", "AR": "ar.dni", "AT": "at.vnr", "AU": "au.tfn", "BE": "be.nn be.bis",
    "BG": "bg.egn bg.pnf", "BR": "br.cpf", "CA": "ca.sin", "CH": "ch.ssn", "CL": "cl.rut",
    "CN": "cn.ric", "CO": "co.nit", "CR": "cr.cpf cr.cr", "CU": "cu.ni", "CZ": "cz.rc",
    "DE": "de.idnr", "DK": "dk.cpr", "DO": "do.cedula", "EC": "ec.ci", "EE": "ee.ik",
    "ES": "es.dni es.nie", "FI": "fi.hetu", "FR": "fr.nir fr.nif", "GB": "gb.nhs gb.utr",
    "GR": "gr.amka", "HR": "hr.oib", "ID": "id.nik", "IE": "ie.pps", "IL": "il.idnr",
    "IN": "in_.aadhaar in_.pan", "IS": "is_.kennitala", "IT": "it.codicefiscale it.iva",
    "JP": "jp.in_", "KR": "kr.rrn", "LI": "li.peid", "LT": "lt.asmens", "LV": "lv.pvn",
    "MD": "md.idno", "MU": "mu.nid", "MX": "mx.curp", "MY": "my.nric", "NL": "nl.bsn",
    "NO": "no.fodselsnummer", "NZ": "nz.ird", "PE": "pe.cui", "PK": "pk.cnic", "PL": "pl.pesel",
    "PT": "pt.cc pt.nif", "RO": "ro.cnp", "RU": "ru.inn", "SE": "se.personnummer",
    "SI": "si.emso", "SK": "sk.rc", "SV": "sv.nit", "TH": "th.pin", "TR": "tr.tckimlik",
    "UA": "ua.rntrc", "US": "us.ssn us.itin", "VE": "ve.rif", "ZA": "za.idnr",
}

# (kind, country, test of the number): why the library differs.
DIFFERENT = [
    ("person", "GB", lambda value: value[:2].isalpha(),
     "the judge has no National Insurance numbers"),
    ("", "CZ SK", lambda value: value[2:4] > "20" and not "51" <= value[2:4] <= "62",
     "twenty more in the month is allowed since 2004, the judge takes it for any year"),
    ("", "ID", lambda value: len(value) == 16 and not regency_exists(value[2:4]),
     "the library accepts any regency of a known province"),
    ("", "ID", lambda value: len(value) == 16 and value[6:8] > "71",
     "women add 40 to the day, the judge takes the day modulo 40 and so also 72 to 99"),
    ("person", "LV", lambda value: value[0] > "3",
     "the judge has one module for persons and firms; these are firms"),
    ("person", "MX", lambda value: set(value[13:16]) & set("AEIOU"),
     "the register takes consonants there, the judge any letter"),
    ("person", "PT", lambda value: len(value) != 12,
     "the library accepts a citizen card of any length; the card has twelve characters"),
    ("vat", "ES", lambda value: value[0] in "NPQRSW" and value[8].isdigit()
     or value[0] in "ABEH" and value[8].isalpha(),
     "foreign entities and public bodies end in a letter, firms in a digit; the judge takes both"),
    ("vat", "MX", lambda value: len(value) == 13 and value[:4] in ("LOCA", "LOCO", "LOKA", "LOKO"),
     "inconvenient words of the register that the judge does not know"),
    ("person", "VE", lambda value: value[0] not in "VE",
     "the judge has one module for persons, firms and bodies; these are firms and bodies"),
    ("vat", "MX", lambda value: not importlib.import_module("stdnum.mx.rfc").is_valid(value, True),
     "the library checks the check digit only on request"),
]


def regency_exists(regency):
    return "01" <= regency <= "30" or "71" <= regency <= "79"


failures = []
# Countries without a national rule in the library are checked by length and ISO check digits only.
warnings.simplefilter("ignore")


def make(subject, group=None):
    command = [GENERATOR, "make", subject] + ([group] if group else []) + ["--count", COUNT, "--seed", "judges"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def check(subject, group, values):
    """Returns for each value whether the generator accepts it."""
    done = subprocess.run([GENERATOR, "check", subject, group], capture_output=True, text=True,
                          input="".join(value + "\n" for value in values))
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(done.stderr)
    return [line == "ok" for line in done.stdout.splitlines()]


def expect(what, values, accepts):
    """Checks that every value is accepted."""
    refused = [value for value in values if not accepts(value)]
    if refused:
        failures.append(f"{what}: {len(refused)} of {len(values)} refused, such as {refused[:3]}")
    return len(values)


def same(subject, country, names):
    """Checks that the generator and python-stdnum accept the same generated and changed numbers."""
    modules = [importlib.import_module("stdnum." + name) for name in names.split()]
    values = make(subject, country)
    chance = random.Random(country)
    values += [changed(value, chance) for value in values]
    ours = check(subject, country, values)
    made = len(values) // 2
    for place, (value, accepted) in enumerate(zip(values, ours)):
        if place < made and not accepted:
            failures.append(f"{subject} {country}: own number refused: {value}")
        judged = any(accepts(module, value) for module in modules)
        if judged != accepted and not different(subject, country, value):
            failures.append(f"{subject} {country}: {value}: generator {accepted}, judge {judged}")
    return len(values)


def accepts(module, value):
    # Some modules of the library raise on unexpected numbers, which counts as a refusal.
    with contextlib.suppress(KeyError, IndexError, ValueError):
        return module.is_valid(value)
    return False


def different(subject, country, value):
    return any(kind in ("", subject) and country in where.split() and holds(value)
               for kind, where, holds, _ in DIFFERENT)


def changed(value, chance):
    """Returns the value with one character replaced by another of its kind."""
    places = [i for i, c in enumerate(value) if c.isalnum()]
    place = chance.choice(places)
    kind = "0123456789" if value[place].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    other = chance.choice([c for c in kind if c != value[place]])
    return value[:place] + other + value[place + 1:]


def iban_accepts(value):
    with contextlib.suppress(schwifty.exceptions.SchwiftyException):
        schwifty.IBAN(value, validate_bban=True)
        return stdnum.iban.is_valid(value)
    return False


def phone_accepts(region):
    kinds = phonenumbers.PhoneNumberType
    right = (kinds.MOBILE, kinds.FIXED_LINE, kinds.FIXED_LINE_OR_MOBILE)

    def accepts(value):
        number = phonenumbers.parse(value)
        return (phonenumbers.is_valid_number_for_region(number, region)
                and phonenumbers.number_type(number) in right
                and phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) == value)
    return accepts


def run(subject):
    if subject == "imei":
        return expect("imei", make("imei"), stdnum.imei.is_valid)
    if subject == "ssn":
        return expect("ssn", make("ssn"), stdnum.us.ssn.is_valid)
    if subject == "bitcoin":
        # The library knows Bech32 but not Bech32m, which version 1 uses since BIP-350.
        values = [value for value in make("crypto", "Bitcoin") if not value.startswith("bc1p")]
        return expect("bitcoin", values, stdnum.bitcoin.is_valid)
    if subject == "card":
        brands = json.loads(BRANDS)
        return sum(expect(f"card {brand}", make("card", brand), stdnum.luhn.is_valid)
                   for brand in brands)
    if subject == "iban":
        return sum(expect(f"iban {country}", make("iban", country), iban_accepts)
                   for country in IBAN)
    if subject == "phone":
        return sum(expect(f"phone {region}", make("phone", region), phone_accepts(region))
                   for region in sorted(phonenumbers.SUPPORTED_REGIONS))
    table = {"vat": VAT, "person": PERSON}[subject]
    return sum(same(subject, country, names) for country, names in table.items())


IBAN = """AD AE AL AT AZ BA BE BG BH BI BR BY CH CR CY CZ DE DJ DK DO EE EG ES FI FK FO FR GB GE GI GL
GR GT HN HR HU IE IL IQ IS IT JO KW KZ LB LC LI LT LU LV LY MC MD ME MK MN MR MT MU NI NL NO OM PK
PL PS PT QA RO RS RU SA SC SD SE SI SK SM SO ST SV TL TN TR UA VA VG XK YE""".split()
BRANDS = """["Visa", "VisaElectron", "Mastercard", "AmericanExpress", "Discover", "DinersClub",
"Jcb", "UnionPay", "Maestro", "Mir", "Elo", "Hipercard", "Troy", "Verve", "Naranja", "RuPay",
"Uatp", "Dankort", "InstaPayment", "Laser", "Solo", "Switch"]"""

if __name__ == "__main__":
    for subject in SUBJECTS:
        count = run(subject)
        print(f"  {subject}: {count} values checked", file=sys.stderr)
    for failure in failures[:200]:
        print(failure, file=sys.stderr)
    if failures:
        sys.exit(f"error: {len(failures)} disagreements")
