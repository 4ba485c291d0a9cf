use jiff::civil::{Date, date};

use super::imprint;
use super::number::Number;
use super::schemes::{READY, Reject};
use super::*;
use crate::model::seed::Seed;

fn check(kind: Kind, country: &str, text: &str) -> Verdict {
    find(country, kind).unwrap().check(text, date(2026, 11, 20))
}

#[test]
fn every_form_compiles_and_generated_numbers_pass_their_check() {
    let today = date(2026, 11, 20);
    for ready in READY.iter() {
        let scheme = ready.scheme;
        assert!(ready.form().is_some(), "{} {}", scheme.country, scheme.name);
        let mut random = Seed::parse("numbers").unwrap().random(scheme.country, scheme.name);
        for _ in 0..200 {
            let text = ready.make(&mut random, Wanted::default());
            let text = text.unwrap_or_else(|| panic!("{} {}", scheme.country, scheme.name));
            assert_eq!(ready.check(&text, today), Ok(()), "{text}");
        }
    }
}

#[test]
fn countries_match_the_specification() {
    let vat = countries(Kind::Vat);
    // The one-stop shop has two separate lists.
    assert_eq!(vat.iter().filter(|code| !["EU", "IM"].contains(*code)).count(), 84, "{vat:?}");
    let person = countries(Kind::Person);
    assert_eq!(person.len(), 60, "{person:?}");
}

#[test]
fn published_tax_numbers_are_valid() {
    for (country, text) in [
        ("AT", "ATU13585627"),
        ("AU", "83 914 571 673"),
        ("BE", "BE 428759497"),
        ("BG", "BG 175 074 752"),
        ("BR", "16.727.230/0001-97"),
        ("BY", "200988541"),
        ("CH", "CHE-107.787.577 IVA"),
        ("CL", "12.531.909-2"),
        ("CN", "91110000600037341L"),
        ("CY", "CY-10259033P"),
        ("CZ", "CZ 25123891"),
        ("DE", "DE136695976"),
        ("DK", "DK 13585628"),
        ("EE", "EE 100 931 558"),
        ("EL", "EL 094259216"),
        ("ES", "ES B-58378431"),
        ("FI", "FI 20774740"),
        ("FR", "Fr 40 303 265 045"),
        ("GB", "GB 980 7806 84"),
        ("HR", "HR 33392005961"),
        ("HU", "HU-12892312"),
        ("IE", "IE 6433435F"),
        ("IE", "IE 8D79739I"),
        ("IT", "IT 00743110157"),
        ("LT", "LT 119511515"),
        ("LU", "LU 150 274 42"),
        ("LV", "LV 4000 3521 600"),
        ("MC", "FR 53 0000 04605"),
        ("MT", "MT 1167-9112"),
        ("NL", "NL 0044.95.445.B.01"),
        ("NO", "NO 995 525 828 MVA"),
        ("NZ", "49-091-850"),
        ("PL", "PL 8567346215"),
        ("PT", "PT 501 964 843"),
        ("RO", "RO 185 472 90"),
        ("RS", "101134702"),
        ("RU", "7827004526"),
        ("SE", "SE 123456789701"),
        ("SI", "SI 5022 3054"),
        ("SK", "SK 202 274 96 19"),
        ("TR", "4540536920"),
        ("TW", "00501503"),
        ("UA", "32855961"),
        ("UY", "21-100342-001-7"),
        ("VE", "V-11470283-4"),
        ("VN", "0100233488"),
        ("IN", "27AAPFU0939F1ZV"),
        ("JP", "5-8356-7825-6246"),
        ("SG", "S16FC0121D"),
        ("SG", "00192200M"),
        ("ZA", "0001339050"),
    ] {
        assert_eq!(check(Kind::Vat, country, text), Ok(()), "{country} {text}");
    }
}

