import { RuntimeError } from '#/runtime/runtime.ts'
import { limits, type EngineClient } from './client.ts'
import { withSignal } from './with-signal.ts'

interface Pull {
  readonly done: Promise<void>
  readonly controller: AbortController
  waiting: number
}

/** Pulls under way, so that all who wait for an image wait for one pull. It ends when the last of them gives up. */
export class Pulls {
  readonly #client: EngineClient
  readonly #underWay = new Map<string, Pull>()

  constructor(client: EngineClient) {
    this.#client = client
  }

  /**
   * Resolves when the image is here.
   * @throws {RuntimeError} `image` when it cannot be had, or not within 10 min; `unreachable`
   */
  async pull(image: string, signal?: AbortSignal): Promise<void> {
    const pull = this.#underWay.get(image) ?? this.#begin(image)
    pull.waiting++
    try {
      await withSignal(pull.done, signal)
    } finally {
      pull.waiting--
      if (pull.waiting === 0) this.#end(image, pull)
    }
  }

  #begin(image: string): Pull {
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(limits.pull)])
    const done = fetchImage(this.#client, image, signal)
    // Those who gave up do not hear how it ended.
    done.catch(() => undefined)
    const pull = { done, controller, waiting: 0 }
    this.#underWay.set(image, pull)
    return pull
  }

  #end(image: string, pull: Pull): void {
    if (this.#underWay.get(image) === pull) this.#underWay.delete(image)
    pull.controller.abort()
  }
}

async function fetchImage(client: EngineClient, image: string, signal: AbortSignal): Promise<void> {
  const what = `pull ${image}`
  const query = { fromImage: withTag(image) }
  const call = { what, method: 'POST', path: '/images/create', query, limit: limits.pull, signal } as const
  try {
    for await (const { error } of await client.follow<{ error?: string }>(call)) if (error) throw new Error(error)
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'unreachable') throw error
    throw new RuntimeError('image', what, error instanceof RuntimeError ? error.cause : error)
  }
}

/** Without a tag or digest the engine would pull every one there is. A colon before a slash belongs to the registry's port. */
const withTag = (image: string) => (/[:@][^/]+$/.test(image) ? image : `${image}:latest`)
