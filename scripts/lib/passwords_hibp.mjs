// npm hibp against a range service: node passwords_hibp.mjs BASE_URL
import assert from "node:assert/strict";
import { pwnedPassword, pwnedPasswordRange } from "hibp";

const baseUrl = process.argv[2];
const expected = Number(process.env.EXPECTED);
for (const addPadding of [false, true]) {
  assert.equal(await pwnedPassword("password", { baseUrl, addPadding }), expected);
  assert.equal(await pwnedPassword("not in the list: 8d1f2c", { baseUrl, addPadding }), 0);
}
const suffix = "1E4C9B93F3F0682250B6CF8331B7EE68FD8";
assert.equal((await pwnedPasswordRange("5BAA6", { baseUrl }))[suffix], expected);
const ntlm = await pwnedPasswordRange("8846F", { baseUrl, mode: "ntlm" });
assert.equal(ntlm["7EAEE8FB117AD06BDD830B7586C"], expected);
await assert.rejects(pwnedPasswordRange("xyz", { baseUrl }), /hash prefix was not in a valid format/);
