import { randomInt } from 'node:crypto'
import type { Db } from '#/store/database.ts'
import { claimSlug } from '#/store/users.ts'

const maxLength = 24
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** 36^4 suffixes; so many collisions in a row have another cause. */
const maxAttempts = 50

/**
 * Slug of an address, which names its owner in paths: letters and digits only. Never a hyphen, so that the first hyphen
 * of a path segment always ends the slug: `ann-dev` is Ann's `dev`, never a user named `ann-dev`.
 */
export function deriveSlug(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@'))
  return local.replace(/[^a-z0-9]/g, '').slice(0, maxLength) || 'user'
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
