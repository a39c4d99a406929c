import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Level } from '#/doctor/check.ts'
import { formatCount } from '#/terminal.ts'
import type { AttackInstallation, Loot, Outcome } from './attack-installation.ts'

interface Given {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly env: Readonly<Record<string, string>>
}

const calls: readonly [method: string, target: string][] = [
  ['GET', '/api/user/me'],
  ['GET', '/api/user/sessions'],
  ['GET', '/api/admin/users'],
  ['GET', '/api/admin/system'],
  ['POST', '/api/container/stop/attack'],
]

/** A JSON Web Token, or an API token. */
const tokenForm = /eyJ[\w-]+\.[\w-]+\.[\w-]+|berth_[\w-]{20,}/g

/** Berth's API, and the container of another user, with every token that the container was given. */
export async function useApi(installation: AttackInstallation, signal: AbortSignal): Promise<Outcome> {
  const { headers, env } = await installation.order<Given>({ verb: 'describe' }, signal)
  const tokens = [...new Set(JSON.stringify([headers, env]).match(tokenForm) ?? [])]
  const targets = [...calls, ['GET', `${installation.victim.prefix}/order`] as const]
  const got: Loot[] = []
  for (const token of [null, ...tokens])
    for (const [method, target] of targets)
      if (await isAnswered(installation, method, target, token)) got.push(lootOf(installation, method, target, token))
  return {
    got: got.slice(0, 1),
    tried: `${targets.length} calls with ${formatCount(tokens.length, 'token')} that it was given, and without`,
  }
}

/** As cookie and as Bearer token. */
async function isAnswered(
  { fetch }: AttackInstallation,
  method: string,
  target: string,
  token: string | null,
): Promise<boolean> {
  const bearer = token === null ? {} : { authorization: `Bearer ${token}` }
  for (const response of [
    await fetch(target, token, { method }),
    await fetch(target, null, { method, headers: bearer }),
  ]) {
    await response.arrayBuffer()
    if (response.status >= 200 && response.status < 300) return true
  }
  return false
}

function lootOf({ template }: AttackInstallation, method: string, target: string, token: string | null): Loot {
  if (token !== null && template.forwardToken === 'full')
    return {
      level: 'warning',
      what: `With forward_token: full it gets the token of its owner, and acts as this user (${method} ${target}).`,
      fix: 'remove forward_token: full from the template, unless you trust its image with the accounts of all who use it',
    }
  return {
    level: 'critical',
    what: `Berth answers ${method} ${target} ${token === null ? 'without any token' : 'with the token that it gave the container'}.`,
    fix: 'this is a fault of Berth: report it (SECURITY), and stop Berth until it is mended',
  }
}

/** What the pages of a container could do to the origin that it shares with Berth and all other containers. */

const fault = 'this is a fault of Berth: report it, and stop Berth until it is mended'

const loot = (what: string, level: Level = 'critical', fix = fault): Loot => ({ level, what, fix })

/** Headers that speak for the whole origin, or command a server in front; see the security model. */
const originWide = [
  'clear-site-data',
  'alt-svc',
  'strict-transport-security',
  'cross-origin-opener-policy',
  'report-to',
  'nel',
  'origin-agent-cluster',
  'www-authenticate',
  'x-accel-redirect',
  'x-sendfile',
]

/** Cookies of Berth, of other containers, and for other hosts. */
export async function tossCookies({ fetch, attacker }: AttackInstallation): Promise<Outcome> {
  const response = await fetch(`${attacker.prefix}/page`, attacker.token)
  await response.arrayBuffer()
  const isOwn = (cookie: string) =>
    cookie.toLowerCase().includes(`; path=${attacker.prefix}`) && !/;\s*domain=/i.test(cookie)
  // Berth's own cookies renew a sign-in; these come from the container.
  const wild = response.headers.getSetCookie().filter((cookie) => /evil|tossed|bomb/.test(cookie) && !isOwn(cookie))
  return {
    got: wild.length === 0 ? [] : [loot(`It set cookies outside of its own path: ${wild.join(' | ')}`)],
    tried: '5 cookies for other paths, hosts and names',
  }
}