#[test]
fn published_identity_numbers_are_valid() {
    for (country, text) in [
        ("AT", "1237 010180"),
        ("BE", "85.07.30-033 28"),
        ("BG", "752316 926 3"),
        ("BR", "390.533.447-05"),
        ("CA", "123-456-782"),
        ("CH", "756.9217.0769.85"),
        ("CN", "11010519491231002X"),
        ("CZ", "710319/2745"),
        ("DE", "36 574 261 809"),
        ("DK", "211062-5629"),
        ("EE", "36805280109"),
        ("ES", "54362315-K"),
        ("ES", "X-5253868-R"),
        ("FI", "131052-308T"),
        ("FR", "2 95 10 99 126 111 93"),
        ("FR", "30 23 217 600 053"),
        ("GB", "943-476-5870"),
        ("GB", "1955839661"),
        ("GB", "AB 12 34 56 C"),
        ("GR", "01013099997"),
        ("IE", "6433435F"),
        ("IL", "3933742-3"),
        ("IN", "234123412346"),
        ("IN", "ACUPA7085R"),
        ("IS", "450401-3150"),
        ("IT", "RCCMNL83S18D969H"),
        ("KR", "971013-9019902"),
        ("LT", "33309240064"),
        ("LV", "161175-19997"),
        ("MU", "J2906201304089"),
        ("MX", "BOXW310820HNERXN09"),
        ("MY", "770305-02-1234"),
        ("NL", "1112.22.333"),
        ("NO", "151086 95088"),
        ("PE", "10117410-2"),
        ("PL", "44051401359"),
        ("PT", "00000000 0 ZZ4"),
        ("RO", "1630615123457"),
        ("SE", "880320-0016"),
        ("SI", "0101006500006"),
        ("SK", "710319/2745"),
        ("TH", "1-2345-45678-78-1"),
        ("TR", "17291716060"),
        ("UA", "1759013776"),
        ("US", "536-90-4399"),
        ("US", "912-90-3456"),
        ("ZA", "7503305044089"),
    ] {
        assert_eq!(check(Kind::Person, country, text), Ok(()), "{country} {text}");
    }
}

#[test]
fn failed_step_of_the_check_is_named() {
    let message = |text: &str| check(Kind::Vat, "DE", text).unwrap_err().to_string();
    assert_eq!(message("DE13669597"), "The USt-IdNr has the wrong length.");
    assert_eq!(message("DE036695976"), "The USt-IdNr has the wrong format.");
    assert_eq!(message("DE136695977"), "The USt-IdNr has a check digit mismatch.");
    let message = check(Kind::Vat, "IT", "00743119507").unwrap_err().to_string();
    assert_eq!(message, "The P. IVA contains an unknown component.");
}

#[test]
fn prefixes_and_separators_are_optional() {
    for text in ["U13585627", "ATU13585627", "at u 1358-5627", "AT.U13585627"] {
        assert_eq!(check(Kind::Vat, "at", text), Ok(()), "{text}");
    }
    assert_eq!(check(Kind::Vat, "BE", "(0)428.759.497"), Ok(()));
    assert_eq!(check(Kind::Vat, "XI", "XI 980780684"), Ok(()));
    assert_eq!(check(Kind::Vat, "UK", "980780684"), Ok(()));
    assert!(find("ZZ", Kind::Vat).is_none());
}

#[test]
fn short_spellings_in_the_specification_are_padded() {
    for text in ["1-613-584", "01-0613-0584", "1-0613-0584", "10613-0584", "106130584"] {
        assert_eq!(check(Kind::Person, "CR", text), Ok(()), "{text}");
    }
    for text in ["1-613-58412", "1-613", "--", "1--584"] {
        assert!(check(Kind::Person, "CR", text).is_err(), "{text}");
    }
    for text in ["18", "0000 0001-8", "3933742-3"] {
        assert_eq!(check(Kind::Person, "IL", text), Ok(()), "{text}");
    }
    for text in ["0", "000000000", "19"] {
        assert!(check(Kind::Person, "IL", text).is_err(), "{text}");
    }
    for (country, text) in [("EU", "372022452"), ("EU", "EU 372022452"), ("eu", "eu372-022-452")] {
        assert_eq!(check(Kind::Vat, country, text), Ok(()), "{text}");
    }
    assert_eq!(check(Kind::Vat, "IM", "IM3720000224"), Ok(()));
    assert_eq!(check(Kind::Vat, "IM", "3720000224"), Ok(()));
    assert!(check(Kind::Vat, "EU", "IM372022452").is_err());
    assert!(check(Kind::Vat, "EU", "999022452").is_err());
}

