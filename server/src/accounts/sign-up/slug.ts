import { randomInt } from 'node:crypto'
import { endpoints } from '@berth/api/endpoints.ts'
import { openLinkPath } from '@berth/api/open-link.ts'
import { pages } from '@berth/web/paths.ts'
import type { EngineListCache } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { Database, Db } from '#/store/database.ts'
import { claimSlug, claimSlugs } from '#/store/users.ts'

const maxSlugLength = 24
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** 36^4 suffixes; so many collisions in a row have another cause. */
const maxAttempts = 50

/**
 * Slug of an address, which names its owner in paths: letters and digits only. Never a hyphen, so that the first hyphen
 * of a path segment always ends the slug: `ann-dev` is Ann's `dev`, never a user named `ann-dev`.
 */
export function deriveSlug(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@'))
  return local.replace(/[^a-z0-9]/g, '').slice(0, maxSlugLength) || 'user'
}

/**
 * Claims a slug for ever: the derived one, or the derived one and four random characters when it is taken, was ever
 * used, or is the beginning of a path of Berth's own. Source: specification, User.slug.
 */
export async function takeSlug(db: Db, email: string, reserved: ReadonlySet<string>): Promise<string> {
  const derived = deriveSlug(email)
  if (!reserved.has(derived) && (await claimSlug(db, derived))) return derived
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const slug = derived + randomCharacters(4)
    if (!reserved.has(slug) && (await claimSlug(db, slug))) return slug
  }
  throw new Error(`no free slug found in ${maxAttempts} attempts`)
}

const randomCharacters = (count: number) =>
  Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('')

/** Paths that are no rows of a table, and words kept back for pages to come. */
const otherPaths = [
  '/assets/',
  '/metrics',
  '/admin',
  '/account',
  '/settings',
  '/static',
  '/ws',
  '/help',
  '/docs',
  '/status',
]

/**
 * What no slug may be: the first part, up to a hyphen, of every path that the API or the front end answers.
 * A user with the slug `verify` and a type `signup` would otherwise own the page that mails link to.
 */
export const reservedSlugs: ReadonlySet<string> = new Set(
  [...Object.values(endpoints).map(({ path }) => path), ...Object.values(pages), openLinkPath, ...otherPaths]
    .map((path) => /^\/([a-z0-9]+)/.exec(path)?.[1] ?? '')
    .filter((slug) => slug !== ''),
)

/** Slugs per look-up. */
const batchSize = 500
/** Min interval between two lists of all homes, in ms: there is one for each user who ever launched a container. */
const homesInterval = 3_600_000

/** See `takenSlugsTask`. */
export interface TakenSlugsTask extends Task {
  /**
   * Resolves when the slugs of all containers and homes that exist now are claimed.
   * @throws {RuntimeError}
   * @throws {StoreFailure}
   */
  claimAll(): Promise<void>
}

/**
 * Claims the slugs of existing containers and homes, so that none is assigned again. When an older store is restored,
 * users who signed up since are lost together with their ids and slugs, but their containers and homes still exist and
 * are named after id and slug. No other user may get the same slug.
 *
 * A run waits for the containers only: the list of 100,000 homes takes seconds, in which nothing else would be
 * reconciled. A failure of it is that of the next run, which also begins it again.
 */
export function takenSlugsTask(
  database: Database,
  runtime: Pick<Runtime, 'homes'>,
  engineList: Pick<EngineListCache, 'get'>,
): TakenSlugsTask {
  let homesAskedAt = -Infinity
  let homesClaim: Promise<number> | undefined
  /** What is claimed, and what failed, beside the runs since the last one. */
  let beside: { readonly claimed: number; readonly failure?: { readonly reason: unknown } } = { claimed: 0 }
  const claim = async (owned: readonly Pick<RuntimeContainer, 'owner'>[]) => {
    const slugs = [...new Set(owned.flatMap(({ owner }) => (owner ? [owner.slug] : [])))]
    let claimed = 0
    for (let start = 0; start < slugs.length; start += batchSize)
      claimed += await claimSlugs(database.db, slugs.slice(start, start + batchSize))
    return claimed
  }
  const claimOfContainers = async () => claim((await engineList.get()).containers)
  /** One at a time: the reconciler's first run shares that of the start. */
  const claimOfHomes = () =>
    (homesClaim ??= runtime
      .homes()
      .then(claim)
      .then((claimed) => {
        homesAskedAt = performance.now()
        return claimed
      })
      .finally(() => (homesClaim = undefined)))
  const claimOfHomesBeside = () =>
    claimOfHomes().then(
      (claimed) => void (beside = { claimed: beside.claimed + claimed }),
      (reason: unknown) => void (beside = { ...beside, failure: { reason } }),
    )
  return {
    name: 'taken slugs',
    claimAll: async () => {
      await Promise.all([claimOfContainers(), claimOfHomes()])
    },
    run: async () => {
      const { claimed, failure } = beside
      beside = { claimed: 0 }
      const isDue = performance.now() - homesAskedAt >= homesInterval
      if (isDue && !homesClaim) void claimOfHomesBeside()
      const found = await claimOfContainers()
      if (failure) throw failure.reason
      return { claimed: claimed + found }
    },
  }
}
