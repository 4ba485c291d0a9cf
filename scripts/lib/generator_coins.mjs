// Checks files of crypto addresses, one for each coin, with multicoin-address-validator and bech32; called by
// scripts/clients.d/generator with the folder of the files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bech32 } from "bech32";
import validator from "multicoin-address-validator";

// Coins that the validator has under another name than the ticker, or only on their own chain.
const NAMES = {
  BASE: "eth", CRO: "eth", FTM: "eth", LINEA: "eth", SHIB: "eth", POL: "matic", XNO: "nano",
};
// Coins that are checked by prefix and number of bytes.
const BECH32 = {
  ATOM: ["cosmos", 20], OSMO: ["osmo", 20], INJ: ["inj", 20], KAVA: ["kava", 20], LUNA: ["terra", 20],
  TIA: ["celestia", 20], SEI: ["sei", 20], RUNE: ["thor", 20], SCRT: ["secret", 20], ZIL: ["zil", 20],
  ONE: ["one", 20], EGLD: ["erd", 32],
};
// Not checked: forms without a checksum, and coins unknown to the packages.
const UNJUDGED = ["FIL", "ICP", "KSM", "NEAR", "RVN", "SUI", "TON"];

function accepts(coin, address) {
  if (coin in BECH32) {
    const [prefix, length] = BECH32[coin];
    const decoded = bech32.decodeUnsafe(address, 90);
    return decoded?.prefix === prefix && bech32.fromWordsUnsafe(decoded.words)?.length === length;
  }
  return validator.validate(address, NAMES[coin] ?? coin.toLowerCase());
}

const folder = process.argv[2];
let [judged, refused] = [0, 0];
for (const coin of readdirSync(folder).filter((name) => !UNJUDGED.includes(name))) {
  const addresses = readFileSync(join(folder, coin), "utf8").trim().split("\n");
  const wrong = addresses.filter((address) => !accepts(coin, address));
  if (wrong.length > 0) {
    console.error(`${coin}: ${wrong.length} of ${addresses.length}, such as ${wrong[0]}`);
  }
  judged += addresses.length;
  refused += wrong.length;
}
console.error(`  coins: ${judged} addresses judged`);
process.exit(refused === 0 ? 0 : 1);
