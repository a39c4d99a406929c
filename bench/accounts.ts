import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { decodeJwt, SignJWT } from 'jose'
import { AccessTokens } from '../server/src/accounts/sessions/access-token.ts'
import { loadSigningKeys } from '../server/src/accounts/sessions/signing-keys.ts'
import { startPostgres } from '../server/test/support/store/postgres.ts'
import { activeEmail, loadUsers, fillStore, loginToken, signupToken, type Crowd } from './accounts-store.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { BenchLifetime } from './lifetime.ts'
import { numberOption, textOption } from './options.ts'
import { startService, type ServiceProcess } from './service-process.ts'

/**
 * The cost of accounts in an empty store and in one with 100,000 users and 1,000,000 links: `npm run bench:accounts`,
 * `-- --postgres`, `-- --rounds=3`, `-- --people=10000 --links=100000`, `-- --only=logout`. Both alternate, so that
 * noise affects both alike.
 */
const isPostgres = process.argv.includes('--postgres')
const only = textOption('only') ?? ''
/** At most ten: there are no links for more. */
const rounds = Math.min(10, numberOption('rounds', 6))
const crowd: Crowd = { people: numberOption('people', 100_000), links: numberOption('links', 1_000_000) }
/** Requests of one round, and how many of them run at once. */
const [requestsPerSample, parallel] = [200, 4]

interface Asked {
  readonly method: string
  readonly path: string
  /** An access token or an API token, for the header. */
  readonly token?: string | undefined
  /** An access token, for the cookie. */
  readonly cookie?: string | undefined
  /** Number of the browser whose cookie `berth_session` is sent, and replaced by its successor. */
  readonly browser?: number
  readonly body?: object
}

/** One of the two sides of the comparison. */
interface Side {
  readonly service: ServiceProcess
  readonly agent: Agent
  /** Of the active users, in order. */
  readonly tokens: string[]
  /** API tokens of the active users, in order. */
  readonly apiTokens: string[]
  /** Cookies `berth_session` of the same sign-ins as `tokens`. */
  readonly sessions: string[]
  readonly dataDir: string
  /** Tokens that may be signed out. */
  readonly spare: string[]
}

interface Sample {
  /** Per request: ms with `parallel` at once, ms of the service's CPU, and ms of each. */
  readonly wall: number
  readonly cpu: number
  readonly latencies: readonly number[]
}

/** The request of each case by its number; no two requests of a side have the same number. */
const cases: Readonly<Record<string, (side: Side, index: number) => Asked>> = {
  'POST /api/auth/signup': (_, index) => mailing('signup', `new${index}@bench.test`),
  'POST /api/auth/login': (_, index) => mailing('login', activeEmail(index)),
  'GET /api/auth/verify-signup': (_, index) => reading(`/api/auth/verify-signup?token=${signupToken(index)}`),
  'GET /api/auth/verify-login': (_, index) => reading(`/api/auth/verify-login?token=${loginToken(index)}`),
  'GET /api/user/me': ({ tokens }, index) => reading('/api/user/me', tokens[index % tokens.length]),
  'GET /api/user/containers': ({ tokens }, index) => reading('/api/user/containers', tokens[index % tokens.length]),
  'GET /api/container/status': ({ tokens }, index) => reading('/api/container/status', tokens[index % tokens.length]),
  'GET /api/admin/users?limit=50': ({ tokens }) => reading('/api/admin/users?limit=50', tokens[0]),
  'POST /api/auth/logout': ({ spare }) => ({ method: 'POST', path: '/api/auth/logout', token: spare.pop() }),
}

const mailing = (purpose: string, email: string): Asked => ({
  method: 'POST',
  path: `/api/auth/${purpose}`,
  body: { email },
})
const reading = (target: string, token?: string): Asked => ({ method: 'GET', path: target, token })

const byApiToken = {
  name: 'GET /api/user/me by API token',
  work: ({ apiTokens }: Side, index: number) => reading('/api/user/me', apiTokens[index % apiTokens.length]),
}

await using lifetime = new BenchLifetime()
const empty = await begin('empty', { people: 0, links: 0 })
const full = await begin('full', crowd)
for (const side of [empty, full]) await signIn(side)
for (const [name, work] of Object.entries(cases)) if (name.includes(only)) await compareStores(name, work, empty, full)
if (byApiToken.name.includes(only)) await compareTokens(full)
await compareRenewals(full)
await verifyTokens()

