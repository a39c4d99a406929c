/** A command of WebDriver BiDi. */
export interface BidiCommand {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

interface Outcome {
  readonly type: 'success' | 'error'
  readonly [field: string]: unknown
}

interface Override {
  readonly features: { readonly 'prefers-color-scheme'?: string | null }
  /** Open pages; without them it is about all that a user context will open. */
  readonly contexts?: readonly string[]
}

/** Above every id that the client chooses, so that answers can be told apart. */
const firstOwnId = 2 ** 40

/**
 * Sets the colour scheme that pages see, as the developer tools of Firefox do: by a script in Firefox's own window, which
 * `--remote-allow-system-access` allows. What pages see before is set by preferences (`firefox.ts`).
 */
export class MediaFeatures {
  readonly #send: (command: BidiCommand) => void
  readonly #waiting = new Map<number, (answer: Record<string, unknown>) => void>()
  #lastId = firstOwnId

  constructor(send: (command: BidiCommand) => void) {
    this.#send = send
  }

  /** Takes the parameters of `emulation.setMediaFeaturesOverride`. @returns what is to be answered, but the id */
  async set(params: unknown): Promise<Outcome> {
    const { features, contexts = [] } = params as Override
    if (contexts.length === 0) return { type: 'success', result: {} }
    const windows = await this.#ask('browsingContext.getTree', { 'moz:scope': 'chrome' })
    const [window] = (windows.result as { contexts: { context: string }[] } | undefined)?.contexts ?? []
    if (window === undefined) return { type: 'error', error: 'unknown error', message: JSON.stringify(windows) }
    const answer = await this.#ask('script.callFunction', {
      target: { context: window.context },
      awaitPromise: false,
      functionDeclaration: `(scheme, ...ids) => {
        const { NavigableManager } = ChromeUtils.importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs')
        for (const id of ids) {
          const top = NavigableManager.getBrowsingContextById(id)?.top
          if (top !== undefined) top.prefersColorSchemeOverride = scheme
        }
      }`,
      arguments: [features['prefers-color-scheme'] ?? 'none', ...contexts].map((value) => ({ type: 'string', value })),
    })
    const { type } = (answer.result ?? {}) as { type?: string }
    if (answer.type === 'success' && type === 'success') return { type: 'success', result: {} }
    return { type: 'error', error: 'unknown error', message: JSON.stringify(answer) }
  }

  /** @returns whether a message of Firefox answers what was asked here, and is not for the client */
  takesAnswer(text: string): boolean {
    const message = JSON.parse(text) as Record<string, unknown>
    const id = Number(message.id)
    const take = this.#waiting.get(id)
    this.#waiting.delete(id)
    take?.(message)
    return take !== undefined
  }

  #ask(method: string, params: unknown): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const answer = Promise.withResolvers<Record<string, unknown>>()
    this.#waiting.set(this.#lastId, answer.resolve)
    this.#send({ id: this.#lastId, method, params })
    return answer.promise
  }
}
