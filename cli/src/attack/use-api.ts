import { formatCount } from '#/formatting.ts'
import type { Loot, Outcome } from './attack-attempt.ts'
import type { AttackInstallation } from './attack-installation.ts'

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
