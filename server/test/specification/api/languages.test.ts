import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, tokenBy } from '../../support/api-calls.ts'
import { startBerth, type CallOptions } from '../../support/berth.ts'
import { pollUntil } from '../../support/control-plane.ts'
import { openStream, type OpenStream } from '../../support/event-stream.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')

/** How a client states its language. */
const german = { 'accept-language': 'de-AT, de;q=0.9, en;q=0.5' }
const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** One refusal of each kind: who asks for what, and how the German answer begins. */
const refused: readonly (readonly [
  what: string,
  method: string,
  path: string,
  options: CallOptions,
  german: RegExp,
])[] = [
  ['no body', 'POST', '/api/auth/login', {}, /^Die Anfrage hat keinen Inhalt\. Schicke JSON wie \{"email"/],
  ['no JSON', 'POST', '/api/auth/login', { body: '{' }, /^Der Inhalt ist kein gültiges JSON\./],
  ['no address', 'POST', '/api/auth/signup', { body: { email: 'x' } }, /^An diese Adresse können wir keine E-Mail/],
  [
    'a wrong type',
    'POST',
    '/api/auth/login',
    { body: { email: 7 } },
    /^Der Inhalt ist ungültig: email muss vom Typ string/,
  ],
  ['a bad address', 'GET', '/api/%zz', {}, /^Die Adresse ist ungültig: Auf % müssen/],
  ['an unknown link', 'GET', '/api/auth/verify-login?token=x', {}, /^Dieser Link gilt nicht/],
  ['no token', 'GET', '/api/user/me', {}, /^Melde dich zuerst an/],
  ['no administrator', 'GET', '/api/admin/users', { token: ann.token }, /^Das dürfen nur Administratoren\./],
  [
    'an unknown type',
    'POST',
    '/api/container/launch/x',
    { token: ann.token },
    /^Diesen Containertyp gibt es nicht\. Bekannte Typen: dev, prod\.$/,
  ],
  ['no such user', 'POST', '/api/admin/users/999/block', { token: admin.token }, /^Dieses Konto gibt es nicht\.$/],
  [
    'oneself',
    'POST',
    `/api/admin/users/${admin.id}/block`,
    { token: admin.token },
    /^Du kannst dich nicht selbst sperren\./,
  ],
  ['another method', 'PUT', '/api/user/me', {}, /^Diese Adresse antwortet nur auf GET\.$/],
  ['no such endpoint', 'GET', '/api/none', {}, /^Unter dieser Adresse gibt es nichts\./],
  [
    'a failed launch',
    'POST',
    '/api/container/launch/dev',
    { token: ann.token },
    /^Das Image dieses Containers ist nicht auf diesem Server/,
  ],
  [
    'a failed restart',
    'POST',
    '/api/container/restart',
    { token: ann.token },
    /geholt werden\. Bitte deinen Administrator, es bereitzustellen\. Deine Dateien sind sicher\.$/,
  ],
  ['a container without a token', 'GET', `/${ann.slug}-dev/`, {}, /^Du bist nicht angemeldet, oder deine Anmeldung/],
  [
    "another's container",
    'GET',
    `/${ann.slug}-dev/`,
    { token: admin.token },
    /^Dieser Container gehört einer anderen Person\./,
  ],
  [
    'a path that climbs',
    'GET',
    `/${ann.slug}-dev/%2e%2e%2fx`,
    { token: ann.token },
    /^Diese Adresse ist ungültig\. Ihre Abschnitte „\.\.“ führen/,
  ],
  [
    'an absent container',
    'GET',
    `/${ann.slug}-prod/`,
    { token: ann.token },
    /^Production ist noch nicht da\. Der Container wurde nie/,
  ],
]

for (const [what, method, path, options, begins] of refused) {
  test(`${what}: in German for a client that asks for it, in English for every other`, async () => {
    const by = (headers: Record<string, string>) =>
      berth.call(method, path, { ...options, headers: { ...options.headers, ...headers } })
    const inGerman = await by(german)
    assert.match(inGerman.body.error, begins)
    assert.equal(inGerman.headers.get('content-language'), 'de')
    const inEnglish = await by({})
    assert.equal(inEnglish.status, inGerman.status)
    assert.equal(inEnglish.headers.get('content-language'), null)
    assert.notEqual(inEnglish.body.error, inGerman.body.error)
    assert.equal((await by({ 'accept-language': 'fr, *;q=0.5' })).text, inEnglish.text)
  })
}

test('confirmations and partial failures are in the language of the client', async () => {
  const block = (headers: Record<string, string>) =>
    admin.call('POST', '/api/admin/users/bulk-block', { body: { user_ids: [admin.id] }, headers })
  const [english, inGerman] = [await block({}), await block(german)]
  assert.equal(english.body.message, '0 users blocked.')
  assert.equal(english.body.refused[0].error, 'You cannot block yourself. Ask another administrator.')
  assert.equal(inGerman.body.message, '0 Konten gesperrt.')
  assert.match(inGerman.body.refused[0].error, /^Du kannst dich nicht selbst sperren\./)
  assert.equal(inGerman.headers.get('content-language'), 'de')
  const sent = { body: { email: 'nobody@x.org' }, headers: german }
  assert.match((await berth.call('POST', '/api/auth/login', sent)).body.message, /^Wenn es für diese Adresse ein Konto/)
})

test('what a person chose counts more than their browser', async () => {
  const chosen = { ...german, cookie: 'spawner_language=en' }
  for (const path of ['/api/user/me', `/${ann.slug}-dev/`]) {
    const { body } = await berth.call('GET', path, { headers: chosen })
    assert.match(body.error, /^(Sign in first|You are not signed in)/)
  }
})

test('a launch that fails is reported to each open page in its own language', async () => {
  const pages = [await openStream(berth, ann.token), await openStream(berth, ann.token, { language: 'de' })]
  await ann.call('POST', '/api/container/launch/prod')
  const failedIn = ({ events }: OpenStream) =>
    events.find(({ name, data }) => name === 'launch' && data.type === 'prod' && data.stage === 'failed')
  await pollUntil(
    () => pages.every(failedIn),
    () => pages.map((each) => each.text()).join('\n'),
  )
  const [english, inGerman] = pages.map((each) => String(failedIn(each)?.data.message))
  assert.match(english ?? '', /^The image of this container is not on this server/)
  assert.match(inGerman ?? '', /^Das Image dieses Containers ist nicht auf diesem Server/)
  const late = await openStream(berth, ann.token, { language: 'de' })
  await pollUntil(
    () => late.text().includes('Das Image dieses Containers'),
    () => late.text(),
  )
  for (const each of [...pages, late]) each.close()
})

test('a mail is in the language of its requester, an invitation in that of the inviter', async () => {
  const withLanguage = (email: string) => berth.call('POST', '/api/auth/signup', { body: { email }, headers: german })
  assertOk(await withLanguage('eva@x.org'))
  assertOk(await ask(berth, 'signup', 'eve@x.org'))
  assertOk(await admin.call('POST', '/api/admin/invitations', { body: { emails: ['gus@x.org'] }, headers: german }))
  const [eva, eve, gus] = ['eva@x.org', 'eve@x.org', 'gus@x.org'].map((email) => berth.mail.newestTo(email))
  assert.equal(eva?.subject, 'Deine Registrierung bei Berth abschließen')
  assert.match(eva?.text ?? '', /Der Link funktioniert einmal, innerhalb von 15 Minuten\./)
  assert.match(eva?.html ?? '', /<html lang="de">[^]*weil eva@x\.org bei Berth eingegeben wurde/)
  assert.equal(eve?.subject, 'Finish signing up to Berth')
  assert.match(eve?.html ?? '', /<html lang="en">/)
  assert.match(gus?.text ?? '', /weil boss@x\.org die Adresse gus@x\.org zu Berth eingeladen hat\./)
  assertOk(await berth.call('GET', `/api/auth/verify-signup?token=${berth.mail.tokenFor('eva@x.org')}`))
  assert.ok(await tokenBy(berth, 'login', 'eva@x.org'))
})

test('the document of the front end says its language, and what is read where no script runs', async () => {
  const open = (headers: Record<string, string>) => berth.call('GET', '/', { headers: { ...page, ...headers } })
  const [english, inGerman] = [await open({}), await open(german)]
  assert.match(english.text, /<html lang="en">[^]*"language":"en"[^]*Berth needs JavaScript/)
  assert.match(inGerman.text, /<html lang="de">[^]*"language":"de"[^]*Zum Anmelden braucht Berth JavaScript/)
  assert.equal(inGerman.headers.get('content-language'), 'de')
  assert.match(inGerman.headers.get('vary') ?? '', /Accept-Language/)
  assert.match(inGerman.headers.get('vary') ?? '', /Cookie/)
})

test('the pages of the gateway are German where the browser is, by the same policy', async () => {
  const token = { authorization: `Bearer ${ann.token}` }
  const open = (headers: Record<string, string>) =>
    rawCall(berth, 'GET', `/${ann.slug}-prod/`, { ...token, ...page, ...headers })
  const [english, inGerman] = [await open({}), await open(german)]
  assert.match(inGerman.text, /^<!doctype html>\n<html lang="de">/)
  assert.match(inGerman.text, /Noch einmal versuchen|Starten/)
  assert.match(english.text, /^<!doctype html>\n<html lang="en">/)
  assert.equal(inGerman.headers['content-language'], 'de')
  assert.equal(inGerman.headers['content-security-policy'], english.headers['content-security-policy'])
})
