//! Currency symbols and names.

/// Maximum length of a symbol in characters.
const CHARACTERS: usize = 4;

/// Currency abbreviations in lower case, without the final dot.
const WORDS: [&str; 43] = [
    "bs",
    "bd",
    "ден",
    "дин",
    "din",
    "fr",
    "ft",
    "грн",
    "jd",
    "kč",
    "kčs",
    "kd",
    "km",
    "kn",
    "kr",
    "krb",
    "kz",
    "l",
    "le",
    "lei",
    "ls",
    "lt",
    "лв",
    "lv",
    "nt",
    "p",
    "q",
    "r",
    "rm",
    "rp",
    "rs",
    "руб",
    "р",
    "sfr",
    "tk",
    "tl",
    "сом",
    "zł",
    "円",
    "元",
    "圓",
    "원",
    "บาท",
];

/// Active ISO 4217 currency codes.
const CODES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL \
    BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD \
    FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS \
    KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK \
    MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD \
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX \
    USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

/// Returns whether a string is an ISO 4217 code.
pub fn is_code(text: &str) -> bool {
    text.len() == 3 && CODES.split_whitespace().any(|code| code == text)
}

/// Returns whether a string is a currency symbol: a sign (possibly with letters, as in `US$`), a
/// code, or a known abbreviation.
pub fn is_symbol(text: &str) -> bool {
    if text.chars().count() > CHARACTERS || text.contains(char::is_whitespace) {
        return false;
    }
    let signs = text.chars().filter(|c| is_sign(*c)).count();
    let rest_is_letters = text.chars().all(|c| is_sign(c) || c.is_alphabetic());
    let word = text.strip_suffix('.').unwrap_or(text).to_lowercase();
    (signs == 1 && rest_is_letters)
        || is_code(&text.to_ascii_uppercase())
        || WORDS.contains(&word.as_str())
}

fn is_sign(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '֏' | '؋' | '৳' | '฿' | '៛' | '\u{20a0}'..='\u{20cf}' | '﷼' | '＄' | '￡' | '￥' | '￦')
}
