import path from 'node:path'
import { Readable } from 'node:stream'
import { message } from '@berth/texts/localized-message.ts'
import type { StreamRegistry, StreamOwner } from '#/containers/stream-registry.ts'
import { NothingThere, RuntimeError } from '#/engines/runtime-error.ts'
import { pathIn } from '#/engines/tar/archive-rewrite.ts'
import { openFirstEntry } from '#/engines/tar/first-entry.ts'
import { refusals } from '#/refusals/errors.ts'
import { DownloadTickets } from './download-tickets.ts'
import { notRead, notWritten, type HomeAccess, type HomeOwner } from './home-access.ts'

/** How long a download can be begun, in ms. */
const lifetime = 600_000
/** Offers of one person that are kept; the oldest goes. */
const maxOffers = 20
/** How long one download may take, in ms. */
const maxDuration = 3_600_000
/** Bytes of a path, as Linux limits them, and its parts: each is looked at by itself. */
const [maxPath, maxParts] = [4_096, 128]

interface Offer {
  readonly owner: HomeOwner
  readonly type: string
  readonly path: string
}

/** A file of a home, or a folder as a tar archive, on its way. */
export interface FileDownload {
  readonly name: string
  /** Bytes; undefined for a folder. */
  readonly size: number | undefined
  readonly stream: Readable
}

export interface HomeFilesParts {
  readonly access: HomeAccess
  readonly streams: Pick<StreamRegistry, 'open'>
  /** Called before a home is written to. */
  readonly beforeWrite: (home: { readonly userId: number; readonly type: string }) => Promise<void>
  /** Called when something was removed: the numbers of the last measurement are too large then. */
  readonly onRemoved: () => void
}

/**
 * Files of homes whose containers do not run: one whose disk limit is exceeded does not start, and its owner frees room here.
 * Nothing is edited, and nothing of a home is run or resolved outside of it.
 */
export class HomeFiles {
  readonly #parts: HomeFilesParts
  readonly #tickets = new DownloadTickets<Offer>({
    lifetime,
    max: { ofOwner: maxOffers },
    isSingleUse: true,
    notFound: () => refusals.notFound('path'),
    tooMany: () => refusals.tooManyTransfers(),
  })

  constructor(parts: HomeFilesParts) {
    this.#parts = parts
  }

  /** @returns a ticket for one download, for this person alone @throws {Refusal} 400 · 404 no such path can be · 409 */
  offer(owner: HomeOwner, type: string, given: string, now: Date): string {
    this.#parts.access.requireFiles(type)
    return this.#tickets.issue(owner.id, { owner, type, path: checkedPath(given) }, now)
  }

  /**
   * Begins a download, which gives way to every other work on the home, as a launch is, and ends with the session that began it.
   * @throws {Refusal} 404 no such ticket of this person, or nothing is there · 409 the container runs, or it is neither a file nor a folder · 429
   */
  async begin({ userId, sid }: StreamOwner, ticket: string, now: Date): Promise<FileDownload> {
    return this.#tickets.begin(ticket, { ownerId: userId, now }, async (offer, leave) => {
      const over = new AbortController()
      const forget = this.#parts.streams.open('downloads', { userId, sid }, () => over.abort())
      const begun = Promise.withResolvers<FileDownload>()
      const work = (left: AbortSignal) =>
        this.#send(offer, AbortSignal.any([left, over.signal, AbortSignal.timeout(maxDuration)]), begun.resolve)
      const { owner, type } = offer
      // Each is a flight of its own: the bytes of one go to one reader.
      void this.#parts.access
        .holdYielding(owner, type, `download ${ticket}`, notRead, work)
        .catch(begun.reject)
        .finally(() => {
          leave()
          forget()
        })
      return begun.promise
    })
  }

  /** Removes a file, or a folder with all that is in it. @throws {Refusal} 400 · 404 · 409 the container is not stopped · 429 · 500 */
  async remove(owner: HomeOwner, type: string, given: string): Promise<void> {
    const { access, beforeWrite, onRemoved } = this.#parts
    access.requireFiles(type)
    const path = checkedPath(given)
    // What is no folder there keeps the container from starting, and its owner has no other way to it.
    const isMountPoint = access.isMountPoint(type, path)
    await access.run(owner, type, `remove ${path}`, notWritten, async (home) => {
      await beforeWrite({ userId: owner.id, type })
      await access.contents.removeAt(home.volume, path, access.timeLimit(), isMountPoint).catch((error: unknown) => {
        const isFolder = error instanceof RuntimeError && error.kind === 'conflict'
        if (isMountPoint && isFolder) throw refusals.conflict(message('snapshots.mountPoint'))
        rethrowNothing(error)
      })
    })
    onRemoved()
  }

  /** Resolves when the stream has ended. */
  async #send({ owner, type, path: at }: Offer, signal: AbortSignal, begun: (download: FileDownload) => void) {
    const { access } = this.#parts
    const archive = access.contents.readAt(await access.volumeOf(owner, type), at, signal)
    const first = await openFirstEntry(archive).catch(rethrowNothing)
    const name = path.posix.basename(at)
    if (first.kind === 'other') {
      await archive.return(undefined)
      throw refusals.conflict(message('snapshots.noFile'))
    }
    const isFile = first.kind === 'file'
    const stream = Readable.from(isFile ? first.content() : first.archive(), { objectMode: false })
    const ended = new Promise<void>((resolve) => stream.once('close', resolve))
    const end = () => void stream.destroy(new Error('the download was ended'))
    signal.addEventListener('abort', end, { once: true })
    // Its reader learns of its failure; an error without a listener would end the process.
    stream.on('error', () => {})
    begun({ name: isFile ? name : `${name}.tar`, size: isFile ? first.size : undefined, stream })
    await ended
    signal.removeEventListener('abort', end)
  }
}

function rethrowNothing(error: unknown): never {
  throw error instanceof NothingThere ? refusals.notFound('path') : error
}

/** @throws {Refusal} 404 for what no path in a home can be */
function checkedPath(given: string): string {
  const found = pathIn(given)
  const parts = found.split('/')
  const isNone = found === '' || found.includes('\0') || parts.includes('..')
  if (isNone || Buffer.byteLength(found) > maxPath || parts.length > maxParts) throw refusals.notFound('path')
  return found
}