async function begin(name: string, size: Crowd): Promise<Side> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-bench-'))
  lifetime.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const url = isPostgres ? await ownPostgres() : null
  const filled = await timed(() => fillStore(url, dataDir, size))
  const program = path.join(import.meta.dirname, 'accounts-service.ts')
  const started = await timed(() => startService(program, [dataDir, url ?? '']))
  const service = started.value
  lifetime.after(() => service.stop())
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  process.stdout.write(
    `${name}: ${size.people} people, ${size.links} links; filled in ${seconds(filled.ms)}, started in ${seconds(started.ms)}\n`,
  )
  const agent = new Agent({ keepAlive: true, maxSockets: parallel })
  lifetime.after(() => agent.destroy())
  return {
    service,
    agent,
    dataDir,
    tokens: [],
    apiTokens: [],
    sessions: [],
    spare: [],
  }
}

async function ownPostgres(): Promise<string> {
  const postgres = await startPostgres()
  lifetime.after(() => postgres.stop())
  return postgres.url
}

/** An API token for each active user, and two kinds of access tokens: one to read with, and one per round to sign out. */
async function signIn(side: Side): Promise<void> {
  const spare = requestsPerSample * (rounds + 1)
  for (let index = 0; index < loadUsers.active + spare; index++) {
    // From the end: the measured case counts from the beginning.
    const browser = (loadUsers.loginLinks - 1 - index) % loadUsers.active
    const isActive = index < loadUsers.active
    const { access_token: token } = (await ask(side, {
      ...reading(`/api/auth/verify-login?token=${loginToken(loadUsers.loginLinks - 1 - index)}`),
      ...(isActive ? { browser } : {}),
    })) as { access_token: string }
    if (isActive) side.tokens[browser] = token
    else side.spare.push(token)
  }
  const body = { name: 'bench', scopes: ['containers:read'], expires_in: 86_400 }
  for (const token of side.tokens) {
    const made = (await ask(side, { method: 'POST', path: '/api/user/tokens', token, body })) as { token: string }
    side.apiTokens.push(made.token)
  }
}

/** What is compared with another: the same requests to another store, or others to the same. */
interface Variant {
  readonly name: string
  readonly side: Side
  readonly work: (side: Side, index: number) => Asked
}

function compareStores(name: string, work: Variant['work'], empty: Side, full: Side): Promise<void> {
  return compare(
    name,
    { name: 'empty store', side: empty, work },
    { name: 'full store', side: full, work },
    'full against empty (at most 1.20)',
  )
}

/** The same request by API token, which one query finds with its user, and by cookie. */
function compareTokens(side: Side): Promise<void> {
  const cookie: Variant['work'] = ({ tokens }, index) => ({
    method: 'GET',
    path: '/api/user/me',
    cookie: tokens[index % tokens.length],
  })
  return compare(
    byApiToken.name,
    { name: 'by cookie', side, work: cookie },
    { ...byApiToken, side },
    'API token against cookie',
  )
}

/**
 * What sessions cost: a request that renews nothing beside the same with a token of no session, as before sessions; a
 * request that renews its token, and a refresh, beside one that renews nothing.
 */
async function compareRenewals(side: Side): Promise<void> {
  const { privateKey, kid } = await loadSigningKeys(side.dataDir)
  /** The same tokens, signed again with other claims. @param age of their life that has passed, in seconds */
  const signAgain = (hasSession: boolean, age: number) =>
    Promise.all(
      side.tokens.map((token) => {
        const { sub = '', jti = '', sid, iss = '' } = decodeJwt(token)
        const issuedAt = Math.floor(Date.now() / 1_000) - age
        return new SignJWT({ is_admin: false, ...(hasSession ? { sid } : {}) })
          .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
          .setSubject(sub)
          .setJti(jti)
          .setIssuer(iss)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + 86_400)
          .sign(privateKey)
      }),
    )
  const byCookie =
    (tokens: readonly string[]): Variant['work'] =>
    (_, index) => ({
      method: 'GET',
      path: '/api/user/me',
      cookie: tokens[index % tokens.length],
    })
  const usual = { name: 'renews nothing', side, work: byCookie(side.tokens) }
  const without = { name: 'without a session', side, work: byCookie(await signAgain(false, 0)) }
  const renewing = { name: 'renews its token', side, work: byCookie(await signAgain(true, 50_000)) }
  const refresh: Variant['work'] = (_, index) => ({
    method: 'POST',
    path: '/api/auth/refresh',
    browser: index % side.sessions.length,
  })
  const rows = [
    ['a request that renews nothing', without, usual, 'with against without a session'],
    ['a request that renews its token', usual, renewing, 'renewing against not'],
    ['POST /api/auth/refresh', usual, { name: 'refresh', side, work: refresh }, 'refresh against a usual request'],
  ] as const
  for (const [name, base, other, ratio] of rows) if (name.includes(only)) await compare(name, base, other, ratio)
}

