import type { Logger } from 'pino'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { ImageStore } from '#/engines/image-store.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import { sumOfImages } from '#/store/environments.ts'
import { forgetPulledImage, listPulledImages, noteNeededImages, notePulledImage } from '#/store/pulled-images.ts'
import type { Templates } from '#/templates/template.ts'

export interface ImageRetentionParts {
  readonly database: Database
  readonly images: ImageStore
  readonly templates: Pick<Templates, 'all'>
  /** Time in ms for which an image is kept that no template names any more; null: images that were pulled stay. */
  readonly keep: number | null
  readonly log: Logger
}

/** What images take that are here because of Berth. */
export interface ImagesReport {
  /** Versions of environments that are ready; layers that they share count for each. */
  readonly environments: { readonly count: number; readonly bytes: number }
  /** Images that were pulled here, since `KEEP_IMAGES` is set. */
  readonly pulled: readonly ReportedImage[]
}

export interface ReportedImage {
  readonly image: string
  readonly bytes: number
  /** Whether a template names it. */
  readonly isNeeded: boolean
  /** When it goes, unless a container has it; null while it is needed. */
  readonly goesAt: Date | null
}

/** The engine's images are looked at once in so many runs of the reconciler. */
const runsBetween = 20

/**
 * Removes images that Berth had pulled, when no template has named them for a time and no container has them. What the
 * engine had before, and what other programs pulled, Berth does not know and leaves alone.
 */
export class ImageRetention {
  readonly task: Task
  readonly #parts: ImageRetentionParts
  #runs = 0
  #report: ImagesReport | undefined

  constructor(parts: ImageRetentionParts) {
    const { database, images, keep, log } = parts
    this.#parts = parts
    this.task = { name: 'images', run: (now) => this.#run(now) }
    if (keep === null) return
    images.onPulled((image) => {
      void tryOrLog(log, 'noting a pulled image', () => notePulledImage(database.db, image, new Date()))
    })
  }

  /** As of the last look; undefined before the first. */
  get report(): ImagesReport | undefined {
    return this.#report
  }

  async #run(now: Date): Promise<Record<string, number>> {
    if (this.#runs++ % runsBetween !== 0) return {}
    const removed = this.#parts.keep === null ? 0 : await this.#removeUnneeded(now, this.#parts.keep)
    this.#report = await this.#look()
    return removed === 0 ? {} : { 'remove-image': removed }
  }

  async #removeUnneeded(now: Date, keep: number): Promise<number> {
    const { database, images } = this.#parts
    const needed = this.#needed()
    await noteNeededImages(database.db, [...needed], now)
    let removed = 0
    for (const { image, neededAt } of await listPulledImages(database.db)) {
      if (needed.has(image) || now.getTime() - neededAt.getTime() < keep || !(await images.remove(image))) continue
      await forgetPulledImage(database.db, image)
      removed++
    }
    return removed
  }

  async #look(): Promise<ImagesReport> {
    const { database, images, keep } = this.#parts
    const [environments, pulled] = [await sumOfImages(database.db), await listPulledImages(database.db)]
    if (keep === null || pulled.length === 0) return { environments, pulled: [] }
    const needed = this.#needed()
    const sizes = await images.sizesOf(pulled.map(({ image }) => image))
    const found = pulled.flatMap(({ image, neededAt }): ReportedImage[] => {
      const bytes = sizes.get(image)
      const isNeeded = needed.has(image)
      const goesAt = isNeeded ? null : new Date(neededAt.getTime() + keep)
      return bytes === undefined ? [] : [{ image, bytes, isNeeded, goesAt }]
    })
    return { environments, pulled: found.toSorted((one, other) => other.bytes - one.bytes) }
  }

  #needed(): ReadonlySet<string> {
    return new Set(this.#parts.templates.all().flatMap(({ image }) => (image === '' ? [] : image)))
  }
}
