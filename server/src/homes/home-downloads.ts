import { hash, randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { KeyedLimit } from '#/machine/semaphore.ts'
import type { OpenStreams, StreamOwner } from '#/containers/open-streams.ts'
import { refusals } from '#/refusals/errors.ts'
import type { HomeAccess, HomeOwner } from './home-access.ts'
import type { HomeSnapshots } from './home-snapshots.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** How long a download can be begun or continued, in ms. */
const validity = 3_600_000
/** Offers of one user that are kept; the oldest goes. */
const maxOffers = 20
/** Downloads at the same time, of one user and of all; as `OpenStreams` has them. */
const limits = { ofKey: 3, ofAll: 50 }

interface Offer {
  readonly ticket: string
  readonly volume: string
  readonly id: string
  /** Name under which the browser stores the file. */
  readonly name: string
  readonly until: number
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
  readonly #streams: Pick<OpenStreams, 'open'>
  readonly #offers = new Map<number, Offer[]>()
  readonly #open = new KeyedLimit<number>(limits)

  constructor(
    snapshots: Pick<HomeSnapshots, 'list'>,
    access: Pick<HomeAccess, 'volumeOf'>,
    files: Pick<SnapshotFiles, 'open'>,
    streams: Pick<OpenStreams, 'open'>,
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
    this.#forgetOld(now.getTime())
    const at = found.createdAt.toISOString().slice(0, 19).replace(/[:T]/g, '-')
    const name = `${owner.slug}-${type.replace(/[^\w.-]/g, '_')}-${at}.tar.gz`
    const [ticket, volume] = [randomBytes(24).toString('base64url'), this.#access.volumeOf(owner, type)]
    const offer = { ticket, volume, id, name, until: now.getTime() + validity }
    this.#offers.set(owner.id, [...(this.#offers.get(owner.id) ?? []).slice(1 - maxOffers), offer])
    return offer.ticket
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
    const offer = this.#offers.get(userId)?.find((each) => each.ticket === ticket && each.until > now.getTime())
    if (!offer) throw refusals.notFound('snapshot')
    const leave = this.#open.enter(userId)
    if (!leave) throw refusals.tooManyTransfers()
    const over = new AbortController()
    let forget: (() => void) | undefined
    const end = () => {
      leave()
      forget?.()
    }
    try {
      forget = this.#streams.open('downloads', { userId, sid }, () => over.abort())
      return await this.#read(offer, choosePart, end, over.signal)
    } catch (error) {
      end()
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? refusals.notFound('snapshot') : error
    }
  }

  async #read(
    { volume, id, name }: Offer,
    choosePart: (file: DownloadedFile) => Part,
    end: () => void,
    over: AbortSignal,
  ): Promise<Download> {
    // Open from here on, also when the snapshot is removed meanwhile.
    const file: FileHandle = await this.#files.open(volume, id)
    const { size, mtimeMs } = await file.stat()
    const etag = `"${hash('sha256', [volume, id, size, mtimeMs].join('/'), 'base64url').slice(0, 22)}"`
    const part = choosePart({ size, etag })
    const stream = file.createReadStream(part ? { start: part.first, end: part.last } : {})
    stream.once('close', end)
    over.addEventListener('abort', () => stream.destroy())
    if (over.aborted) stream.destroy()
    return { name, size, etag, part, stream }
  }

  #forgetOld(now: number): void {
    for (const [userId, offers] of this.#offers) {
      const left = offers.filter(({ until }) => until > now)
      if (left.length > 0) this.#offers.set(userId, left)
      else this.#offers.delete(userId)
    }
  }
}
