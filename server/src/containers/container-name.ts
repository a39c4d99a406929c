import { createHash } from 'node:crypto'

/** Longest name that every runtime takes (a DNS label). */
const longest = 63

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
export function containerName(instance: string, slug: string, type: string): string {
  const exact = `${instance}-${slug}-${type}`
  const spelled = exact.replace(/[^a-z0-9-]/g, '_')
  if (spelled === exact && exact.length <= longest) return exact
  return `${spelled.slice(0, longest - 9)}-${hash(exact)}`
}

/**
 * Name of the volume that holds a home. By user id and slug: neither is given twice, but after an older store was
 * restored the next person gets an id again whose files are still there.
 */
export function homeVolume(instance: string, userId: number, slug: string, type: string): string {
  const spelled = type.replace(/[^a-z0-9-]/g, '_')
  return spelled === type && type.length <= 40
    ? `${instance}-home-${userId}-${slug}-${type}`
    : `${instance}-home-${userId}-${slug}-${spelled.slice(0, 31)}-${hash(type)}`
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