#[test]
fn lithuanian_numbers_encode_centuries_like_estonian_ones() {
    for text in ["18501011237", "99999999997"] {
        assert_eq!(check(Kind::Person, "LT", text), Ok(()), "{text}");
    }
    // The number doesn't contain a date, but this type of number requires one.
    assert!(check(Kind::Person, "LT", "79999999993").is_err());
}

#[test]
fn length_between_two_valid_ones_is_rejected() {
    for (country, text) in
        [("DZ", "1".repeat(17)), ("RU", "1".repeat(11)), ("MX", "ÑÑÑ800101ABC12".to_owned())]
    {
        let reject = check(Kind::Vat, country, &text).unwrap_err();
        assert!(matches!(reject, Reject::Length(_)), "{country} {reject}");
    }
    assert!(matches!(check(Kind::Vat, "MX", "ÑÑÑÑ80010112"), Err(Reject::Format(_))));
}

/// Returns whether a number has the same check digit that we would generate.
fn complete(country: &str, kind: Kind, text: &str) -> bool {
    let scheme = find(country, kind).unwrap().0[0].scheme;
    scheme.make_rule.unwrap()(&Number::new(text, date(2026, 11, 20))).is_ok()
}

#[test]
fn generated_numbers_have_check_digits_that_are_not_enforced() {
    for (country, kind, right, lenient) in [
        ("DK", Kind::Person, "2110625629", "2110625628"),
        ("GB", Kind::Vat, "980780684", "264940596"),
        ("IE", Kind::Vat, "1234567WH", "1234567DK"),
        ("KR", Kind::Vat, "1168200276", "1168200277"),
        ("MX", Kind::Vat, "GODE561231GR8", "GODE561231GR7"),
        ("MX", Kind::Vat, "SAT970701NN3", "SAT970701NNA"),
        ("TW", Kind::Vat, "10458575", "10458574"),
    ] {
        assert_eq!(check(kind, country, lenient), Ok(()), "{country}");
        assert!(complete(country, kind, right) && !complete(country, kind, lenient), "{country}");
        let schemes = find(country, kind).unwrap();
        let mut random = Seed::parse("complete").unwrap().random(country, "");
        for _ in 0..100 {
            let text = schemes.make(&mut random, Wanted::default()).unwrap();
            assert!(complete(country, kind, &text), "{country} {text}");
        }
    }
}

/// Returns the countries with this kind of number, sorted by code.
fn countries(kind: Kind) -> Vec<&'static str> {
    let of_kind = READY.iter().filter(|ready| ready.scheme.is_for(kind));
    let mut codes: Vec<_> = of_kind.map(|ready| ready.scheme.country).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Generates a number for a person with this birth date and sex.
fn made_for(country: &str, born: Date, sex: Sex) -> String {
    let schemes = find(country, Kind::Person).unwrap();
    let mut random = Seed::parse("persons").unwrap().random(country, "");
    schemes.make(&mut random, Wanted { born: Some(born), sex: Some(sex), place: None }).unwrap()
}

