// Part of npm run test:more: a sample for every endpoint; specification/api/invalid-input states the rules.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { extent } from '../support/extent.ts'
import { StoreDigest } from './digest.ts'
import { hostileRequests } from './inputs.ts'
import type { Caller, HostileRequest } from './request-lines.ts'
import { send, type Answer } from './send.ts'

/**
 * What no honest client sends, to every endpoint of the table and from every kind of caller: wrong types, huge and nested bodies, odd
 * letters, duplicates, prototypes, abused heads, addresses and methods. Made from the rows, so that a new one is covered.
 */
const env = { LOG_LEVEL: 'debug', MAGIC_LINK_RATE_LIMIT: '100000', REQUESTS_PER_MINUTE: '0' }
const berth = await startEnginelessBerth({ after }, { env, pace: { every: 3_600_000 } })
const port = Number(new URL(berth.url).port)
const digest = new StoreDigest(berth.dataDir)
after(() => digest.close())
const emails = { administrator: 'boss@x.org', user: 'ann@x.org' } as const
const tokens: Record<Caller, string | undefined> = { administrator: undefined, user: undefined, nobody: undefined }
for (const caller of ['administrator', 'user'] as const) tokens[caller] = await signIn(caller, 'signup')
let [sent, hungUp] = [0, 0]

for (const [name, endpoint] of Object.entries<Endpoint>(endpoints))
  test(`${name} (${endpoint.method} ${endpoint.path}) refuses in words whatever is sent, and stores nothing of it`, async () => {
    const faults: string[] = []
    for (const caller of ['nobody', 'user', 'administrator'] as const) {
      await staySignedIn()
      for (const [index, request] of hostileRequests(endpoint, tokens[caller]).entries())
        if (index % everyOf(endpoint, caller) === 0)
          await attempt(endpoint, caller, request).catch((error: unknown) => faults.push(String(error)))
    }
    assert.equal(faults.length, 0, `${faults.length} faults:\n${faults.slice(0, 12).join('\n')}`)
  })

const least = extent(750, 5_000)
test(`that were at least ${least} requests, and nothing was logged as an error`, (t) => {
  t.diagnostic(`${sent} requests, of which ${hungUp} got no answer`)
  assert.ok(sent >= least, `${sent}`)
  // A connection that is ended while the client still writes may lose its answer; that must stay the exception.
  assert.ok(hungUp < sent / 20, `${hungUp} of ${sent} got no answer`)
  // That there is no image for a container is the engine's fault, and no bug.
  assert.deepEqual(
    berth.logs.filter((line) => /"level":[56]0/.test(line) && !line.includes('"kind":"image"')).slice(0, 3),
    [],
  )
})

/** `npm run test:long` leaves out nothing of what reaches the endpoint itself; of what is refused before, or asked by another caller, every sixth is sent. */
function everyOf({ access }: Endpoint, caller: Caller): number {
  const isTheOne =
    { public: 'nobody', user: 'user', admin: 'administrator', operator: 'administrator' }[access] === caller
  return (isTheOne ? 1 : 6) * extent(8, 1)
}

async function attempt(endpoint: Endpoint, caller: Caller, request: HostileRequest): Promise<void> {
  const what = `${caller}, ${request.why}: ${request.head[0]?.slice(0, 120)}`
  const before = digest.now()
  const answer = await send(port, request).catch((error: unknown) => assert.fail(`${what}: ${String(error)}`))
  sent++
  if (answer.status === 0) hungUp++
  // An endpoint that redirects leads to a page that shows the refusal.
  const isLedAway = 'redirects' in endpoint && answer.status === 302
  const isRefused = answer.status >= 400 || answer.status === 0
  if (isRefused)
    assert.equal(digest.now(), before, `${what} was refused with ${answer.status}, and something was stored`)
  assert.ok(
    isRefused || isLedAway || !mustBeRefused(endpoint, caller, request),
    `${what} was answered ${answer.status}: ${answer.text}`,
  )
  if (isRefused) checkRefusal(endpoint, request, answer, what)
  else if (endpoint.method !== 'GET') await staySignedIn()
}

/** Whatever is wrong with it: who may not call an endpoint gets nowhere. */
function mustBeRefused({ access, path }: Endpoint, caller: Caller, { isBad, head }: HostileRequest): boolean {
  const isThisAddress = head[0]?.includes(path.split('{')[0] ?? path) === true && !head[0].startsWith('OPTIONS')
  if (isBad || access === 'operator') return true
  return isThisAddress && ((access !== 'public' && caller === 'nobody') || (access === 'admin' && caller === 'user'))
}

function checkRefusal(
  endpoint: Endpoint,
  { head }: HostileRequest,
  { status, headers, text }: Answer,
  what: string,
): void {
  // What cannot be read at all may be hung up on.
  if (status === 0) return
  assert.ok(status < 500 || mayFail(endpoint, status), `${what} was answered ${status}: ${text}`)
  assert.equal(headers['cache-control'], 'no-store', `${what}: cache-control of ${status}`)
  assert.equal(headers['x-content-type-options'], 'nosniff', `${what}: nosniff of ${status}`)
  if (head[0]?.startsWith('HEAD ')) return
  assert.match(headers['content-type'] ?? '', /^application\/json/, `${what}: ${text}`)
  const { error, ...more } = JSON.parse(text) as Record<string, unknown>
  assert.ok(typeof error === 'string' && error.length > 10, `${what}: ${text}`)
  const allowed = Object.keys((endpoint.refusals[status] as { properties?: object } | undefined)?.properties ?? {})
  for (const key of Object.keys(more)) assert.ok(allowed.includes(key), `${what}: ${key} in ${text}`)
  assert.doesNotMatch(text, /node_modules|\bat \S+:\d+|SQLITE|kysely|\/server\/src\//, what)
}

/** Where there is no engine nothing can be started; and an unknown transfer coding is answered 501 (RFC 9112 6.1). */
const mayFail = ({ refusals, path }: Endpoint, status: number) =>
  status === 501 ||
  status === 505 ||
  (status === 500 && path.startsWith('/api/container/') && refusals[500] !== undefined)

/** Some of it is no worse than a sign-out. */
async function staySignedIn(): Promise<void> {
  for (const caller of ['administrator', 'user'] as const) {
    const token = tokens[caller] ?? ''
    const { status } = await berth.call('GET', '/api/user/me', { token })
    if (status !== 200) tokens[caller] = await signIn(caller, 'login')
  }
}

async function signIn(caller: 'administrator' | 'user', purpose: 'signup' | 'login'): Promise<string> {
  const asked = await berth.call('POST', `/api/auth/${purpose}`, { body: { email: emails[caller] } })
  assert.equal(asked.status, 200, asked.text)
  const mail = berth.mails.findLast(({ to }) => to === emails[caller])
  assert.ok(mail)
  const { status, body, text } = await berth.call('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)
  assert.equal(status, 200, text)
  return body.access_token
}
