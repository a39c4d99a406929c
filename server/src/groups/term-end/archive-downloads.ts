import type { Readable } from 'node:stream'
import { hashToken, newToken } from '#/accounts/sign-up/magic-link.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { countDownload, findLinkedArchives, type LinkedArchives, type StoredArchive } from '#/store/home-archives.ts'
import type { ArchiveFiles } from './archive-files.ts'

/** Downloads of one person in all: a link that became known is of little use. */
const maxDownloads = 50
/** How long a download may wait for its begin, in ms. */
const ticketLifetime = 60_000
/** Tickets that wait at the same time. */
const maxTickets = 1_000
/** Downloads under way, in all and of one person: each may be as slow as its reader. */
const [maxParallel, maxParallelOfOne] = [50, 3]

/** Who downloads: the holder of a link has no account any more, perhaps. */
interface Holder {
  readonly address: string
}

interface Ticket {
  readonly archive: StoredArchive
  readonly name: string
  readonly expires: number
}

/** An archive on its way to a browser. */
export interface ArchiveDownload {
  readonly content: Readable
  readonly bytes: number
  /** File name for the browser, without anything that headers cannot have. */
  readonly name: string
}

/**
 * Archives for the holders of mailed links. The link opens a page; a download has a ticket of its own, for one use within a
 * minute: programs that follow links in mails begin none, and no address in a log or history opens an archive.
 */
export class ArchiveDownloads {
  readonly #database: Database
  readonly #files: ArchiveFiles
  /** By the hash of the ticket. */
  readonly #tickets = new Map<string, Ticket>()
  /** Counts the downloads that each member has under way. */
  readonly #underWay = new KeyedLimit<number>({ ofKey: maxParallelOfOne, ofAll: maxParallel })

  constructor(database: Database, files: ArchiveFiles) {
    this.#database = database
    this.#files = files
  }

  /** @throws {Refusal} 404 the link is wrong, over or cancelled */
  async open(token: string, now: Date): Promise<LinkedArchives> {
    const found = await findLinkedArchives(this.#database.db, hashToken(token), now)
    if (!found) throw refusals.archiveNotFound()
    return found
  }

  /** @returns ticket for `read` @throws {Refusal} 404 as `open`, or no such archive · 429 as many as allowed */
  async begin(token: string, type: string, holder: Holder, now: Date): Promise<string> {
    const linked = await this.open(token, now)
    const archive = linked.archives.find((each) => each.type === type)
    if (!archive || !(await this.#files.has(archive))) throw refusals.archiveNotFound()
    this.#dropExpired(now)
    if (this.#tickets.size >= maxTickets) throw refusals.tooManyTransfers()
    await this.#database.transaction(async (tx) => {
      if (!(await countDownload(tx, linked.memberId, maxDownloads))) throw refusals.tooManyDownloads(maxDownloads)
      const actor = { id: null, email: 'link of an archive', address: holder.address }
      const [target, detail] = [`user:${linked.userId}`, { type, group: linked.groupName }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'user.download-archive', target, detail }])
    })
    const ticket = newToken()
    this.#tickets.set(hashToken(ticket), {
      archive,
      name: `${fileSafe(linked.groupName)}-${fileSafe(type)}.tar.gz`,
      expires: now.getTime() + ticketLifetime,
    })
    return ticket
  }

  /** Uses the ticket up. @throws {Refusal} 404 · 429 too many downloads under way; the ticket stays good then @throws when the file cannot be read */
  async read(ticket: string, now: Date): Promise<ArchiveDownload> {
    this.#dropExpired(now)
    const key = hashToken(ticket)
    const found = this.#tickets.get(key)
    if (!found) throw refusals.archiveNotFound()
    const { archive, name } = found
    const leave = this.#underWay.enter(archive.memberId)
    if (!leave)
      throw this.#underWay.isFullForAll ? refusals.tooManyTransfers() : refusals.tooManyAtOnce(maxParallelOfOne)
    this.#tickets.delete(key)
    const { content, bytes } = await this.#files.read(archive.file).catch((error: NodeJS.ErrnoException) => {
      leave()
      throw error.code === 'ENOENT' ? refusals.archiveNotFound() : error
    })
    content.once('close', leave)
    return { content, bytes, name }
  }

  #dropExpired(now: Date): void {
    for (const [key, { expires }] of this.#tickets) if (expires <= now.getTime()) this.#tickets.delete(key)
  }
}

const fileSafe = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '_')
    .slice(0, 60)
