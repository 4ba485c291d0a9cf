//! Distances on Earth.

/// Mean radius of the Earth in kilometres.
const EARTH_KM: f64 = 6371.0;
const KM_PER_MILE: f64 = 1.609_344;

/// Maximum radius of a location filter, in either unit.
pub const LONGEST_RADIUS: f64 = 100_000.0;

/// A geographic point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lng: f64,
}

/// Unit for the radius in a location filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Statute miles.
    Miles,
    /// Kilometres.
    Kilometres,
}

impl Unit {
    /// Parses the value of a unit parameter. Returns `None` for anything else.
    pub fn named(name: &str) -> Option<Unit> {
        match name {
            "miles" => Some(Unit::Miles),
            "km" => Some(Unit::Kilometres),
            _ => None,
        }
    }

    /// Converts a length in this unit to kilometres.
    pub fn to_km(self, length: f64) -> f64 {
        match self {
            Unit::Miles => length * KM_PER_MILE,
            Unit::Kilometres => length,
        }
    }
}

/// A rectangle that contains all points of a circle, used as a coarse filter on indexed columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Latitude of the southern edge in degrees.
    pub south: f64,
    /// Latitude of the northern edge in degrees.
    pub north: f64,
    /// Longitude of the western edge in degrees.
    pub west: f64,
    /// Longitude of the eastern edge in degrees.
    pub east: f64,
}

impl Point {
    /// Returns the great-circle distance in kilometres.
    pub fn distance_km(self, other: Point) -> f64 {
        let (lat1, lat2) = (self.lat.to_radians(), other.lat.to_radians());
        let half_lat = (lat2 - lat1) / 2.0;
        let half_lng = (other.lng - self.lng).to_radians() / 2.0;
        let a = half_lat.sin().powi(2) + lat1.cos() * lat2.cos() * half_lng.sin().powi(2);
        2.0 * EARTH_KM * a.sqrt().min(1.0).asin()
    }

    /// Returns the bounding rectangle of a circle with radius `km`. It spans all longitudes if the
    /// circle crosses the antimeridian or contains a pole.
    pub fn around(self, km: f64) -> Rectangle {
        let angle = (km / EARTH_KM).to_degrees();
        let (south, north) = (self.lat - angle, self.lat + angle);
        let widest = south.abs().max(north.abs());
        let width = if widest >= 89.9 { 360.0 } else { angle / widest.to_radians().cos() };
        let (west, east) = (self.lng - width, self.lng + width);
        if west < -180.0 || east > 180.0 {
            return Rectangle { south, north, west: -180.0, east: 180.0 };
        }
        Rectangle { south, north, west, east }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIENNA: Point = Point { lat: 48.2082, lng: 16.3738 };
    const GRAZ: Point = Point { lat: 47.0707, lng: 15.4395 };

    #[test]
    fn distance_follows_the_great_circle() {
        assert!((VIENNA.distance_km(GRAZ) - 144.6).abs() < 1.0, "{}", VIENNA.distance_km(GRAZ));
        assert!((Unit::Miles.to_km(1.0) - 1.609_344).abs() < 1e-9);
    }

    proptest::proptest! {
        #[test]
        fn bounding_rectangle_contains_the_circle(
            lat in -85.0..85.0_f64, lng in -180.0..180.0_f64,
            to_lat in -85.0..85.0_f64, to_lng in -180.0..180.0_f64,
        ) {
            let (from, to) = (Point { lat, lng }, Point { lat: to_lat, lng: to_lng });
            let reach = from.around(from.distance_km(to) + 0.001);
            proptest::prop_assert!((reach.south..=reach.north).contains(&to.lat));
            proptest::prop_assert!((reach.west..=reach.east).contains(&to.lng));
        }
    }
}
