import type { Browser } from 'playwright-core'
import type { Lifetime } from './berth.ts'

/** How long it waits for the next test file, in ms. */
const keepAlive = 2_000

/**
 * One Chromium for the test files of a process, which takes a second of CPU time to start. Each user opens a context of its
 * own; what is left open is closed when nothing uses it any more.
 */
export class SharedBrowser {
  readonly #launch: () => Promise<Browser>
  #browser: Promise<Browser> | undefined
  #users = 0
  #end: NodeJS.Timeout | undefined

  constructor(launch: () => Promise<Browser>) {
    this.#launch = launch
  }

  use(lifetime: Lifetime): Promise<Browser> {
    clearTimeout(this.#end)
    this.#users += 1
    // Before anything is waited for: after a promise of an earlier test file, Node's runner takes a hook for that file's.
    lifetime.after(() => this.#release())
    return (this.#browser ??= this.#start())
  }

  #start(): Promise<Browser> {
    const starting = this.#launch()
    const forget = () => {
      if (this.#browser === starting) this.#browser = undefined
    }
    starting.then((browser) => browser.on('disconnected', forget), forget)
    return starting
  }

  async #release(): Promise<void> {
    this.#users -= 1
    if (this.#users > 0) return
    const browser = await this.#browser?.catch(() => undefined)
    for (const context of browser?.contexts() ?? []) await context.close()
    if (this.#users > 0) return
    this.#end = setTimeout(() => {
      this.#browser = undefined
      void browser?.close()
    }, keepAlive)
  }
}
