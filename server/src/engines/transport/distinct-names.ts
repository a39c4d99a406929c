import type { TarHeader } from 'modern-tar'
import { NameHashes } from './name-hashes.ts'

/** What stands for each byte of a name that is no UTF-8. */
const unknown = '\uFFFD'

/**
 * Names of an archive that are no UTF-8, as those of old programs in Latin-1 are, become equal where they differ in such bytes
 * alone, and of their files one would take the place of the other. The later one gets a number; its links are to the first.
 * @returns called with each header, in their order
 */
export function distinctNames(): (header: TarHeader) => TarHeader {
  const names = new NameHashes()
  let count = 1
  return (header) => {
    // Folders of one name become one folder.
    if (!header.name.includes(unknown) || header.type === 'directory') return header
    let { name } = header
    // The count goes on, so that a million equal names are a million steps.
    while (names.has(name)) name = `${header.name} (${++count})`
    names.add(name)
    return name === header.name ? header : { ...header, name, pax: withoutPath(header.pax) }
  }
}

/** The record would be written in place of the name. */
function withoutPath(pax: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(pax).filter(([key]) => key !== 'path'))
}