/** The whole origin: by a service worker, and by headers that speak for the origin. */
export async function hijackOrigin({ fetch, attacker, template }: AttackInstallation): Promise<Outcome> {
  const page = await fetch(`${attacker.prefix}/page`, attacker.token)
  await page.arrayBuffer()
  const passed = originWide.filter((name) => page.headers.has(name))
  const freed = passed.filter((name) => template.allowHeaders.includes(name))
  const others = passed.filter((name) => !freed.includes(name))
  const allow = `It speaks for the whole origin by ${freed.join(', ')}, which allow_headers of the template lets through.`
  return {
    got: [
      ...(others.length > 0 ? [loot(`It speaks for the whole origin by ${others.join(', ')}.`)] : []),
      ...(freed.length > 0 ? [loot(allow, 'warning', 'remove allow_headers from the template')] : []),
      ...(await workerLoot({ fetch, attacker })),
    ],
    tried: `a service worker, ${originWide.length} headers`,
  }
}

/** A worker of the bare prefix has the scope `/`; one below gets as far as `Service-Worker-Allowed` says. */
async function workerLoot({ fetch, attacker }: Pick<AttackInstallation, 'fetch' | 'attacker'>): Promise<Loot[]> {
  const headers = { 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker' }
  const bare = await fetch(attacker.prefix, attacker.token, { headers })
  const text = await bare.text()
  const below = await fetch(`${attacker.prefix}/worker.js`, attacker.token, { headers })
  await below.arrayBuffer()
  const allowed = below.headers.get('service-worker-allowed')
  const isWide = allowed !== null && !allowed.startsWith(`${attacker.prefix}/`)
  return [
    ...(bare.status === 200 && text.includes('addEventListener')
      ? [loot('Its service worker gets the scope of the whole origin.')]
      : []),
    ...(isWide ? [loot(`Its service worker may take the scope ${allowed}.`)] : []),
  ]
}

/** Pages of the front end that are opened with a secret in their address. */
const pagesOfLinks = ['/verify-login?token=', '/verify-signup?token=', '/archive?token=', '/groups?code=']
/** Addresses with a secret that the API refuses in a document. */
const refusedLinks = ['/api/auth/verify-login?token=', '/api/auth/verify-signup?token=']
/** Of no user: the pages and the API answer the same for every secret until it is used. */
const secret = 'attack-secret-of-no-user'

/** What a browser sends for a link that a person opens in a window. */
const navigation = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }

/**
 * Secrets of links that other people open: a service worker of a container sees the address of every document of the origin that the
 * containers share with Berth. No document may have such an address, unless its origin is its own (`sandbox`).
 */
export async function readLinks({ url }: Pick<AttackInstallation, 'url'>, signal: AbortSignal): Promise<Outcome> {
  const seen: string[] = []
  for (const address of [...pagesOfLinks, ...refusedLinks]) {
    const { statusCode = 0, headers } = await navigate(`${url}${address}${secret}`, signal)
    const isRedirect = statusCode >= 300 && statusCode < 400
    const isSafe = isRedirect ? !String(headers.location).includes(secret) : isSandboxed(headers)
    if (!isSafe) seen.push(address.split('?')[0] ?? address)
  }
  const what = `Its service worker sees the secrets of links that others open in the same browser (${seen.join(', ')}).`
  return {
    got: seen.length === 0 ? [] : [loot(what)],
    tried: `${formatCount(pagesOfLinks.length, 'page')} and ${formatCount(refusedLinks.length, 'refusal')} with a secret in the address`,
  }
}

const isSandboxed = (headers: IncomingMessage['headers']) =>
  /(?:^|;)\s*sandbox\s*(?:;|$)/.test(String(headers['content-security-policy'] ?? ''))

/** Not by `fetch`, which says by itself that it is no navigation. */
async function navigate(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers: navigation, signal, agent: false }, (response) => resolve(response.resume())).on(
      'error',
      reject,
    )
  })
}

/** What a browser sends with a request of a page of another site, whatever the page does. */
const browser = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/**
 * The account of its visitor: a page of a container can set cookies for the whole domain until the browser drops those that bind a
 * session to it, so a token in a cookie must not count in a browser by itself.
 */
export async function fixSession({
  fetch,
  attacker,
  config,
}: Pick<AttackInstallation, 'fetch' | 'attacker' | 'config'>): Promise<Outcome> {
  if (config.scheme !== 'https') return { got: [], tried: 'not without https, where no cookie is bound to its browser' }
  const signedIn: string[] = []
  for (const target of ['/api/user/me', `${attacker.prefix}/page`]) {
    const response = await fetch(target, attacker.token, { headers: browser })
    await response.arrayBuffer()
    if (response.status >= 200 && response.status < 300) signedIn.push(target)
  }
  const what = `Its page signs a visitor in to another account by a cookie (${signedIn.join(', ')}).`
  return {
    got: signedIn.length === 0 ? [] : [loot(what)],
    tried: 'a token in a cookie, as a browser sends it that was not signed in with it',
  }
}

