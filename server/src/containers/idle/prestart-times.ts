import type { Logger } from 'pino'
import type { User } from '#/store/users.ts'
import { nextTimeOfDay } from '#/templates/lifetime-limits.ts'
import type { Template, Templates } from '#/templates/template.ts'
import type { Prestart } from './prestart.ts'

/** Between two checks, in ms. */
const checkInterval = 10_000
/** Users who used a container of the type within this time, in ms, get theirs started ahead. */
const recent = 7 * 86_400_000
const pageSize = 100

export interface PrestartTimesParts {
  readonly templates: Templates
  readonly prestart: Pick<Prestart, 'run'>
  /** Users who used a container of this type since then, by id, after the last of the page before. */
  readonly usersOf: (type: string, since: Date, page: { after: number; limit: number }) => Promise<User[]>
  /** Makes sure that the engine has the image of a template. */
  readonly fetchImage: (template: Template, signal: AbortSignal) => Promise<void>
  /** Time zone of `prestart_at` where a template names none. */
  readonly timeZone: string
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Starts containers at `prestart_at`. Without such a template there is no timer, no query and no call to the engine. */
export class PrestartTimes {
  readonly #parts: PrestartTimesParts
  #timer: NodeJS.Timeout | undefined
  #checkedAt = 0
  #stopping = new AbortController()

  constructor(parts: PrestartTimesParts) {
    this.#parts = parts
  }

  /** Starts, or starts anew after the templates changed. */
  start(): void {
    this.stop()
    this.#stopping = new AbortController()
    const all = this.#parts.templates.all()
    if (!all.some(({ prestartAt }) => prestartAt !== null)) return
    this.#checkedAt = this.#parts.now()
    this.#timer = setInterval(() => this.check(), checkInterval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#stopping.abort()
  }

  /** Starts what has become due since the last check. */
  check(): void {
    const { templates, timeZone, now } = this.#parts
    const [from, to] = [this.#checkedAt, now()]
    this.#checkedAt = to
    for (const template of templates.all()) {
      const { prestartAt } = template
      if (prestartAt && nextTimeOfDay(prestartAt.minutes, prestartAt.zone ?? timeZone, from) <= to)
        void this.#startAll(template, this.#stopping.signal)
    }
  }

  /** Never throws. */
  async #startAll(template: Template, signal: AbortSignal): Promise<void> {
    const { usersOf, prestart, now, log } = this.#parts
    const since = new Date(now() - recent)
    await this.#fetchImage(template, signal)
    try {
      for (let after = 0; !signal.aborted;) {
        const users = await usersOf(template.type, since, { after, limit: pageSize })
        const started = await Promise.all(users.map((user) => prestart.run(user, template)))
        const last = users.at(-1)
        if (!last || users.length < pageSize || started.includes(false)) return
        after = last.id
      }
    } catch (error) {
      log.warn({ err: error, type: template.type }, 'starting containers at prestart_at failed')
    }
  }

  /** Never throws. */
  async #fetchImage(template: Template, signal: AbortSignal): Promise<void> {
    const { fetchImage, log } = this.#parts
    try {
      await fetchImage(template, signal)
    } catch (error) {
      if (signal.aborted) return
      const { type, image } = template
      log.warn({ err: error, type, image }, 'fetching an image ahead failed; the first launch tries again')
    }
  }
}