#[test]
fn numbers_encode_the_requested_birth_date_and_sex() {
    let (old, young) = (date(1947, 3, 9), date(2009, 12, 31));
    for (country, woman, man) in [
        ("BE", "470309", "091231"),
        ("BG", "470309", "095231"),
        ("CN", "19470309", "20091231"),
        ("CZ", "475309", "091231"),
        ("DK", "090347", "311209"),
        ("EE", "4470309", "5091231"),
        ("FI", "090347-", "311209A"),
        ("FR", "24703", "10912"),
        ("GR", "090347", "311209"),
        ("IS", "090347", "311209"),
        ("LT", "4470309", "5091231"),
        ("LV", "090347", "311209"),
        ("MY", "470309", "091231"),
        ("NO", "090347", "311209"),
        ("PL", "470309", "093231"),
        ("RO", "2470309", "5091231"),
        ("SE", "19470309", "20091231"),
        ("SI", "0903947", "3112009"),
        ("UA", "17234", "40177"),
        ("ZA", "470309", "091231"),
    ] {
        let (made_woman, made_man) =
            (made_for(country, old, Sex::Female), made_for(country, young, Sex::Male));
        let at = if country == "CN" { 6 } else { 0 };
        assert!(made_woman[at..].starts_with(woman), "{country} {made_woman}");
        assert!(made_man[at..].starts_with(man), "{country} {made_man}");
    }
    assert_eq!(&made_for("IT", old, Sex::Female)[6..11], "47C49");
    assert_eq!(&made_for("AT", young, Sex::Male)[4..], "311209");
    assert_eq!(&made_for("KR", young, Sex::Male)[..7], "0912313");
    assert_eq!(&made_for("ID", old, Sex::Female)[6..12], "490347");
    assert_eq!(&made_for("MX", old, Sex::Female)[4..11], "470309M");
    assert_eq!(&made_for("LV", date(2020, 1, 1), Sex::Male)[..2], "32");
    // In Norway, the ninth digit is odd for men, and in Pakistan the last one.
    for (country, place) in [("NO", 8), ("PK", 12)] {
        let sex = |sex| made_for(country, old, sex).as_bytes()[place] % 2;
        assert_eq!((sex(Sex::Male), sex(Sex::Female)), (1, 0), "{country}");
    }
}

#[test]
fn births_in_the_future_are_only_rejected_in_denmark() {
    let to_come = date(2026, 11, 21);
    for country in "BG CN CU CZ EE FI IS KR LT MX NO PL RO SE SI SK UA".split(' ') {
        let text = made_for(country, to_come, Sex::Female);
        assert_eq!(check(Kind::Person, country, &text), Ok(()), "{country} {text}");
    }
    for (country, text) in [
        ("BG", "7542011030"),
        ("EE", "81205280108"),
        ("FI", "131052A308T"),
        ("KR", "991231-4019906"),
        ("LT", "70501010012"),
        ("LT", "89912311230"),
        ("MX", "TOMA880125HMNRRNO2"),
    ] {
        assert_eq!(check(Kind::Person, country, text), Ok(()), "{country} {text}");
    }
    let danish = check(Kind::Person, "DK", &made_for("DK", to_come, Sex::Female));
    assert!(matches!(danish, Err(Reject::Component(_))), "{danish:?}");
}

#[test]
fn generated_czech_numbers_since_1986_are_divisible_by_11() {
    for country in ["CZ", "SK"] {
        let schemes = find(country, Kind::Person).unwrap();
        let mut random = Seed::parse("eleven").unwrap().random(country, "");
        let mut exceptions = 0;
        for year in (1954..2020).cycle().take(6_600) {
            let wanted = Wanted { born: Some(date(year, 5, 9)), ..Wanted::default() };
            let text = schemes.make(&mut random, wanted).unwrap();
            if !text.parse::<u64>().unwrap().is_multiple_of(11) {
                assert!(year < 1986, "{country} {text}");
                exceptions += 1;
            }
        }
        assert!(exceptions < 20, "{country} {exceptions}");
    }
}

#[test]
fn checks_are_as_strict_as_the_issuing_offices() {
    for (kind, country, right, wrong) in [
        // The same digit three times in a row.
        (Kind::Person, "DE", "65929970489", "11123456786"),
        // The check digits are greater than 37.
        (Kind::Vat, "MT", "11679112", "11679149"),
        // The check digits are greater than 97, or 0 instead of 97.
        (Kind::Vat, "GB", "980780684", "123460698"),
        (Kind::Vat, "BE", "0428759497", "0388368598"),
        (Kind::Vat, "BE", "0428759497", "0428759400"),
        // Month 16, and 31 February.
        (Kind::Person, "AT", "1237010180", "1230311680"),
        // The check character is a digit or an A.
        (Kind::Vat, "MX", "CCM650122I06", "CCM650122I0B"),
        // A foreign entity with a digit at the end.
        (Kind::Vat, "ES", "N0032484H", "N00324848"),
        (Kind::Vat, "ES", "B58378431", "B5837843A"),
        // All digits are the same.
        (Kind::Person, "BR", "39053344705", "11111111111"),
        (Kind::Vat, "BR", "12ABC34501DE35", "11111111111180"),
    ] {
        assert_eq!(check(kind, country, right), Ok(()), "{country} {right}");
        assert!(check(kind, country, wrong).is_err(), "{country} {wrong}");
    }
    assert_eq!(check(Kind::Vat, "MX", "XAXX010101000"), Ok(()));
}

