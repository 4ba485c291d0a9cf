//! Card brands issued in each country.

use super::number::find;
use super::table::CardType;

/// Brands by country, with rounded market shares. The last row covers all remaining countries.
const ISSUED: &[(&str, &[(&str, u16)])] = &[
    (
        "US",
        &[
            ("Visa", 51),
            ("Mastercard", 25),
            ("AmericanExpress", 14),
            ("Discover", 9),
            ("DinersClub", 1),
        ],
    ),
    ("CA", &[("Visa", 52), ("Mastercard", 38), ("AmericanExpress", 10)]),
    ("MX", &[("Visa", 55), ("Mastercard", 37), ("AmericanExpress", 8)]),
    (
        "BR",
        &[("Mastercard", 47), ("Visa", 34), ("Elo", 14), ("Hipercard", 3), ("AmericanExpress", 2)],
    ),
    ("AR", &[("Visa", 52), ("Mastercard", 37), ("Naranja", 7), ("AmericanExpress", 4)]),
    ("DK", &[("Visa", 40), ("Dankort", 30), ("Mastercard", 30)]),
    ("RU", &[("Mir", 63), ("Visa", 20), ("Mastercard", 17)]),
    ("TR", &[("Mastercard", 42), ("Visa", 37), ("Troy", 20), ("AmericanExpress", 1)]),
    (
        "IN",
        &[
            ("RuPay", 40),
            ("Visa", 35),
            ("Mastercard", 23),
            ("AmericanExpress", 1),
            ("DinersClub", 1),
        ],
    ),
    ("CN", &[("UnionPay", 92), ("Visa", 5), ("Mastercard", 3)]),
    ("HK", &[("Visa", 48), ("Mastercard", 32), ("UnionPay", 15), ("AmericanExpress", 5)]),
    ("TW", &[("Visa", 46), ("Mastercard", 36), ("Jcb", 18)]),
    (
        "JP",
        &[("Visa", 48), ("Jcb", 30), ("Mastercard", 16), ("AmericanExpress", 5), ("DinersClub", 1)],
    ),
    (
        "KR",
        &[("Visa", 45), ("Mastercard", 43), ("UnionPay", 6), ("AmericanExpress", 4), ("Jcb", 2)],
    ),
    ("TH", &[("Visa", 61), ("Mastercard", 30), ("UnionPay", 5), ("Jcb", 4)]),
    ("VN ID", &[("Visa", 52), ("Mastercard", 38), ("Jcb", 10)]),
    ("NG", &[("Verve", 45), ("Mastercard", 33), ("Visa", 22)]),
    ("PK BD NP", &[("Visa", 48), ("Mastercard", 37), ("UnionPay", 15)]),
    // Iranian banks don't issue Visa, Mastercard or similar brands. Only UnionPay is accepted
    // abroad.
    ("IR", &[("UnionPay", 1)]),
    ("IL", &[("Visa", 53), ("Mastercard", 35), ("DinersClub", 6), ("AmericanExpress", 6)]),
    ("AU NZ", &[("Visa", 58), ("Mastercard", 35), ("AmericanExpress", 7)]),
    ("FR", &[("Visa", 57), ("Mastercard", 39), ("AmericanExpress", 4)]),
    ("GB IE", &[("Visa", 66), ("Mastercard", 30), ("AmericanExpress", 4)]),
    ("DE AT CH LI", &[("Mastercard", 50), ("Visa", 43), ("AmericanExpress", 7)]),
    ("", &[("Visa", 54), ("Mastercard", 43), ("AmericanExpress", 3)]),
];

/// Returns the brands issued in a country, with weights.
pub fn issued(country: &str) -> Vec<(&'static CardType, u16)> {
    let own = ISSUED.iter().find(|row| row.0.split(' ').any(|code| code == country));
    let brands = own.or(ISSUED.last()).map_or(&[][..], |row| row.1);
    brands.iter().filter_map(|(name, share)| Some((find(name)?, *share))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_brand_is_known_and_old_or_foreign_ones_are_not_issued() {
        for (countries, brands) in ISSUED {
            let country = countries.split(' ').next().unwrap();
            assert_eq!(issued(country).len(), brands.len(), "{country}");
        }
        let names =
            |country: &str| issued(country).iter().map(|one| one.0.name).collect::<Vec<_>>();
        assert_eq!(names("SE"), ["Visa", "Mastercard", "AmericanExpress"]);
        assert!(names("BR").contains(&"Elo") && !names("BR").contains(&"Mir"));
    }
}
