import type { Lifetime } from './berth.ts'

/** How long it waits for the next test file, in ms. */
const keepAlive = 2_000

/** How a program is started and ended. */
interface Program<T> {
  /** @param forget is called when it has ended by itself, so that the next user starts another one */
  start(forget: () => void): Promise<T>
  /** Takes away what users have left, when none is there any more. */
  clear?(program: T): Promise<void>
  stop(program: T): Promise<void>
}

/**
 * One program for the test files of a process, as a browser, which takes a second of CPU time to start, or a database server.
 * It ends when nothing uses it any more.
 */
export class ReusedProgram<T> {
  readonly #program: Program<T>
  #running: Promise<T> | undefined
  #users = 0
  #end: NodeJS.Timeout | undefined

  constructor(program: Program<T>) {
    this.#program = program
  }

  use(lifetime: Lifetime): Promise<T> {
    clearTimeout(this.#end)
    this.#users += 1
    // Before anything is waited for: after a promise of an earlier test file, Node's runner takes a hook for that file's.
    lifetime.after(() => this.#release())
    return (this.#running ??= this.#start())
  }

  #start(): Promise<T> {
    const starting = this.#program.start(() => forget())
    const forget = () => {
      if (this.#running === starting) this.#running = undefined
    }
    starting.catch(forget)
    return starting
  }

  async #release(): Promise<void> {
    this.#users -= 1
    if (this.#users > 0) return
    const program = await this.#running?.catch(() => undefined)
    if (program === undefined) return
    await this.#program.clear?.(program)
    if (this.#users > 0) return
    this.#end = setTimeout(() => {
      this.#running = undefined
      void this.#program.stop(program)
    }, keepAlive)
  }
}
