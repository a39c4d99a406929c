import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { message } from '@berth/texts/localized-message.ts'
import { sharedHome } from '#/containers/container-name.ts'
import type { HomeNames } from '#/containers/open-containers.ts'
import type { StreamRegistry, StreamOwner } from '#/containers/stream-registry.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HomeContents, Runtime } from '#/engines/runtime.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Templates } from '#/templates/template.ts'
import { DownloadTickets, fileSafe } from './download-tickets.ts'
import type { HomeOwner } from './home-access.ts'

/** How long a download can be begun, and how long it may take, in ms. */
const [lifetime, timeLimit] = [600_000, 3_600_000]

export interface OwnHomesParts {
  readonly runtime: Pick<Runtime, 'homes' | 'removeHome'>
  readonly contents: HomeContents | undefined
  readonly names: HomeNames
  readonly templates: Pick<Templates, 'all'>
  readonly streams: Pick<StreamRegistry, 'open'>
  /** Bytes at the last measurement, by the key of the home. */
  readonly bytesOf: (owner: { readonly userId: number; readonly slug: string }) => ReadonlyMap<string, number>
}

/** A home that several types share, or that no type has any more. */
export interface OwnHome {
  readonly id: string
  readonly volume: string
  readonly types: readonly string[]
  readonly isFormer: boolean
  readonly bytes: number | null
}

interface Offer {
  readonly volume: string
  /** Name under which the browser stores the file. */
  readonly name: string
}

/**
 * Homes that are not those of one type: of types that share, and former ones, which stay when types begin to share, end to
 * share, or are configured no more. Their owner downloads them as they are, and removes former ones.
 */
export class OwnHomes {
  readonly #parts: OwnHomesParts
  readonly #tickets = new DownloadTickets<Offer>({
    lifetime,
    max: { ofOwner: 5 },
    isSingleUse: true,
    notFound: () => refusals.notFound('home'),
    tooMany: () => refusals.tooManyTransfers(),
  })

  constructor(parts: OwnHomesParts) {
    this.#parts = parts
  }

  /** Shared ones first. @throws {Refusal} 500 the engine does not tell */
  async list({ id: userId, slug }: HomeOwner): Promise<OwnHome[]> {
    const { runtime, names, templates, bytesOf } = this.#parts
    const owner = { userId, slug }
    try {
      const homes = await runtime.homes(userId)
      const present = new Map<string, string[]>()
      for (const { type, home, homeSource } of templates.all()) {
        if (home === null || homeSource) continue
        const { volume } = await names.of(owner, type)
        present.set(volume, [...(present.get(volume) ?? []), type])
      }
      const bytes = bytesOf(owner)
      const listed = homes.flatMap(({ volume, owner: labelled }): OwnHome[] => {
        const types = present.get(volume)
        if (labelled.slug !== slug || (types && !types.some((type) => names.isShared(type)))) return []
        const key = types ? sharedHome : labelled.type
        const shown = types ?? (labelled.type === sharedHome ? [] : [labelled.type])
        return [{ id: idOf(volume), volume, types: shown, isFormer: !types, bytes: bytes.get(key) ?? null }]
      })
      return listed.toSorted((one, other) => Number(one.isFormer) - Number(other.isFormer))
    } catch (error) {
      throw error instanceof RuntimeError ? refusals.homesUnknown(error) : error
    }
  }

  /** @returns the ticket, for this person alone @throws {Refusal} 404 · 409 the engine cannot read homes */
  async offer(owner: HomeOwner, id: string, now: Date): Promise<{ readonly ticket: string; readonly home: OwnHome }> {
    const home = await this.#find(owner, id)
    if (!this.#parts.contents) throw refusals.snapshotsOff()
    const name = `${owner.slug}-${fileSafe(home.types[0] ?? 'home')}.tar.gz`
    return { ticket: this.#tickets.issue(owner.id, { volume: home.volume, name }, now), home }
  }

  /**
   * Reads the home, also while containers run, as a backup does. Ends with the session that began it.
   * @throws {Refusal} 404 · 429
   */
  async begin({ userId, sid }: StreamOwner, ticket: string, now: Date): Promise<{ name: string; stream: Readable }> {
    return this.#tickets.begin(ticket, { ownerId: userId, now }, async ({ volume, name }, leave) => {
      const { contents, streams } = this.#parts
      if (!contents) throw refusals.snapshotsOff()
      const over = new AbortController()
      const forget = streams.open('downloads', { userId, sid }, () => over.abort())
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(timeLimit)])
      const archive = Readable.from(contents.read(volume, signal), { objectMode: false })
      const stream = createGzip({ level: 1 })
      // An archive that breaks off must not end like a whole one.
      archive.once('error', (error) => stream.destroy(error))
      // Its reader learns of its failure; an error without a listener would end the process.
      stream.on('error', () => {})
      stream.once('close', () => {
        over.abort()
        archive.destroy()
        forget()
        leave()
      })
      return { name, stream: archive.pipe(stream) }
    })
  }

  /** @throws {Refusal} 404 · 409 a type has it, or a container still does · 500 */
  async remove(owner: HomeOwner, id: string): Promise<OwnHome> {
    const home = await this.#find(owner, id)
    if (!home.isFormer) throw refusals.conflict(message('snapshots.homeHasTypes'))
    try {
      await this.#parts.runtime.removeHome(home.volume)
      return home
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'conflict')
        throw refusals.conflict(message('snapshots.homeInUse'))
      throw error instanceof RuntimeError ? refusals.snapshotFailed(error) : error
    }
  }

  async #find(owner: HomeOwner, id: string): Promise<OwnHome> {
    const found = (await this.list(owner)).find((each) => each.id === id)
    if (!found) throw refusals.notFound('home')
    return found
  }
}

/** No name of the engine is told. */
const idOf = (volume: string) => createHash('sha256').update(volume).digest('hex').slice(0, 16)
