import { createHash } from 'node:crypto'

/** Longest name that every runtime takes (a DNS label). */
const maxLength = 63

/**
 * First segment of the container's path: `{slug}-{type}`, the type percent-encoded because it may be any text.
 * Source: specification, "What the service does" 4.
 */
export function containerPrefix(slug: string, type: string): string {
  return `${slug}-${encodeURIComponent(type)}`
}

/**
 * The engine's name of a container. Derived, never stored, so that a second attempt finds what the first one made.
 * Types that the engine cannot spell, or that are too long, get a hash of the whole in place of what was lost.
 */
export function containerName(installation: string, slug: string, type: string): string {
  const exact = `${installation}-${slug}-${type}`
  const spelled = exact.replace(/[^a-z0-9-]/g, '_')
  if (spelled === exact && exact.length <= maxLength) return exact
  return `${spelled.slice(0, maxLength - 9)}-${hash(exact)}`
}

/**
 * Name of the volume that holds a home. By user id and slug: neither is given twice, but after an older store was
 * restored the next person gets an id again whose files are still there.
 */
export function homeVolume(installation: string, userId: number, slug: string, type: string): string {
  const spelled = type.replace(/[^a-z0-9-]/g, '_')
  return spelled === type && type.length <= 40
    ? `${installation}-home-${userId}-${slug}-${type}`
    : `${installation}-home-${userId}-${slug}-${spelled.slice(0, 31)}-${hash(type)}`
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
