//! Windows time zone names.

use crate::model::zone::Zone;

/// Windows names and the zones that they most commonly refer to (CLDR 48, `windowsZones`). Offsets
/// such as `UTC-02` are omitted because they are supported as zones directly.
const NAMES: &[(&str, &str)] = &[
    ("AUS Central Standard Time", "Australia/Darwin"),
    ("AUS Eastern Standard Time", "Australia/Sydney"),
    ("Afghanistan Standard Time", "Asia/Kabul"),
    ("Alaskan Standard Time", "America/Anchorage"),
    ("Aleutian Standard Time", "America/Adak"),
    ("Altai Standard Time", "Asia/Barnaul"),
    ("Arab Standard Time", "Asia/Riyadh"),
    ("Arabian Standard Time", "Asia/Dubai"),
    ("Arabic Standard Time", "Asia/Baghdad"),
    ("Argentina Standard Time", "America/Argentina/Buenos_Aires"),
    ("Astrakhan Standard Time", "Europe/Astrakhan"),
    ("Atlantic Standard Time", "America/Halifax"),
    ("Aus Central W. Standard Time", "Australia/Eucla"),
    ("Azerbaijan Standard Time", "Asia/Baku"),
    ("Azores Standard Time", "Atlantic/Azores"),
    ("Bahia Standard Time", "America/Bahia"),
    ("Bangladesh Standard Time", "Asia/Dhaka"),
    ("Belarus Standard Time", "Europe/Minsk"),
    ("Bougainville Standard Time", "Pacific/Bougainville"),
    ("Canada Central Standard Time", "America/Regina"),
    ("Cape Verde Standard Time", "Atlantic/Cape_Verde"),
    ("Caucasus Standard Time", "Asia/Yerevan"),
    ("Cen. Australia Standard Time", "Australia/Adelaide"),
    ("Central America Standard Time", "America/Guatemala"),
    ("Central Asia Standard Time", "Asia/Bishkek"),
    ("Central Brazilian Standard Time", "America/Cuiaba"),
    ("Central Europe Standard Time", "Europe/Budapest"),
    ("Central European Standard Time", "Europe/Warsaw"),
    ("Central Pacific Standard Time", "Pacific/Guadalcanal"),
    ("Central Standard Time", "America/Chicago"),
    ("Central Standard Time (Mexico)", "America/Mexico_City"),
    ("Chatham Islands Standard Time", "Pacific/Chatham"),
    ("China Standard Time", "Asia/Shanghai"),
    ("Cuba Standard Time", "America/Havana"),
    ("Dateline Standard Time", "Etc/GMT+12"),
    ("E. Africa Standard Time", "Africa/Nairobi"),
    ("E. Australia Standard Time", "Australia/Brisbane"),
    ("E. Europe Standard Time", "Europe/Chisinau"),
    ("E. South America Standard Time", "America/Sao_Paulo"),
    ("Easter Island Standard Time", "Pacific/Easter"),
    ("Eastern Standard Time", "America/New_York"),
    ("Eastern Standard Time (Mexico)", "America/Cancun"),
    ("Egypt Standard Time", "Africa/Cairo"),
    ("Ekaterinburg Standard Time", "Asia/Yekaterinburg"),
    ("FLE Standard Time", "Europe/Kiev"),
    ("Fiji Standard Time", "Pacific/Fiji"),
    ("GMT Standard Time", "Europe/London"),
    ("GTB Standard Time", "Europe/Bucharest"),
    ("Georgian Standard Time", "Asia/Tbilisi"),
    ("Greenland Standard Time", "America/Godthab"),
    ("Greenwich Standard Time", "Atlantic/Reykjavik"),
    ("Haiti Standard Time", "America/Port-au-Prince"),
    ("Hawaiian Standard Time", "Pacific/Honolulu"),
    ("India Standard Time", "Asia/Kolkata"),
    ("Iran Standard Time", "Asia/Tehran"),
    ("Israel Standard Time", "Asia/Jerusalem"),
    ("Jordan Standard Time", "Asia/Amman"),
    ("Kaliningrad Standard Time", "Europe/Kaliningrad"),
    ("Kamchatka Standard Time", "Asia/Kamchatka"),
    ("Korea Standard Time", "Asia/Seoul"),
    ("Libya Standard Time", "Africa/Tripoli"),
    ("Line Islands Standard Time", "Pacific/Kiritimati"),
    ("Lord Howe Standard Time", "Australia/Lord_Howe"),
    ("Magadan Standard Time", "Asia/Magadan"),
    ("Magallanes Standard Time", "America/Punta_Arenas"),
    ("Marquesas Standard Time", "Pacific/Marquesas"),
    ("Mauritius Standard Time", "Indian/Mauritius"),
    ("Mid-Atlantic Standard Time", "Etc/GMT+2"),
    ("Middle East Standard Time", "Asia/Beirut"),
    ("Montevideo Standard Time", "America/Montevideo"),
    ("Morocco Standard Time", "Africa/Casablanca"),
    ("Mountain Standard Time", "America/Denver"),
    ("Mountain Standard Time (Mexico)", "America/Mazatlan"),
    ("Myanmar Standard Time", "Asia/Yangon"),
    ("N. Central Asia Standard Time", "Asia/Novosibirsk"),
    ("Namibia Standard Time", "Africa/Windhoek"),
    ("Nepal Standard Time", "Asia/Kathmandu"),
    ("New Zealand Standard Time", "Pacific/Auckland"),
    ("Newfoundland Standard Time", "America/St_Johns"),
    ("Norfolk Standard Time", "Pacific/Norfolk"),
    ("North Asia East Standard Time", "Asia/Irkutsk"),
    ("North Asia Standard Time", "Asia/Krasnoyarsk"),
    ("North Korea Standard Time", "Asia/Pyongyang"),
    ("Omsk Standard Time", "Asia/Omsk"),
    ("Pacific SA Standard Time", "America/Santiago"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("Pacific Standard Time (Mexico)", "America/Tijuana"),
    ("Pakistan Standard Time", "Asia/Karachi"),
    ("Paraguay Standard Time", "America/Asuncion"),
    ("Qyzylorda Standard Time", "Asia/Qyzylorda"),
    ("Romance Standard Time", "Europe/Paris"),
    ("Russia Time Zone 10", "Asia/Srednekolymsk"),
    ("Russia Time Zone 11", "Asia/Kamchatka"),
    ("Russia Time Zone 3", "Europe/Samara"),
    ("Russian Standard Time", "Europe/Moscow"),
    ("SA Eastern Standard Time", "America/Cayenne"),
    ("SA Pacific Standard Time", "America/Bogota"),
    ("SA Western Standard Time", "America/La_Paz"),
    ("SE Asia Standard Time", "Asia/Bangkok"),
    ("Saint Pierre Standard Time", "America/Miquelon"),
    ("Sakhalin Standard Time", "Asia/Sakhalin"),
    ("Samoa Standard Time", "Pacific/Apia"),
    ("Sao Tome Standard Time", "Africa/Sao_Tome"),
    ("Saratov Standard Time", "Europe/Saratov"),
    ("Singapore Standard Time", "Asia/Singapore"),
    ("South Africa Standard Time", "Africa/Johannesburg"),
    ("South Sudan Standard Time", "Africa/Juba"),
    ("Sri Lanka Standard Time", "Asia/Colombo"),
    ("Sudan Standard Time", "Africa/Khartoum"),
    ("Syria Standard Time", "Asia/Damascus"),
    ("Taipei Standard Time", "Asia/Taipei"),
    ("Tasmania Standard Time", "Australia/Hobart"),
    ("Tocantins Standard Time", "America/Araguaina"),
    ("Tokyo Standard Time", "Asia/Tokyo"),
    ("Tomsk Standard Time", "Asia/Tomsk"),
    ("Tonga Standard Time", "Pacific/Tongatapu"),
    ("Transbaikal Standard Time", "Asia/Chita"),
    ("Turkey Standard Time", "Europe/Istanbul"),
    ("Turks And Caicos Standard Time", "America/Grand_Turk"),
    ("US Eastern Standard Time", "America/Indiana/Indianapolis"),
    ("US Mountain Standard Time", "America/Phoenix"),
    ("UTC", "UTC"),
    ("Ulaanbaatar Standard Time", "Asia/Ulaanbaatar"),
    ("Venezuela Standard Time", "America/Caracas"),
    ("Vladivostok Standard Time", "Asia/Vladivostok"),
    ("Volgograd Standard Time", "Europe/Volgograd"),
    ("W. Australia Standard Time", "Australia/Perth"),
    ("W. Central Africa Standard Time", "Africa/Lagos"),
    ("W. Europe Standard Time", "Europe/Berlin"),
    ("W. Mongolia Standard Time", "Asia/Hovd"),
    ("West Asia Standard Time", "Asia/Tashkent"),
    ("West Bank Standard Time", "Asia/Hebron"),
    ("West Pacific Standard Time", "Pacific/Port_Moresby"),
    ("Yakutsk Standard Time", "Asia/Yakutsk"),
    ("Yukon Standard Time", "America/Whitehorse"),
    ("tzone://Microsoft/Utc", "UTC"),
];

/// Display names of Windows zones, as written by Exchange. Only the first place in each name is
/// matched, since the others have changed between Windows versions.
const DISPLAYED: &[(&str, &str)] = &[
    ("Abu Dhabi", "Asia/Dubai"),
    ("Adelaide", "Australia/Adelaide"),
    ("Alaska", "America/Anchorage"),
    ("Aleutian Islands", "America/Adak"),
    ("Almaty", "Asia/Almaty"),
    ("Amman", "Asia/Amman"),
    ("Amsterdam", "Europe/Berlin"),
    ("Anadyr", "Asia/Kamchatka"),
    ("Araguaina", "America/Araguaina"),
    ("Arizona", "America/Phoenix"),
    ("Ashgabat", "Asia/Tashkent"),
    ("Astana", "Asia/Almaty"),
    ("Astrakhan", "Europe/Astrakhan"),
    ("Asuncion", "America/Asuncion"),
    ("Athens", "Europe/Bucharest"),
    ("Atlantic Time (Canada)", "America/Halifax"),
    ("Auckland", "Pacific/Auckland"),
    ("Azores", "Atlantic/Azores"),
    ("Baghdad", "Asia/Baghdad"),
    ("Baja California", "America/Tijuana"),
    ("Baku", "Asia/Baku"),
    ("Bangkok", "Asia/Bangkok"),
    ("Barnaul", "Asia/Barnaul"),
    ("Beijing", "Asia/Shanghai"),
    ("Beirut", "Asia/Beirut"),
    ("Belgrade", "Europe/Budapest"),
    ("Bishkek", "Asia/Bishkek"),
    ("Bogota", "America/Bogota"),
    ("Bougainville Island", "Pacific/Bougainville"),
    ("Brasilia", "America/Sao_Paulo"),
    ("Brisbane", "Australia/Brisbane"),
    ("Brussels", "Europe/Paris"),
    ("Buenos Aires", "America/Argentina/Buenos_Aires"),
    ("Cabo Verde Is.", "Atlantic/Cape_Verde"),
    ("Cairo", "Africa/Cairo"),
    ("Canberra", "Australia/Sydney"),
    ("Cape Verde Is.", "Atlantic/Cape_Verde"),
    ("Caracas", "America/Caracas"),
    ("Casablanca", "Africa/Casablanca"),
    ("Cayenne", "America/Cayenne"),
    ("Central America", "America/Guatemala"),
    ("Central Time (US & Canada)", "America/Chicago"),
    ("Chatham Islands", "Pacific/Chatham"),
    ("Chennai", "Asia/Kolkata"),
    ("Chetumal", "America/Cancun"),
    ("Chihuahua", "America/Mazatlan"),
    ("Chisinau", "Europe/Chisinau"),
    ("Chita", "Asia/Chita"),
    ("Chokurdakh", "Asia/Srednekolymsk"),
    ("City of Buenos Aires", "America/Argentina/Buenos_Aires"),
    ("Coordinated Universal Time", "UTC"),
    ("Cuiaba", "America/Cuiaba"),
    ("Damascus", "Asia/Damascus"),
    ("Darwin", "Australia/Darwin"),
    ("Dhaka", "Asia/Dhaka"),
    ("Dublin", "Europe/London"),
    ("Easter Island", "Pacific/Easter"),
    ("Eastern Time (US & Canada)", "America/New_York"),
    ("Ekaterinburg", "Asia/Yekaterinburg"),
    ("Eucla", "Australia/Eucla"),
    ("Fiji", "Pacific/Fiji"),
    ("Fiji Islands", "Pacific/Fiji"),
    ("Gaza", "Asia/Hebron"),
    ("Georgetown", "America/La_Paz"),
    ("Greenland", "America/Godthab"),
    ("Guadalajara", "America/Mexico_City"),
    ("Guam", "Pacific/Port_Moresby"),
    ("Haiti", "America/Port-au-Prince"),
    ("Harare", "Africa/Johannesburg"),
    ("Havana", "America/Havana"),
    ("Hawaii", "Pacific/Honolulu"),
    ("Helsinki", "Europe/Kiev"),
    ("Hobart", "Australia/Hobart"),
    ("Hovd", "Asia/Hovd"),
    ("Indiana (East)", "America/Indiana/Indianapolis"),
    ("International Date Line West", "Etc/GMT+12"),
    ("Irkutsk", "Asia/Irkutsk"),
    ("Islamabad", "Asia/Karachi"),
    ("Istanbul", "Europe/Istanbul"),
    ("Izhevsk", "Europe/Samara"),
    ("Jerusalem", "Asia/Jerusalem"),
    ("Juba", "Africa/Juba"),
    ("Kabul", "Asia/Kabul"),
    ("Kaliningrad", "Europe/Kaliningrad"),
    ("Kathmandu", "Asia/Kathmandu"),
    ("Khartoum", "Africa/Khartoum"),
    ("Kiritimati Island", "Pacific/Kiritimati"),
    ("Krasnoyarsk", "Asia/Krasnoyarsk"),
    ("Kuala Lumpur", "Asia/Singapore"),
    ("Kuwait", "Asia/Riyadh"),
    ("La Paz", "America/Mazatlan"),
    ("Lord Howe Island", "Australia/Lord_Howe"),
    ("Magadan", "Asia/Magadan"),
    ("Marquesas Islands", "Pacific/Marquesas"),
    ("Mid-Atlantic", "Etc/GMT+2"),
    ("Mid-Atlantic - Old", "Etc/GMT+2"),
    ("Midway Island", "Pacific/Pago_Pago"),
    ("Minsk", "Europe/Minsk"),
    ("Monrovia", "Atlantic/Reykjavik"),
    ("Montevideo", "America/Montevideo"),
    ("Moscow", "Europe/Moscow"),
    ("Mountain Time (US & Canada)", "America/Denver"),
    ("Nairobi", "Africa/Nairobi"),
    ("New Delhi", "Asia/Kolkata"),
    ("Newfoundland", "America/St_Johns"),
    ("Norfolk Island", "Pacific/Norfolk"),
    ("Novosibirsk", "Asia/Novosibirsk"),
    ("Nuku'alofa", "Pacific/Tongatapu"),
    ("Nur-Sultan", "Asia/Almaty"),
    ("Omsk", "Asia/Omsk"),
    ("Osaka", "Asia/Tokyo"),
    ("Pacific Time (US & Canada)", "America/Los_Angeles"),
    ("Perth", "Australia/Perth"),
    ("Petropavlovsk-Kamchatsky - Old", "Asia/Kamchatka"),
    ("Port Louis", "Indian/Mauritius"),
    ("Punta Arenas", "America/Punta_Arenas"),
    ("Pyongyang", "Asia/Pyongyang"),
    ("Qyzylorda", "Asia/Qyzylorda"),
    ("Saint Pierre and Miquelon", "America/Miquelon"),
    ("Sakhalin", "Asia/Sakhalin"),
    ("Salvador", "America/Bahia"),
    ("Samoa", "Pacific/Apia"),
    ("Santiago", "America/Santiago"),
    ("Sao Tome", "Africa/Sao_Tome"),
    ("Sarajevo", "Europe/Warsaw"),
    ("Saratov", "Europe/Saratov"),
    ("Saskatchewan", "America/Regina"),
    ("Seoul", "Asia/Seoul"),
    ("Solomon Is.", "Pacific/Guadalcanal"),
    ("Sri Jayawardenepura", "Asia/Colombo"),
    ("Taipei", "Asia/Taipei"),
    ("Tashkent", "Asia/Tashkent"),
    ("Tbilisi", "Asia/Tbilisi"),
    ("Tehran", "Asia/Tehran"),
    ("Tijuana", "America/Tijuana"),
    ("Tomsk", "Asia/Tomsk"),
    ("Tripoli", "Africa/Tripoli"),
    ("Turks and Caicos", "America/Grand_Turk"),
    ("Ulaanbaatar", "Asia/Ulaanbaatar"),
    ("Vladivostok", "Asia/Vladivostok"),
    ("Volgograd", "Europe/Volgograd"),
    ("West Central Africa", "Africa/Lagos"),
    ("Windhoek", "Africa/Windhoek"),
    ("Yakutsk", "Asia/Yakutsk"),
    ("Yangon (Rangoon)", "Asia/Yangon"),
    ("Yerevan", "Asia/Yerevan"),
    ("Yukon", "America/Whitehorse"),
];

/// Finds a zone by its Windows name or by a display name such as `(UTC+01:00) Amsterdam, Berlin,
/// Bern, Rome, Stockholm, Vienna`. Returns `None` if the name is unknown.
pub fn windows_zone(name: &str) -> Option<Zone> {
    if let Some(zone) = find(NAMES, name) {
        return Some(zone);
    }
    let (_, places) = name.strip_prefix('(')?.split_once(')')?;
    let places = places.trim();
    let places = places.strip_prefix("Greenwich Mean Time : ").unwrap_or(places);
    let place = places.split(',').next().unwrap_or(places);
    let place = &*place.replace("US and Canada", "US & Canada");
    let offset = || place.strip_prefix("Coordinated Universal Time");
    find(DISPLAYED, place).or_else(|| Zone::parse(&format!("UTC{}", offset()?)))
}

/// Lotus Notes zone names that don't match Windows names.
const LOTUS: &[(&str, &str)] = &[("Western/Central Europe", "Europe/Berlin")];

/// Finds a zone by its Lotus Notes name, which is often the Windows name without `Standard Time`.
/// Only use this if the file doesn't define the name itself.
pub fn lotus_zone(name: &str) -> Option<Zone> {
    find(LOTUS, name).or_else(|| find(NAMES, &format!("{name} Standard Time")))
}

fn find(table: &[(&str, &str)], name: &str) -> Option<Zone> {
    let (_, iana) = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Zone::named(iana)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_a_known_zone() {
        for (windows, iana) in NAMES.iter().chain(DISPLAYED) {
            assert!(Zone::named(iana).is_some(), "{windows}: {iana}");
        }
    }

    #[test]
    fn display_names_may_spell_out_the_ampersand() {
        for joined in ["&", "and"] {
            let zone = windows_zone(&format!("(UTC-05:00) Eastern Time (US {joined} Canada)"));
            assert_eq!(zone.as_ref().map(Zone::name), Some("America/New_York"), "{joined}");
        }
    }

    #[test]
    fn offsets_of_windows_and_its_zones_in_central_asia_are_right() {
        let at = "2027-04-01T12:00:00Z".parse().unwrap();
        for (name, hours) in [
            ("UTC-11", -11),
            ("UTC-09", -9),
            ("UTC-08", -8),
            ("UTC-02", -2),
            ("UTC+12", 12),
            ("UTC+13", 13),
            ("Central Asia Standard Time", 6),
            ("(UTC+06:00) Bishkek", 6),
            ("Qyzylorda Standard Time", 5),
        ] {
            let zone = windows_zone(name).or_else(|| Zone::parse(name));
            let wall = zone.map(|zone| {
                i32::from(zone.wall(at).hour()) + 24 * i32::from(zone.wall(at).day() - 1)
            });
            assert_eq!(wall, Some(12 + hours), "{name}");
        }
    }
}
