import type { Readable } from 'node:stream'
import { hashToken } from '#/accounts/sign-up/magic-link.ts'
import { DownloadTickets, fileSafe, fileStream } from '#/homes/download-tickets.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { countDownload, findLinkedArchives, type LinkedArchives, type StoredArchive } from '#/store/home-archives.ts'
import type { ArchiveStore } from '#/homes/archive-store.ts'

/** Downloads of one person in all: a link that became known is of little use. */
const maxDownloads = 50
/** How long a download may wait for its begin, in ms. */
const ticketLifetime = 60_000
/** Tickets that wait at the same time. */
const maxTickets = 1_000

/** Who downloads: the holder of a link has no account any more, perhaps. */
interface Holder {
  readonly address: string
}

interface Linked {
  readonly archive: StoredArchive
  /** As in `ArchiveDownload`. */
  readonly name: string
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
  readonly #files: ArchiveStore
  /** Counts the downloads that each member has under way. */
  readonly #tickets = new DownloadTickets<Linked>({
    lifetime: ticketLifetime,
    max: { ofAll: maxTickets },
    isSingleUse: true,
    notFound: () => refusals.archiveNotFound(),
    tooMany: (ofOwner) => (ofOwner === undefined ? refusals.tooManyTransfers() : refusals.tooManyAtOnce(ofOwner)),
  })

  constructor(database: Database, files: ArchiveStore) {
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
    if (this.#tickets.isFull(now)) throw refusals.tooManyTransfers()
    await this.#database.transaction(async (tx) => {
      if (!(await countDownload(tx, linked.memberId, maxDownloads))) throw refusals.tooManyDownloads(maxDownloads)
      const actor = { id: null, email: 'link of an archive', address: holder.address }
      const [target, detail] = [`user:${linked.userId}`, { type, group: linked.groupName }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'user.download-archive', target, detail }])
    })
    const name = `${fileSafe(linked.groupName)}-${fileSafe(type) || 'home'}.tar.gz`
    return this.#tickets.issue(archive.memberId, { archive, name }, now)
  }

  /** Uses the ticket up. @throws {Refusal} 404 · 429 too many downloads under way; the ticket stays good then @throws when the file cannot be read */
  async read(ticket: string, now: Date): Promise<ArchiveDownload> {
    return this.#tickets.begin(ticket, { now }, async ({ archive, name }, leave) => {
      const file = await this.#files.open(archive.file)
      const { size } = await file.stat()
      return { content: fileStream(file, leave), bytes: size, name }
    })
  }
}