/** Bytes of a file that takes no room, which a program that measures the home reads for minutes. */
const sparse = 1024 ** 4

/** The API for others, while it has its own home measured, in which such a file is. */
export async function slowApi(
  installation: Pick<AttackInstallation, 'attacker' | 'victim' | 'fetch' | 'order' | 'template'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { attacker, victim, fetch, order, template } = installation
  if (template.home === null) throw new Error('the template has no home')
  const call = () => fetch('/api/user/me', victim.token)
  const { isMade } = await order<{ isMade: boolean }>({ verb: 'sparse', folder: template.home, bytes: sparse }, signal)
  if (!isMade) throw new Error('it may make no large file in its home')
  const listing = new AbortController()
  try {
    const alone = await medianTime(call, signal)
    const target = `/api/container/folders/${template.type}`
    const lists = Array.from({ length: streams }, async () => {
      while (!listing.signal.aborted) await (await fetch(target, attacker.token)).arrayBuffer().catch(() => undefined)
    })
    const beside = await medianTime(call, signal)
    listing.abort()
    for (const each of lists) each.catch(() => undefined)
    const words = `${Math.round(beside)} ms beside lists of its home, ${Math.round(alone)} ms alone`
    const isSlow = beside > noiseFactor * alone + noiseMs
    return {
      got: isSlow ? [loot(`It slows down the API for others by what it has in its home: ${words}.`, 'warning')] : [],
      tried: `a call of another user took ${words}`,
    }
  } finally {
    listing.abort()
    await order({ verb: 'remove', folder: template.home }, signal).catch(() => undefined)
  }
}

/** Downloads of the attacker at a time, and the time for which others are measured beside them, in ms. */
const [streams, measured] = [4, 3_000]
/** Bytes of a chunk. */
const [small, large] = [1, 65_536]
/** So many times as slow, and so many ms, are more than the noise of a busy machine. */
const [noiseFactor, noiseMs] = [4, 100]

/** Pages of others, while it answers its owner in chunks of a byte: they cost more than the same bytes in large chunks. */
export async function slowOthers(
  installation: Pick<AttackInstallation, 'url' | 'attacker' | 'victim' | 'fetch'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const beside = { large: await latencyBeside(installation, large, signal), small: 0 }
  beside.small = await latencyBeside(installation, small, signal)
  const isSlow = beside.small > noiseFactor * beside.large + noiseMs
  const words = `${Math.round(beside.small)} ms beside chunks of ${small} B, ${Math.round(beside.large)} ms beside ${large / 1024} KiB`
  return {
    got: isSlow
      ? [loot(`It slows down the pages of others by small pieces of its own answers: ${words}.`, 'warning')]
      : [],
    tried: `a page of another user took ${words}`,
  }
}

/** Median time of a request, in ms, of those that follow each other for a while. */
async function medianTime(send: () => Promise<Response>, signal: AbortSignal): Promise<number> {
  const times: number[] = []
  for (const end = performance.now() + measured; times.length < 3 || performance.now() < end;) {
    signal.throwIfAborted()
    const began = performance.now()
    await (await send()).arrayBuffer()
    times.push(performance.now() - began)
  }
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0
}

/** Median time of a page of the victim, in ms, while the attacker downloads. */
async function latencyBeside(
  { url, attacker, victim, fetch }: Pick<AttackInstallation, 'url' | 'attacker' | 'victim' | 'fetch'>,
  size: number,
  signal: AbortSignal,
): Promise<number> {
  const downloads = Array.from({ length: streams }, () => new Download(new URL(url), attacker, size))
  try {
    return await medianTime(() => fetch(`${victim.prefix}/page`, victim.token), signal)
  } finally {
    for (const download of downloads) download.end()
  }
}

/** Begins again when it is ended, and throws away what it gets. */
class Download {
  readonly #request: string
  readonly #begin: () => Socket
  #socket: Socket
  #isEnded = false

  constructor({ hostname, port, host }: URL, { prefix, token }: AttackInstallation['attacker'], size: number) {
    this.#request = `GET ${prefix}/pieces?size=${size} HTTP/1.1\r\nHost: ${host}\r\nCookie: spawner_token=${token}\r\n\r\n`
    this.#begin = () => connect(Number(port), hostname)
    this.#socket = this.#start()
  }

  end(): void {
    this.#isEnded = true
    this.#socket.destroy()
  }

  #start(): Socket {
    const socket = this.#begin().resume()
    socket.on('error', () => undefined).on('close', () => this.#isEnded || (this.#socket = this.#start()))
    socket.write(this.#request)
    return socket
  }
}
