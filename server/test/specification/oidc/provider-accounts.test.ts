import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { tokenIn, type EnginelessBerth } from '../../support/berth-without-engine.ts'
import { startProvider, useProvider } from '../../support/oidc/provider.ts'
import { registerAt, startBerthWith } from '../../support/oidc/berth-with-providers.ts'
import { newBrowser, signIn } from '../../support/oidc/sign-in.ts'
import { accountsOf, assertProblem, userOf } from '../../support/oidc/sign-in-outcome.ts'

const provider = await useProvider({ after })
const main = await registerAt(provider)

/** Signs in as this subject in a new browser. */
async function signInAs(berth: EnginelessBerth, sub: string, claims: object, id = 'main') {
  await provider.personIs(sub, { ...claims })
  const browser = newBrowser(berth)
  return { browser, reply: await signIn(browser, id) }
}

const verified = (email: string) => ({ email, email_verified: true })

async function refuses(berth: EnginelessBerth, sub: string, claims: object, problem: string, id = 'main') {
  const before = await accountsOf(berth)
  const { browser, reply } = await signInAs(berth, sub, claims, id)
  await assertProblem(browser, reply, problem)
  assert.deepEqual(await accountsOf(berth), before)
}

async function linkFor(berth: EnginelessBerth, purpose: 'signup' | 'login', email: string) {
  await berth.call('POST', `/api/auth/${purpose}`, { body: { email } })
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  return berth.call('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)
}

async function accountIdOf({ browser }: Awaited<ReturnType<typeof signInAs>>): Promise<number> {
  return (await userOf(browser)).id
}

test('a later change of the address at the provider keeps the account', async (t) => {
  const berth = await startBerthWith(t, { main })
  const id = await accountIdOf(await signInAs(berth, 'ann', verified('ann@x.org')))
  assert.equal(await accountIdOf(await signInAs(berth, 'ann', verified('ann@new.org'))), id)
  assert.equal(await accountIdOf(await signInAs(berth, 'ann', {})), id)
  assert.deepEqual(await accountsOf(berth), ['ann@x.org'])
})

test('a known address is that account, whichever way it signed up', async (t) => {
  const berth = await startBerthWith(t, { main })
  const { body } = await linkFor(berth, 'signup', 'ann@x.org')
  assert.equal(await accountIdOf(await signInAs(berth, 'ann', verified('ann@x.org'))), body.user.id)
  assert.equal((await linkFor(berth, 'login', 'ann@x.org')).body.user.id, body.user.id)
})

test('an address that was registered and never verified is verified by the provider', async (t) => {
  const berth = await startBerthWith(t, { main })
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const { browser } = await signInAs(berth, 'ann', verified('ann@x.org'))
  assert.equal((await userOf(browser)).state, 'verified')
  assert.equal((await linkFor(berth, 'login', 'ann@x.org')).status, 200)
})

test('an address that the provider does not call verified signs no user in, unless the provider is trusted with it', async (t) => {
  const berth = await startBerthWith(t, { main, trusted: await registerAt(provider, 'trusted', { trust_email: true }) })
  for (const email_verified of [false, undefined, 'true', 1])
    await refuses(berth, 'eve', { email: 'ann@x.org', email_verified }, 'email-unverified')
  await refuses(berth, 'eve', {}, 'email-missing')
  await refuses(berth, 'eve', verified('not an address'), 'email-missing')
  // Lower-cased, the Kelvin sign is a k.
  await refuses(berth, 'eve', verified('\u212Aate@x.org'), 'email-missing')
  // What an administrator of the provider can mend is in the log, without the address.
  await refuses(berth, 'eve', { email: ['ann@x.org', 'ann@y.org'], email_verified: true }, 'email-missing')
  const log = berth.logs.join('')
  assert.match(log, /claim email_verified is not true or false but a string/)
  assert.match(log, /claim email is not a text but a list/)
  assert.match(log, /claim email is no address that mail can be sent to/)
  assert.doesNotMatch(log, /ann@y\.org/)
  const { browser } = await signInAs(berth, 'ann', { email: 'ann@x.org' }, 'trusted')
  assert.equal((await userOf(browser)).email, 'ann@x.org')
})

test('an address that another subject of the same provider signs in with is turned away', async (t) => {
  const berth = await startBerthWith(t, { main: await registerAt(provider) })
  await signInAs(berth, 'ann', verified('ann@x.org'))
  await refuses(berth, 'eve', verified('ann@x.org'), 'email-taken')
})

test('one address at two providers is one account', async (t) => {
  const other = await startProvider(t)
  const berth = await startBerthWith(t, { main: await registerAt(provider), other: await registerAt(other, 'other') })
  const id = await accountIdOf(await signInAs(berth, 'ann', verified('ann@x.org')))
  await other.personIs('4711', verified('ann@x.org'))
  const browser = newBrowser(berth)
  await signIn(browser, 'other')
  assert.equal((await userOf(browser)).id, id)
})

test('new accounts follow the rules of sign-up', async (t) => {
  const env = { ALLOWED_EMAIL_DOMAINS: 'x.org', ADMIN_EMAILS: 'boss@y.org' }
  const berth = await startBerthWith(t, { main }, { env })
  await refuses(berth, 'eve', verified('eve@y.org'), 'not-invited')
  const { browser } = await signInAs(berth, 'first', verified('admin@x.org'))
  assert.equal((await userOf(browser)).is_admin, true, 'the first user')
  assert.match((await userOf(browser)).slug, /^admin[a-z0-9]{4}$/, 'a reserved slug')
  const boss = await signInAs(berth, 'boss', verified('boss@y.org'))
  assert.equal((await userOf(boss.browser)).is_admin, true, 'ADMIN_EMAILS')
  const ann = await signInAs(berth, 'ann', verified('ann@x.org'))
  assert.equal((await userOf(ann.browser)).is_admin, false)
})

test('with SIGN_UP=invited who was invited comes in by a provider, too', async (t) => {
  const berth = await startBerthWith(t, { main }, { env: { SIGN_UP: 'invited', ADMIN_EMAILS: 'boss@x.org' } })
  await refuses(berth, 'ann', verified('ann@x.org'), 'not-invited')
  const { browser: boss } = await signInAs(berth, 'boss', verified('boss@x.org'))
  const { csrf } = await boss.open('/')
  await boss.ask('POST', '/api/admin/invitations', { proof: csrf, body: { emails: ['ann@x.org'] } })
  const { browser } = await signInAs(berth, 'ann', verified('ann@x.org'))
  assert.equal((await userOf(browser)).state, 'verified')
})

/** The administrator who was given the link would have had the account after the person signed in. */
test('a link that was not mailed is void when the provider has verified its account', async (t) => {
  const berth = await startBerthWith(t, { main })
  const { browser: boss } = await signInAs(berth, 'boss', verified('boss@x.org'))
  const { csrf } = await boss.open('/')
  const body = { emails: ['ceo@x.org'], send: false }
  const invited = await boss.ask('POST', '/api/admin/invitations', { proof: csrf, body })
  const { search } = new URL(invited.body.invitations[0].link)
  await signInAs(berth, 'ceo', verified('ceo@x.org'))
  assert.equal((await berth.call('GET', `/api/auth/verify-signup${search}`)).status, 400)
})

/** An administrator who opened the link kept the account of the person in a session of 90 days, and a token of a year. */
test('the first sign-in by a provider ends what was begun with a link that was not mailed, and nothing else', async (t) => {
  const berth = await startBerthWith(t, { main })
  const { browser: boss } = await signInAs(berth, 'boss', verified('boss@x.org'))
  const { csrf } = await boss.open('/')
  const statusOf = async (token: string) => (await berth.call('GET', '/api/user/me', { token })).status
  const apiTokenOf = async (token: string) => {
    const body = { name: 'script', scopes: ['containers:read'], expires_in: 31_536_000 }
    return (await berth.call('POST', '/api/user/tokens', { token, body })).body.token as string
  }
  const body = { emails: ['ceo@x.org'], send: false }
  const invited = await boss.ask('POST', '/api/admin/invitations', { proof: csrf, body })
  const { search } = new URL(invited.body.invitations[0].link)
  const { access_token: opened } = (await berth.call('GET', `/api/auth/verify-signup${search}`)).body
  const held = [opened, await apiTokenOf(opened)]
  assert.deepEqual(await Promise.all(held.map(statusOf)), [200, 200])
  const { browser } = await signInAs(berth, 'ceo', verified('ceo@x.org'))
  assert.equal((await userOf(browser)).email, 'ceo@x.org')
  assert.deepEqual(await Promise.all(held.map(statusOf)), [401, 401])
  const { entries } = (await boss.ask('GET', '/api/admin/audit?action=token.remove', { proof: csrf })).body
  assert.deepEqual(
    entries.map(({ actor }: { actor: { email: string } }) => actor.email),
    ['provider main'],
  )
  const { access_token: mailed } = (await linkFor(berth, 'signup', 'ann@x.org')).body
  const own = [mailed, await apiTokenOf(mailed)]
  await signInAs(berth, 'ann', verified('ann@x.org'))
  assert.deepEqual(await Promise.all(own.map(statusOf)), [200, 200])
})

test('a blocked account stays outside', async (t) => {
  const berth = await startBerthWith(t, { main })
  const { browser: boss } = await signInAs(berth, 'boss', verified('boss@x.org'))
  const id = await accountIdOf(await signInAs(berth, 'ann', verified('ann@x.org')))
  await linkFor(berth, 'signup', 'ben@x.org')
  const { csrf } = await boss.open('/')
  for (const each of [id, id + 1]) await boss.ask('POST', `/api/admin/users/${each}/block`, { proof: csrf })
  await refuses(berth, 'ann', verified('ann@x.org'), 'blocked')
  await refuses(berth, 'ben', verified('ben@x.org'), 'blocked')
})

test('allowed_groups lets members in, and no user whose groups are unknown', async (t) => {
  const fields = {
    groups_claim: 'groups',
    allowed_groups: ['/staff', 'teachers'],
    scopes: ['openid', 'email', 'groups'],
  }
  const berth = await startBerthWith(t, { main: await registerAt(provider, 'main', fields) })
  const ann = (claims: object) => ({ ...verified('ann@x.org'), ...claims })
  await refuses(berth, 'ann', ann({ groups: [] }), 'not-in-group')
  // Paths and names are compared as they are.
  await refuses(berth, 'ann', ann({ groups: ['staff', 'Teachers'] }), 'not-in-group')
  await refuses(berth, 'ann', ann({}), 'groups-unknown')
  await refuses(berth, 'ann', ann({ groups: [1] }), 'groups-unknown')
  await refuses(berth, 'ann', ann({ groups: null }), 'groups-unknown')
  // One text is a list of one, and an empty one a list of none.
  await refuses(berth, 'ann', ann({ groups: 'teachers, staff' }), 'not-in-group')
  await refuses(berth, 'ann', ann({ groups: '' }), 'not-in-group')
  assert.equal(
    (await userOf((await signInAs(berth, 'ben', { ...verified('ben@x.org'), groups: 'teachers' })).browser)).email,
    'ben@x.org',
  )
  await refuses(berth, 'ann', ann({ _claim_names: { groups: 'src1' } }), 'groups-unknown')
  const { browser } = await signInAs(berth, 'ann', ann({ groups: ['others', '/staff'] }))
  assert.equal((await userOf(browser)).email, 'ann@x.org')
})

test('admin_groups makes and unmakes administrators at each sign-in, never the last one, and says nothing without the claim', async (t) => {
  const fields = { groups_claim: 'groups', admin_groups: ['admins'], scopes: ['openid', 'email', 'groups'] }
  const berth = await startBerthWith(t, { main: await registerAt(provider, 'main', fields) })
  const isAdmin = async (sub: string, groups?: readonly string[]) => {
    const { browser } = await signInAs(berth, sub, { ...verified(`${sub}@x.org`), ...(groups ? { groups } : {}) })
    return (await userOf(browser)).is_admin as boolean
  }
  assert.equal(await isAdmin('first', []), true, 'the last administrator stays one')
  assert.equal(await isAdmin('ann'), false)
  assert.equal(await isAdmin('ann', ['admins']), true)
  assert.equal(await isAdmin('ann'), true, 'a sign-in without the claim changes nothing')
  assert.equal(await isAdmin('first', ['others']), false)
  assert.equal(await isAdmin('ann', []), true, 'she is the last one now')
  assert.equal(await isAdmin('first', ['admins']), true)
  assert.equal(await isAdmin('ann', []), false)
  const { browser } = await signInAs(berth, 'first', { ...verified('first@x.org'), groups: ['admins'] })
  const { csrf } = await browser.open('/')
  const { entries } = (await browser.ask('GET', '/api/admin/audit', { proof: csrf })).body
  const changes = entries.map((entry: { action: string; actor: { email: string } }) => [
    entry.action,
    entry.actor.email,
  ])
  assert.deepEqual(changes.slice(0, 2), [
    ['user.demote', 'provider main'],
    ['user.promote', 'provider main'],
  ])
})

/** Okta omits the claim of a user who is in no group: who had left the last one stayed an administrator. */
test('with groups_absent: none a sign-in without the claim takes the rights of admin_groups and allowed_groups', async (t) => {
  const fields = { groups_claim: 'groups', groups_absent: 'none', scopes: ['openid', 'email', 'groups'] }
  const berth = await startBerthWith(t, {
    main: await registerAt(provider, 'main', { ...fields, admin_groups: ['admins'] }),
    closed: await registerAt(provider, 'closed', { ...fields, allowed_groups: ['staff'] }),
  })
  const isAdmin = async (sub: string, groups: object) =>
    (await userOf((await signInAs(berth, sub, { ...verified(`${sub}@x.org`), ...groups })).browser)).is_admin as boolean
  assert.equal(await isAdmin('first', { groups: ['admins'] }), true)
  assert.equal(await isAdmin('ann', { groups: ['admins'] }), true)
  assert.equal(await isAdmin('ann', { _claim_names: { groups: 'src1' } }), true, 'kept elsewhere is not absent')
  assert.equal(await isAdmin('ann', {}), false)
  await refuses(berth, 'eve', verified('eve@x.org'), 'not-in-group', 'closed')
})
