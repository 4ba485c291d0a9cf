// Runs the npm package `hibp` as published against a breaches server: arguments are its base URL
// and the test domain.
import assert from 'node:assert/strict';
import * as hibp from 'hibp';

const [base, domain] = process.argv.slice(2);
const options = {
  apiKey: '00000000000000000000000000000000',
  baseUrl: `${base}/api/v3`,
  userAgent: 'quintet-clients',
};
const at = (alias) => `${alias}@${domain}`;
const names = (breaches) => breaches?.map((breach) => breach.Name);

assert.deepEqual(await hibp.breachedAccount(at('account-exists'), options), [{ Name: 'Acmegram' }]);
const full = await hibp.breachedAccount(at('multiple-breaches'), { ...options, truncate: false });
assert.deepEqual(names(full), ['Acmegram', 'Borealis', 'Cobaltbay']);
assert.equal(full[0].IsVerified, true);
assert.equal(await hibp.breachedAccount(at('sensitive-breach'), options), null);
const verified = { ...options, includeUnverified: false };
assert.equal(await hibp.breachedAccount(at('unverified-breach'), verified), null);
const ofDomain = { ...options, domain: 'acmegram.example' };
assert.deepEqual(names(await hibp.breachedAccount(at('account-exists'), ofDomain)), ['Acmegram']);
await assert.rejects(hibp.breachedAccount(at('account-exists'), { ...options, apiKey: 'short' }));
await assert.rejects(hibp.breachedAccount('someone@example.com', options));

assert.equal((await hibp.breach('acmegram', options)).Name, 'Acmegram');
assert.equal(await hibp.breach('nothing', options), null);
assert.equal((await hibp.breaches(options)).length, 8);
assert.deepEqual(names(await hibp.breaches({ ...options, domain: 'borealis.example' })), ['Borealis']);
assert.equal((await hibp.latestBreach(options)).Name, 'Inkwell');
assert.deepEqual(await hibp.dataClasses(options), ['Email addresses', 'Passwords']);

const pastes = await hibp.pasteAccount(at('account-exists'), options);
assert.equal(pastes[0].Id, 'T3stP4st');
assert.equal(await hibp.pasteAccount(at('opt-out'), options), null);

const map = await hibp.breachedDomain(domain, options);
assert.deepEqual(map['sensitive-breach'], ['Duskmatch']);
assert.deepEqual(await hibp.stealerLogsByEmail(at('stealer-log'), options), [`shop.${domain}`]);
assert.deepEqual(await hibp.stealerLogsByWebsiteDomain(`shop.${domain}`, options), [at('stealer-log')]);
assert.deepEqual(await hibp.stealerLogsByEmailDomain(domain, options), { 'stealer-log': [`shop.${domain}`] });
assert.equal((await hibp.subscribedDomains(options))[0].DomainName, domain);
assert.equal((await hibp.subscriptionStatus(options)).SubscriptionName, 'Test');
console.log('hibp: ok');
