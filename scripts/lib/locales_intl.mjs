// Prints as JSON what Intl prints for each language: the expectations of the tests of the calendar's pages.
//   node locales_intl.mjs LANGUAGE...
const at = (text) => new Date(`${text}Z`);
const dates = ["2027-01-05T09:05", "2027-03-14T19:30", "2027-08-01T00:15", "2028-02-29T12:00", "2026-12-31T23:59"];
const numbers = [0, 1, 2, 3, 4, 5, 10, 11, 12, 14, 15, 20, 21, 22, 25, 100, 101, 102, 103, 111, 112, 999, 1000, 1234,
  9999, 10000, 12345, 1000000, 1234567];
const intervals = [["2027-03-14T00:00", "2027-03-16T00:00"], ["2027-03-30T00:00", "2027-04-12T00:00"],
  ["2027-12-30T00:00", "2028-01-12T00:00"]];
const times = [["2027-03-14T09:05", "2027-03-14T11:30"], ["2027-03-14T09:05", "2027-03-14T22:00"],
  ["2027-03-14T19:30", "2027-03-14T22:00"]];

function judged(language) {
  const date = (options) => new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" });
  const each = (options) => Object.fromEntries(dates.map((text) => [text, date(options).format(at(text))]));
  const ranges = (options, pairs) => pairs.map(([a, b]) => [a, b, date(options).formatRange(at(a), at(b))]);
  const plural = new Intl.PluralRules(language), number = new Intl.NumberFormat(language);
  const list = new Intl.ListFormat(language);
  const price = new Intl.NumberFormat(language,
    { style: "currency", currency: "XYZ", currencyDisplay: "narrowSymbol", trailingZeroDisplay: "stripIfInteger" });
  return {
    full: each({ dateStyle: "full" }),
    long: each({ dateStyle: "long" }),
    month: each({ month: "long", year: "numeric" }),
    weekday_day: each({ weekday: "long", day: "numeric", month: "long" }),
    short: each({ weekday: "short", day: "numeric", month: "short" }),
    time: each({ timeStyle: "short" }),
    weekday: each({ weekday: "long" }),
    full_at_time: each({ dateStyle: "full", timeStyle: "short" }),
    long_at_time: each({ dateStyle: "long", timeStyle: "short" }),
    days: ranges({ day: "numeric", month: "long", year: "numeric" }, intervals),
    times: ranges({ timeStyle: "short" }, times),
    numbers: numbers.map((value) => [value, number.format(value), plural.select(value)]),
    lists: [["A"], ["A", "B"], ["A", "B", "C"], ["A", "B", "C", "D"]].map((items) => [items, list.format(items)]),
    prices: [["12.50"], ["1234.50"], ["10", "20"], ["8.50", "1000"]].map((values) => [
      values,
      (values.length === 1 ? price.format(values[0]) : price.formatRange(values[0], values[1])),
    ]),
  };
}

const judgement = Object.fromEntries(process.argv.slice(2).map((language) => [language, judged(language)]));
console.log(JSON.stringify(judgement, null, 1));
