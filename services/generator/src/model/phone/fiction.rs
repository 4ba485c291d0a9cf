//! Telephone number ranges that regulators reserve for films, books and examples.

/// The fictional ranges of a region, as patterns for national numbers.
pub(super) struct Fiction {
    pub(super) code: &'static str,
    pub(super) mobile: &'static str,
    pub(super) fixed: &'static str,
}

/// Fictional mobile numbers in Australia, which the regulator (ACMA) lists individually.
const AUSTRALIAN_MOBILE: &str = "49157(?:0006|0110|015[6-9]|0313|0737|1266|1491|1804|2549|2665|2983|\
     3087|3770|4118|4632|5254|5789|6398|6801|7426|7644|8148|8888|8957|9212|9455|9760)";

/// Fictional mobile numbers in Germany, as published by the regulator (Bundesnetzagentur).
const GERMAN_MOBILE: &str = "17139200[0-9]{2}|176040690[0-9]{2}|17299(?:25904|68532|73185|73186|80752)|\
     174(?:9091317|9464308)|152(?:28817386|28895456|54599371)";

/// All regions for which such ranges are known, sorted by code.
pub(super) const FICTION: &[Fiction] = &[
    Fiction { code: "AU", mobile: AUSTRALIAN_MOBILE, fixed: r"[2378](?:5550|7010)\d{4}" },
    Fiction { code: "CA", mobile: "", fixed: r"[2-9]\d\d55501\d\d" },
    Fiction {
        code: "DE",
        mobile: GERMAN_MOBILE,
        fixed: r"(?:3023125|6990009|4066969|2214710|8999998)\d{3}",
    },
    Fiction { code: "FR", mobile: r"63998\d{4}", fixed: r"(?:19900|26191|35301|46571|53649)\d{4}" },
    Fiction {
        code: "GB",
        mobile: r"7700900\d{3}",
        fixed: r"(?:(?:11[3-8]|1[2-6]1)4960|1914980|2079460|2896496|2920180|1632960)\d{3}",
    },
    Fiction { code: "IE", mobile: "", fixed: r"2091\d{5}" },
    Fiction {
        code: "SE",
        mobile: r"7017406(?:0[5-9]|[1-9]\d)",
        fixed: r"(?:3139006|4062804|8465004|9803192)[0-4]\d",
    },
    Fiction { code: "US", mobile: "", fixed: r"[2-9]\d\d55501\d\d" },
];

/// Returns the fictional ranges of a region, if any are known.
pub(super) fn of(code: &str) -> Option<&'static Fiction> {
    FICTION.iter().find(|fiction| fiction.code == code)
}

/// Returns the codes of all regions with fictional ranges.
pub fn regions() -> impl Iterator<Item = &'static str> {
    FICTION.iter().map(|fiction| fiction.code)
}
