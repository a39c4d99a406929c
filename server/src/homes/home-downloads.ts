import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { StreamRegistry, StreamOwner } from '#/containers/stream-registry.ts'
import { refusals } from '#/refusals/errors.ts'
import { DownloadTickets, fileSafe, fileStream } from './download-tickets.ts'
import type { HomeAccess, HomeOwner } from './home-access.ts'
import type { HomeSnapshots } from './home-snapshots.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** How long a download can be begun or continued, in ms. */
const lifetime = 3_600_000
/** Offers of one user that are kept; the oldest goes. */
const maxOffers = 20

interface Offer {
  readonly volume: string
  readonly id: string
  /** Name under which the browser stores the file. */
  readonly name: string
}

/** An archive that is downloaded. */
export interface DownloadedFile {
  /** Bytes of the whole archive. */
  readonly size: number
  /** Strong entity tag: an archive with other bytes has another one. */
  readonly etag: string
}

/** First and last byte of a part; undefined: all. */
type Part = { readonly first: number; readonly last: number } | undefined

/** A part of an archive, on its way. */
export interface Download extends DownloadedFile {
  readonly name: string
  readonly part: Part
  readonly stream: Readable
}

/**
 * Downloads of snapshots: files that are whole, so that they need neither the engine nor the home, and can be continued. A
 * ticket in the address stands for the proof that a page of ours asks, which a browser cannot send when it downloads by itself.
 */
export class HomeDownloads {
  readonly #snapshots: Pick<HomeSnapshots, 'list'>
  readonly #access: Pick<HomeAccess, 'volumeOf'>
  readonly #files: Pick<SnapshotFiles, 'open'>
  readonly #streams: Pick<StreamRegistry, 'open'>
  readonly #tickets = new DownloadTickets<Offer>({
    lifetime,
    max: { ofOwner: maxOffers },
    isSingleUse: false,
    notFound: () => refusals.notFound('snapshot'),
    tooMany: () => refusals.tooManyTransfers(),
  })

  constructor(
    snapshots: Pick<HomeSnapshots, 'list'>,
    access: Pick<HomeAccess, 'volumeOf'>,
    files: Pick<SnapshotFiles, 'open'>,
    streams: Pick<StreamRegistry, 'open'>,
  ) {
    this.#snapshots = snapshots
    this.#access = access
    this.#files = files
    this.#streams = streams
  }

  /** @returns the ticket, for this user alone @throws {Refusal} 400 · 404 */
  async offer(owner: HomeOwner, type: string, id: string, now: Date): Promise<string> {
    const found = (await this.#snapshots.list(owner, type)).find((each) => each.id === id)
    if (!found) throw refusals.notFound('snapshot')
    const at = found.createdAt.toISOString().slice(0, 19).replace(/[:T]/g, '-')
    const name = `${owner.slug}-${fileSafe(type)}-${at}.tar.gz`
    return this.#tickets.issue(owner.id, { volume: await this.#access.volumeOf(owner, type), id, name }, now)
  }

  /**
   * Ends with the session that began it, like other streams.
   * @param choosePart which bytes of the archive are sent
   * @throws {Refusal} 404 no such ticket of this user, or the snapshot is gone · 429
   */
  async begin(
    { userId, sid }: StreamOwner,
    ticket: string,
    choosePart: (file: DownloadedFile) => Part,
    now: Date,
  ): Promise<Download> {
    return this.#tickets.begin(ticket, { ownerId: userId, now }, async (offer, leave) => {
      const over = new AbortController()
      const forget = this.#streams.open('downloads', { userId, sid }, () => over.abort())
      const end = () => {
        leave()
        forget()
      }
      return this.#read(offer, choosePart, end, over.signal).catch((error: unknown) => {
        forget()
        throw error
      })
    })
  }

  async #read(
    { volume, id, name }: Offer,
    choosePart: (file: DownloadedFile) => Part,
    end: () => void,
    over: AbortSignal,
  ): Promise<Download> {
    // Open from here on, also when the snapshot is removed meanwhile.
    const file = await this.#files.open(volume, id)
    try {
      const { size, mtimeMs } = await file.stat()
      const etag = `"${hash('sha256', [volume, id, size, mtimeMs].join('/'), 'base64url').slice(0, 22)}"`
      const part = choosePart({ size, etag })
      const stream = fileStream(file, end, part)
      over.addEventListener('abort', () => stream.destroy())
      if (over.aborted) stream.destroy()
      return { name, size, etag, part, stream }
    } catch (error) {
      await file.close()
      throw error
    }
  }
}
