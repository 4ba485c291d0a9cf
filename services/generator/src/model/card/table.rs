//! The table of card brands: issuer prefixes, lengths and codes.
//!
//! To add a brand, add a row. Its numbers are sampled from its prefixes, minus any longer prefixes
//! of other brands.

/// A payment card brand.
#[derive(Debug, PartialEq, Eq)]
pub struct CardType {
    /// The name used in responses.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Percentage of cards with this brand when no brand is requested. Brands with 0 split the
    /// remainder equally.
    pub share: u8,
    /// Issuer prefixes of generated numbers.
    pub prefixes: &'static [Prefixes],
    /// One weight per prefix. If empty, prefixes are weighted by the number of card numbers they
    /// cover.
    pub weights: &'static [u16],
    /// Prefixes inside `prefixes` to leave out.
    pub except: &'static [Prefixes],
    /// Additional prefixes that validators attribute to this brand, so that other brands don't use
    /// them.
    pub claims: &'static [Prefixes],
    /// Lengths of generated numbers, with weights.
    pub lengths: &'static [(u8, u16)],
    /// Other valid lengths, which we accept but don't generate.
    pub other_lengths: &'static [u8],
    /// Number of digits in the security code.
    pub code_length: usize,
}

/// An inclusive range of equally long prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefixes(pub u32, pub u32);

const fn one(prefix: u32) -> Prefixes {
    Prefixes(prefix, prefix)
}

const fn to(first: u32, last: u32) -> Prefixes {
    Prefixes(first, last)
}

const SIXTEEN: &[(u8, u16)] = &[(16, 1)];

/// Defaults for a row.
const PLAIN: CardType = CardType {
    name: "",
    aliases: &[],
    share: 0,
    prefixes: &[],
    weights: &[],
    except: &[],
    claims: &[],
    lengths: SIXTEEN,
    other_lengths: &[],
    code_length: 3,
};