#[test]
fn numbers_of_persons_and_companies_have_their_own_formats() {
    let mut random = Seed::parse("kind").unwrap().random("test", "");
    for (country, kind, form) in [
        ("AD", Kind::Person, r"^[EF]"),
        ("AD", Kind::Vat, r"^[AL]7"),
        ("AR", Kind::Person, r"^[1-9]\d{6,7}$"),
        ("CL", Kind::Person, r"^([5-9]|[12]\d)\d{6}[\dK]$"),
        ("CL", Kind::Vat, r"^7\d{7}[\dK]$"),
        ("CO", Kind::Person, r"^([1-9]\d{8}|1[01]\d{9})$"),
        ("CO", Kind::Vat, r"^[89]\d{9}$"),
        ("MD", Kind::Person, r"^[02]"),
        ("MD", Kind::Vat, r"^1"),
        ("RU", Kind::Person, r"^\d{12}$"),
        ("RU", Kind::Vat, r"^\d{10}$"),
        ("SV", Kind::Person, r"^\d{4}([0-2]\d|3[01])(0[1-9]|1[0-2])\d{6}$"),
        ("VE", Kind::Person, r"^[VE]"),
        ("VE", Kind::Vat, r"^J"),
    ] {
        let form = regex_automata::meta::Regex::new(form).unwrap();
        for _ in 0..200 {
            let made = find(country, kind).unwrap().make(&mut random, Wanted::default()).unwrap();
            assert!(form.is_match(&made), "{country} {made}");
            assert_eq!(check(kind, country, &made), Ok(()), "{country} {made}");
        }
    }
}

#[test]
fn generated_french_and_monegasque_numbers_do_not_start_like_the_prefix() {
    for country in ["FR", "MC"] {
        let schemes = find(country, Kind::Vat).unwrap();
        let mut random = Seed::parse("key").unwrap().random(country, "");
        for _ in 0..20_000 {
            let made = schemes.make(&mut random, Wanted::default()).unwrap();
            assert!(made.len() == 11 && !made.starts_with("FR"), "{country} {made}");
        }
    }
}

#[test]
fn imprints_keep_length_and_ascii() {
    // The number stays ASCII and doesn't get longer.
    let mut text = b"00000000000".to_vec();
    let person = Wanted::default().person(&mut Seed::parse("x").unwrap().random("", ""));
    imprint::belgium(&mut text, &person);
    assert!(text.len() == 11 && text.iter().all(u8::is_ascii_digit));
}

#[test]
fn rare_groups_of_persons_have_their_real_share() {
    let mut random = Seed::parse("shares").unwrap().random("test", "");
    for (country, form, percent) in [
        ("FR", r"^.{5}2[AB]", 0.0..1.2),
        ("ES", r"^[XYZ]", 9.0..15.0),
        ("ID", r"^3[1-6]", 50.0..62.0),
        ("PK", r"^3", 47.0..59.0),
        ("MX", r"^.{11}NE", 0.2..2.5),
        ("CA", r"^9", 2.0..6.5),
        ("CN", r"^11", 8.0..19.0),
    ] {
        let form = regex_automata::meta::Regex::new(form).unwrap();
        let schemes = find(country, Kind::Person).unwrap();
        let made = (0..1_500).map(|_| schemes.make(&mut random, Wanted::default()).unwrap());
        let share = made.filter(|number| form.is_match(number)).count() as f64 / 15.0;
        assert!(percent.contains(&share), "{country} {share}");
    }
}
