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
