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
 * What Firefox 153 does not do by BiDi, done by scripts in a window of Firefox's own, which `--remote-allow-system-access`
 * allows.
 */
export class FirefoxWindow {
  readonly #send: (command: BidiCommand) => void
  readonly #waiting = new Map<number, (answer: Record<string, unknown>) => void>()
  #lastId = firstOwnId

  constructor(send: (command: BidiCommand) => void) {
    this.#send = send
  }

  /**
   * Sets the colour scheme that pages see, as the developer tools do. What pages see before is set by preferences (`firefox.ts`).
   * @param params of `emulation.setMediaFeaturesOverride`
   * @returns what is to be answered, but the id
   */
  async setMediaFeatures(params: unknown): Promise<Outcome> {
    const { features, contexts = [] } = params as Override
    const scheme = features['prefers-color-scheme'] ?? 'none'
    const set = `(page, scheme) => { page.prefersColorSchemeOverride = scheme }`
    for (const context of contexts) {
      const outcome = await this.#run(context, set, scheme)
      if (outcome.type === 'error') return outcome
    }
    return { type: 'success', result: {} }
  }

  /**
   * Moves the focus into a page. Behind the last control of a page, Tab leads to the controls of Firefox, and
   * `browsingContext.activate` does not lead back from there.
   * @param params of `browsingContext.activate`
   */
  async focusPage(params: unknown): Promise<void> {
    const { context } = params as { readonly context: string }
    await this.#run(context, `(page) => page.embedderElement.focus()`)
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

  /** Calls a function with the `BrowsingContext` of a page, if that is still there, and with an argument. */
  async #run(context: string, declaration: string, argument = ''): Promise<Outcome> {
    const windows = await this.#ask('browsingContext.getTree', { 'moz:scope': 'chrome' })
    const [window] = (windows.result as { contexts: { context: string }[] } | undefined)?.contexts ?? []
    if (window === undefined) return { type: 'error', error: 'unknown error', message: JSON.stringify(windows) }
    const answer = await this.#ask('script.callFunction', {
      target: { context: window.context },
      awaitPromise: false,
      functionDeclaration: `(id, argument) => {
        const { NavigableManager } = ChromeUtils.importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs')
        const page = NavigableManager.getBrowsingContextById(id)?.top
        if (page) (${declaration})(page, argument)
      }`,
      arguments: [context, argument].map((value) => ({ type: 'string', value })),
    })
    const { type } = (answer.result ?? {}) as { type?: string }
    if (answer.type === 'success' && type === 'success') return { type: 'success', result: {} }
    return { type: 'error', error: 'unknown error', message: JSON.stringify(answer) }
  }

  #ask(method: string, params: unknown): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const answer = Promise.withResolvers<Record<string, unknown>>()
    this.#waiting.set(this.#lastId, answer.resolve)
    this.#send({ id: this.#lastId, method, params })
    return answer.promise
  }
}