/// All brands, in API order.
pub const CARD_TYPES: &[CardType] = &[
    CardType { name: "Visa", share: 40, prefixes: &[one(4)], other_lengths: &[13, 19], ..PLAIN },
    CardType {
        name: "VisaElectron",
        aliases: &["Electron"],
        prefixes: &[one(4026), one(417_500), one(4508), one(4844), one(4913), one(4917)],
        ..PLAIN
    },
    CardType {
        name: "Mastercard",
        aliases: &["MC"],
        share: 30,
        prefixes: &[to(51, 55), to(222_100, 272_099)],
        weights: &[88, 12],
        ..PLAIN
    },
    CardType {
        name: "AmericanExpress",
        aliases: &["Amex"],
        share: 10,
        prefixes: &[one(34), one(37)],
        weights: &[15, 85],
        lengths: &[(15, 1)],
        code_length: 4,
        ..PLAIN
    },
    CardType {
        name: "Discover",
        share: 6,
        prefixes: &[one(6011), to(644, 649), one(65)],
        weights: &[75, 10, 15],
        other_lengths: &[17, 18, 19],
        ..PLAIN
    },
    CardType {
        name: "DinersClub",
        aliases: &["Diners"],
        prefixes: &[to(300, 305), one(36), to(38, 39)],
        weights: &[15, 70, 15],
        other_lengths: &[15, 16, 17, 18, 19],
        lengths: &[(14, 1)],
        ..PLAIN
    },
    CardType { name: "Jcb", prefixes: &[to(3528, 3589)], other_lengths: &[17, 18, 19], ..PLAIN },
    CardType {
        name: "UnionPay",
        aliases: &["CUP"],
        prefixes: &[to(622_126, 622_925), to(624_000, 626_999), to(628_200, 628_899)],
        claims: &[one(62), one(81)],
        lengths: &[(16, 60), (17, 5), (18, 5), (19, 30)],
        ..PLAIN
    },
    CardType {
        name: "Maestro",
        prefixes: &[
            one(5018),
            one(5020),
            one(5038),
            one(5893),
            one(6304),
            one(6759),
            to(6761, 6763),
        ],
        claims: &[one(67)],
        lengths: &[(16, 420), (12, 40), (13, 40), (14, 40), (15, 40), (17, 40), (18, 40), (19, 40)],
        ..PLAIN
    },
    CardType {
        name: "Mir",
        prefixes: &[to(2200, 2204)],
        lengths: &[(16, 240), (17, 20), (18, 20), (19, 20)],
        ..PLAIN
    },
    CardType {
        name: "Elo",
        prefixes: &[
            one(438_935),
            one(451_416),
            one(504_175),
            to(506_699, 506_778),
            to(509_000, 509_999),
            one(636_368),
            to(650_031, 650_033),
            to(650_405, 650_439),
            to(651_652, 651_679),
            to(655_000, 655_019),
        ],
        claims: &[
            to(401_178, 401_179),
            one(431_274),
            one(457_393),
            to(457_631, 457_632),
            one(627_780),
            one(636_297),
            to(650_035, 650_051),
            to(650_485, 650_538),
            to(650_541, 650_598),
            to(650_700, 650_718),
            to(650_720, 650_727),
            to(650_901, 650_978),
            to(655_021, 655_058),
        ],
        ..PLAIN
    },
    CardType {
        name: "Hipercard",
        prefixes: &[one(606_282)],
        claims: &[one(637_095), one(637_568), one(637_599), one(637_609), one(637_612)],
        ..PLAIN
    },
    CardType {
        name: "Troy",
        prefixes: &[one(9792)],
        claims: &[
            one(650_052),
            to(650_082, 650_083),
            one(650_092),
            one(650_161),
            one(650_170),
            one(650_173),
            one(650_175),
            one(650_268),
            one(650_271),
            to(650_273, 650_274),
            to(650_456, 650_457),
            to(650_836, 650_837),
            to(650_846, 650_850),
            to(650_858, 650_862),
            one(650_923),
            one(650_987),
            one(650_990),
            one(654_997),
            one(657_366),
            one(657_998),
            to(658_750, 658_799),
            to(658_808, 658_809),
        ],
        ..PLAIN
    },
    CardType {
        name: "Verve",
        prefixes: &[to(506_099, 506_127), to(507_865, 507_866), to(507_868, 507_877)],
        claims: &[to(506_128, 506_198), one(507_867), to(507_878, 507_964), to(650_002, 650_027)],
        lengths: &[(16, 1), (18, 1), (19, 1)],
        ..PLAIN
    },
    CardType {
        name: "Naranja",
        prefixes: &[one(589_562)],
        claims: &[one(402_918), one(527_572)],
        ..PLAIN
    },
    CardType {
        name: "RuPay",
        prefixes: &[
            to(508_500, 508_999),
            to(606_985, 607_984),
            to(608_001, 608_500),
            to(652_150, 653_149),
        ],
        ..PLAIN
    },
    CardType {
        name: "Uatp",
        prefixes: &[one(1)],
        except: &[one(1800)],
        lengths: &[(15, 1)],
        ..PLAIN
    },
    CardType { name: "Dankort", prefixes: &[one(5019)], ..PLAIN },
    CardType { name: "InstaPayment", prefixes: &[to(637, 639)], ..PLAIN },
    CardType {
        name: "Laser",
        prefixes: &[one(6304), one(6706), one(6771), one(6709)],
        lengths: &[(16, 1), (17, 1), (18, 1), (19, 1)],
        ..PLAIN
    },
    CardType {
        name: "Solo",
        prefixes: &[one(6334), one(6767)],
        lengths: &[(16, 1), (18, 1), (19, 1)],
        ..PLAIN
    },
    CardType {
        name: "Switch",
        prefixes: &[
            one(4903),
            one(4905),
            one(4911),
            one(4936),
            one(564_182),
            one(633_110),
            one(6333),
            one(6759),
        ],
        lengths: &[(16, 1), (18, 1), (19, 1)],
        ..PLAIN
    },
];
