// Checks files of card numbers, one for each brand, with card-validator; called by scripts/clients.d/generator with
// the folder of the files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import validator from "card-validator";

// The validator's name of each brand. `null`: it does not know the brand and matches another, shorter prefix or
// none, so that only the check digit counts.
const NAMES = {
  Visa: "visa", VisaElectron: "visa", Mastercard: "mastercard", AmericanExpress: "american-express",
  Discover: "discover", DinersClub: "diners-club", Jcb: "jcb", UnionPay: "unionpay",
  Maestro: "maestro", Mir: "mir", Elo: "elo", Hipercard: "hipercard", Verve: "verve",
  Naranja: "naranja", Troy: null, RuPay: null, Uatp: null, Dankort: null, InstaPayment: null,
  Laser: null, Solo: null, Switch: null,
};

const folder = process.argv[2];
let refused = 0;
for (const brand of readdirSync(folder)) {
  const numbers = readFileSync(join(folder, brand), "utf8").trim().split("\n");
  const wrong = numbers.filter((number) => {
    const verdict = validator.number(number);
    const name = NAMES[brand];
    return name === null
      ? verdict.card !== null && !verdict.isValid && verdict.card.lengths.includes(number.length)
      : !verdict.isValid || verdict.card.type !== name;
  });
  if (wrong.length > 0) {
    const { card } = validator.number(wrong[0]);
    console.error(`${brand}: ${wrong.length} of ${numbers.length}, such as ${wrong[0]} (${card?.type})`);
    refused += wrong.length;
  }
  console.error(`  ${brand}: ${numbers.length} numbers judged`);
}
process.exit(refused === 0 ? 0 : 1);
