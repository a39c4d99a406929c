import type { Logger } from 'pino'
import type { Template, Templates } from '#/templates/template.ts'

/** Pause after each round in which an image could not be had, in ms; it doubles from the first to the last. */
const pauses = { first: 60_000, last: 3_600_000 } as const

export interface ImageFetchesParts {
  readonly templates: Templates
  /** Whether the images of all templates are fetched; false: of those alone whose containers are started ahead. */
  readonly isForAll: boolean
  /** Makes sure that the engine has the image of a template; quick where it has. */
  readonly fetchImage: (template: Template, signal: AbortSignal) => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Fetches images of templates before the first user launches a container, one at a time, and those that cannot be had again,
 * ever more rarely. A launch does not wait for it: it fetches what is missing itself.
 */
export class ImageFetches {
  readonly #parts: ImageFetchesParts
  #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: ImageFetchesParts) {
    this.#parts = parts
  }

  /** Starts, or starts anew after the templates changed. */
  start(): void {
    this.stop()
    this.#stopping = new AbortController()
    const { templates, isForAll } = this.#parts
    const wanted = templates.all().filter(({ prestart, prestartAt }) => isForAll || prestart || prestartAt !== null)
    void this.#fetchAll([...new Map(wanted.map((each) => [each.image, each])).values()], 0, this.#stopping.signal)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#stopping.abort()
  }

  /** One after the other, and in another round after a pause what could not be had. Never throws. */
  async #fetchAll(templates: readonly Template[], round: number, signal: AbortSignal): Promise<void> {
    const missing: Template[] = []
    for (const each of templates) if (!(await this.#fetch(each, round, signal))) missing.push(each)
    if (missing.length === 0 || signal.aborted) return
    const pause = Math.min(pauses.last, pauses.first * 2 ** Math.min(round, 20))
    this.#timer = setTimeout(() => void this.#fetchAll(missing, round + 1, signal), pause)
    this.#timer.unref()
  }

  /** Says once that an image cannot be had, and when it could at last. @returns whether the engine has it */
  async #fetch(template: Template, round: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    const { fetchImage, log } = this.#parts
    const { type, image } = template
    try {
      await fetchImage(template, signal)
      if (round > 0) log.info({ type, image }, 'fetched an image ahead, at last')
      return true
    } catch (error) {
      if (round === 0 && !signal.aborted)
        log.warn({ err: error, type, image }, 'fetching an image ahead failed; it is tried again, and by each launch')
      return false
    }
  }
}
