import { createHash } from 'node:crypto'

/** Max length that every runtime accepts (a DNS label). */
const maxLength = 63

/**
 * First segment of the container's path: `{slug}-{type}`, the type percent-encoded because it may be any text.
 * Source: specification, "What the service does" 4.
 */
export function containerPrefix(slug: string, type: string): string {
  // A template literal is kept with its parts, which takes twice the memory; there is a prefix for each record.
  return [slug, encodeURIComponent(type)].join('-')
}

/**
 * The engine's name of a container. Derived, never stored, so that a retry finds what the first attempt created. Types
 * with characters that the engine does not accept, or that are too long, get a hash.
 */
export function containerName(installation: string, slug: string, type: string): string {
  const exact = `${installation}-${slug}-${type}`
  const spelled = exact.replace(/[^a-z0-9-]/g, '_')
  if (spelled === exact && exact.length <= maxLength) return exact
  return `${spelled.slice(0, maxLength - 9)}-${hash(exact)}`
}

/** Type on the label of a home that all types of a person share; the key of such a home beside those of types. */
export const sharedHome = ''

/**
 * Name of the volume that holds a home. By user id and slug: neither is reused, but after an older store is restored
 * the next user gets an id again whose files still exist.
 * @param type `sharedHome` for one that was made for all types of a person
 */
export function homeVolume(installation: string, userId: number, slug: string, type: string): string {
  if (type === sharedHome) return `${installation}-home-${userId}-${slug}`
  const spelled = type.replace(/[^a-z0-9-]/g, '_')
  return spelled === type && type.length <= 40
    ? `${installation}-home-${userId}-${slug}-${type}`
    : `${installation}-home-${userId}-${slug}-${spelled.slice(0, 31)}-${hash(type)}`
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
