import type { Level } from '#/doctor/check.ts'
import type { Loot, Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

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
