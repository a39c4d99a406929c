import { hash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { createTarDecoder, createTarPacker, packTar, type TarHeader, type TarPackController } from 'modern-tar'
import { eventLoopTurns } from '#/machine/event-loop-turns.ts'

/** Bytes of an archive that are passed on at a time, at least. */
const partSize = 64 * 1024

/** A tar archive with one entry. */
export async function* oneEntry(header: TarHeader, body?: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await packTar([{ header, ...(body && { body }) }])
}

/**
 * A tar archive with other headers, read and written bit by bit. Names that are no UTF-8 are as `distinctNames` makes
 * them.
 * @param rewrite called with each header; what it answers takes the place of the entry, whose content goes with the
 *   last of them. Nothing: the entry is left out. What it throws fails the result
 */
export function rewrittenArchive(
  archive: AsyncIterable<Uint8Array>,
  rewrite: (header: TarHeader) => readonly TarHeader[],
): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  copy(controller, archive, rewrite).catch((error: unknown) => controller.error(error))
  return inLargeParts(readable)
}

/**
 * What reads them, compresses or sends each part by itself, which takes longer than the 512 bytes of an entry are
 * worth.
 */
async function* inLargeParts(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [parts, bytes]: [Uint8Array[], number] = [[], 0]
  for await (const part of archive) {
    parts.push(part)
    bytes += part.length
    if (bytes < partSize) continue
    yield Buffer.concat(parts, bytes)
    ;[parts, bytes] = [[], 0]
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes)
}

async function copy(
  controller: TarPackController,
  archive: AsyncIterable<Uint8Array>,
  rewrite: (header: TarHeader) => readonly TarHeader[],
): Promise<void> {
  const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  const turn = eventLoopTurns()
  const named = distinctNames()
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    await turn()
    const headers = rewrite(named(header))
    const own = headers.at(-1)
    if (!own) {
      await body.cancel()
      continue
    }
    for (const each of headers.slice(0, -1)) await controller.add(each).close()
    await body.pipeTo(controller.add(own))
  }
  controller.finalize()
}

/** `./a/b/` is `a/b`; the top of an archive is empty. */
export function pathIn(name: string): string {
  const path = name.startsWith('./') ? name.slice(2) : name
  // Most names are so already, or end with a slash; one in thousands is taken apart.
  if (!/\/\.?(?:\/|$)|^\.?(?:\/|$)/.test(path)) return path
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}

/** Sockets, pipes and devices mean nothing in a copy. */
export const isKept = ({ type }: TarHeader) =>
  type === 'file' || type === 'directory' || type === 'symlink' || type === 'link'

/**
 * Which entries of a home are left out; asked for each of them, in their order. Further names of a pipe are hard links
 * to it, at which an engine refuses the whole archive when the pipe is not there.
 */
export function leftOut(): (header: TarHeader) => boolean {
  const names = new NameHashes()
  return (header) => {
    const isOut = !isKept(header) || (header.type === 'link' && names.has(pathIn(header.linkname ?? '')))
    if (isOut) names.add(pathIn(header.name))
    return isOut
  }
}

/** What stands for each byte of a name that is no UTF-8. */
const replacementCharacter = '\uFFFD'

/**
 * Names of an archive that are no UTF-8, as those of old programs in Latin-1 are, become equal where they differ in
 * such bytes alone, and of their files one would take the place of the other. The later one gets a number; its links
 * are to the first.
 * @returns called with each header, in their order
 */
export function distinctNames(): (header: TarHeader) => TarHeader {
  const names = new NameHashes()
  let count = 1
  return (header) => {
    // Folders of one name become one folder.
    if (!header.name.includes(replacementCharacter) || header.type === 'directory') return header
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

/** Places for a begin; there are always twice as many as names, at least. */
const firstSize = 1_024
/** Bytes of a hash that count: a number of JavaScript holds them exactly. */
const hashBytes = 6

/**
 * Names of an archive, in 16 to 32 bytes each: a set of the names themselves would take hundreds of megabytes for an
 * archive with a million. By 48 bits of a hash with a seed of its own, so that names which count as one cannot be
 * looked for; by chance a name counts as one of a million others once in 280 million times.
 */
export class NameHashes {
  readonly #seed = randomBytes(16).toString('hex')
  /** Open addressing; 0 is a free place. */
  #places = new Float64Array(firstSize)
  #count = 0

  has(name: string): boolean {
    const value = this.#hashOf(name)
    return this.#places[this.#placeOf(value)] === value
  }

  add(name: string): void {
    const value = this.#hashOf(name)
    const place = this.#placeOf(value)
    if (this.#places[place] === value) return
    this.#places[place] = value
    if (++this.#count * 2 > this.#places.length) this.#grow()
  }

  #grow(): void {
    const values = this.#places
    this.#places = new Float64Array(values.length * 2)
    for (const value of values) if (value !== 0) this.#places[this.#placeOf(value)] = value
  }

  /** Where a hash is, or where it belongs. */
  #placeOf(value: number): number {
    let at = value % this.#places.length
    while (this.#places[at] !== 0 && this.#places[at] !== value) at = (at + 1) % this.#places.length
    return at
  }

  #hashOf(name: string): number {
    return hash('sha256', this.#seed + name, 'buffer').readUIntBE(0, hashBytes) + 1
  }
}