async function compare(name: string, base: Variant, other: Variant, ratioName: string): Promise<void> {
  const [ofBase, ofOther]: [Sample[], Sample[]] = [[], []]
  // The first round of each is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? [base, other] : [other, base]
    for (const variant of order) {
      const { side, work } = variant
      const sample = await takeSample(side, (index) => work(side, round * requestsPerSample + index))
      if (round > 0) (variant === base ? ofBase : ofOther).push(sample)
    }
  }
  const ratio = (figure: (sample: Sample) => number) =>
    median(ofOther.map((sample, round) => figure(sample) / figure(ofBase[round] as Sample)))
  const of = (samples: readonly Sample[]) =>
    `${Math.round(1000 / median(samples.map(({ wall }) => wall)))} per second, p99 ${milliseconds(p99(samples.flatMap(({ latencies }) => latencies)))}, ${milliseconds(median(samples.map(({ cpu }) => cpu)))} CPU each`
  report(name, {
    [base.name]: of(ofBase),
    [other.name]: of(ofOther),
    [ratioName]: `${ratio(({ wall }) => wall).toFixed(2)} in time, ${ratio(({ cpu }) => cpu).toFixed(2)} in CPU`,
  })
}

async function takeSample(side: Side, asked: (index: number) => Asked): Promise<Sample> {
  const latencies: number[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < requestsPerSample; index = next++) {
      const what = asked(index)
      latencies.push((await timed(() => ask(side, what))).ms)
    }
  }
  const before = await side.service.cpu()
  const { ms } = await timed(() => Promise.all(Array.from({ length: parallel }, worker)))
  return { wall: ms / requestsPerSample, cpu: ((await side.service.cpu()) - before) / requestsPerSample, latencies }
}

/** @throws for every status but 200 */
async function ask(side: Side, { method, path: target, token, cookie, browser, body }: Asked): Promise<unknown> {
  const { agent, service } = side
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(cookie === undefined ? {} : { cookie: `spawner_token=${cookie}` }),
    ...(browser === undefined ? {} : { cookie: `berth_session=${side.sessions[browser] ?? ''}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const sent = request({ agent, port: service.port, method, path: target, headers }, (answer) => {
    const successor = /berth_session=([^;]+)/.exec((answer.headers['set-cookie'] ?? []).join(' '))?.[1]
    if (browser !== undefined && successor !== undefined) side.sessions[browser] = successor
    let text = ''
    answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    answer.on('end', () =>
      answer.statusCode === 200
        ? resolve(text)
        : reject(new Error(`${method} ${target} answered ${answer.statusCode}: ${text}`)),
    )
  })
  sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  return JSON.parse(await promise)
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? NaN
}

/** A signature is verified once and then cached. */
async function verifyTokens(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-key-'))
  lifetime.after(() => rmSync(folder, { recursive: true, force: true }))
  let next = 0
  const tokens = new AccessTokens(await loadSigningKeys(folder), 'http://bench.test', 3600, () => `era.${next++}`)
  const now = new Date()
  const all = await Promise.all(
    Array.from({ length: 2_000 }, (_, id) => tokens.issue({ id: id + 1, isAdmin: false }, tokens.plan(now))),
  )
  const each = async () => {
    const { ms } = await timed(async () => {
      for (const token of all) await tokens.verify(token, now)
    })
    return `${(ms / all.length).toFixed(4)} ms`
  }
  report('verification of a token', { 'the first time': await each(), 'with its cache (under 0.1 ms)': await each() })
  process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
}
