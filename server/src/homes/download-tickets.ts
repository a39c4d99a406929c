import { createHash, randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { KeyedLimit } from '#/machine/semaphore.ts'
import type { Refusal } from '#/refusals/errors.ts'

/** Downloads under way, of one person and in all: each may be as slow as its reader. */
export const parallelDownloads = { ofKey: 3, ofAll: 50 }

export interface DownloadTicketRules {
  /** How long a download can be begun, or continued where a ticket may be used again, in ms. */
  readonly lifetime: number
  /** Tickets that are kept; the oldest of a person goes, and none is issued beyond the number of all. */
  readonly max: { readonly ofOwner?: number; readonly ofAll?: number }
  readonly isSingleUse: boolean
  /** For a ticket that is none of this person, or whose file is gone. */
  readonly notFound: () => Refusal
  /** While as many downloads are under way as may be. @param ofOwner how many, when it is the limit of one person */
  readonly tooMany: (ofOwner: number | undefined) => Refusal
}

interface Ticket<T> {
  readonly ownerId: number
  readonly subject: T
  /** In ms since 1970. */
  readonly expires: number
}

/**
 * Downloads of stored archives by a ticket in the address, which stands for the proof that a browser cannot send when it
 * downloads by itself. Tickets are kept by their hashes, in memory alone.
 */
export class DownloadTickets<T> {
  readonly #rules: DownloadTicketRules
  /** By the hash of the ticket, the oldest first. */
  readonly #tickets = new Map<string, Ticket<T>>()
  readonly #underWay = new KeyedLimit<number>(parallelDownloads)

  constructor(rules: DownloadTicketRules) {
    this.#rules = rules
  }

  /** Whether as many tickets wait as may, of all people together. */
  isFull(now: Date): boolean {
    this.#dropExpired(now)
    return this.#tickets.size >= (this.#rules.max.ofAll ?? Infinity)
  }

  /** @param ownerId who downloads @param subject what `begin` opens */
  issue(ownerId: number, subject: T, now: Date): string {
    this.#dropExpired(now)
    const { lifetime, max } = this.#rules
    if (max.ofOwner !== undefined) this.#keepNewest(ownerId, max.ofOwner - 1)
    const ticket = randomBytes(32).toString('base64url')
    this.#tickets.set(hashOf(ticket), { ownerId, subject, expires: now.getTime() + lifetime })
    return ticket
  }

  /**
   * Begins a download, which counts as under way until `leave` is called, or `open` fails. A ticket for one use is used up
   * unless too many are under way.
   * @param ownerId undefined: the ticket alone is the right to download
   * @throws {Refusal} as the rules say · what `open` throws
   */
  async begin<D>(
    ticket: string,
    { ownerId, now }: { readonly ownerId?: number; readonly now: Date },
    open: (subject: T, leave: () => void) => Promise<D>,
  ): Promise<D> {
    const { isSingleUse, notFound, tooMany } = this.#rules
    const key = hashOf(ticket)
    const found = this.#tickets.get(key)
    if (!found || found.expires <= now.getTime() || (ownerId !== undefined && found.ownerId !== ownerId))
      throw notFound()
    const leave = this.#underWay.enter(found.ownerId)
    if (!leave) throw tooMany(this.#underWay.isFullForAll ? undefined : parallelDownloads.ofKey)
    if (isSingleUse) this.#tickets.delete(key)
    try {
      return await open(found.subject, leave)
    } catch (error) {
      leave()
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? notFound() : error
    }
  }

  #keepNewest(ownerId: number, count: number): void {
    const own = [...this.#tickets].filter(([, each]) => each.ownerId === ownerId)
    for (const [key] of own.slice(0, Math.max(0, own.length - count))) this.#tickets.delete(key)
  }

  #dropExpired(now: Date): void {
    for (const [key, { expires }] of this.#tickets) {
      // All live equally long, so that those behind it are younger.
      if (expires > now.getTime()) return
      this.#tickets.delete(key)
    }
  }
}

/** Looked up by its hash, so that a look-up takes the same time for all tickets. */
const hashOf = (ticket: string) => createHash('sha256').update(ticket).digest('base64url')

/** Part of a file name for a browser, without anything that headers cannot have. */
export const fileSafe = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '_')
    .slice(0, 60)

/** The bytes of an open file, which is closed with the stream. @param onClose called once it is closed */
export function fileStream(
  file: FileHandle,
  onClose: () => void,
  part?: { readonly first: number; readonly last: number },
): Readable {
  const stream = file.createReadStream(part ? { start: part.first, end: part.last } : {})
  stream.once('close', onClose)
  return stream
}
