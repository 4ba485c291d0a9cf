// Compares the instants that ical.js and node-ical read with those of the interface.
//
// Usage: calendar_zones.mjs NODE_MODULES FOLDER, with the files of calendar_zones.py.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [modules, folder] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const expected = JSON.parse(readFileSync(`${folder}/expected.json`, 'utf8'));
const utc = (date) => date.toISOString().slice(0, 19).replace('T', ' ');

// node-ical ignores the rules of the file: its own table has other ones for these zones, and none after 2035.
const OTHERWISE = new Set(['Africa/Casablanca', 'Asia/Gaza']);
const LAST = '2036';

function compare(parser, found, isLeftOut) {
  const titles = Object.keys(expected).filter((title) => !isLeftOut(title));
  const wrong = titles.filter((title) => String(found[title]) !== String(expected[title]));
  for (const title of wrong.slice(0, 5)) {
    console.log(`${parser}: ${title} is ${found[title]} instead of ${expected[title]}`);
  }
  console.log(`${parser}: ${titles.length - wrong.length} of ${titles.length} events agree`);
  if (wrong.length > 0) {
    process.exitCode = 1;
    const zones = new Set(wrong.map((title) => title.split(' ')[0]));
    console.log(`${parser}: zones ${[...zones].join(' ')}`);
  }
}

const module = require('ical.js');
const ICAL = module.default ?? module;
const root = new ICAL.Component(ICAL.parse(readFileSync(`${folder}/renamed.ics`, 'utf8')));
for (const zone of root.getAllSubcomponents('vtimezone')) ICAL.TimezoneService.register(zone);
const read = {};
for (const component of root.getAllSubcomponents('vevent')) {
  const event = new ICAL.Event(component);
  read[event.summary] = [utc(event.startDate.toJSDate()), utc(event.endDate.toJSDate())];
}
compare('ical.js', read, () => false);

const nodeIcal = require('node-ical');
const parsed = nodeIcal.sync.parseFile(`${folder}/feed.ics`);
const found = {};
for (const entry of Object.values(parsed)) {
  if (entry.type === 'VEVENT') found[entry.summary] = [utc(entry.start), utc(entry.end)];
}
compare('node-ical', found, (title) => OTHERWISE.has(title.split(' ')[0]) || expected[title][0] >= LAST);
