import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { down, idIn, type Memory, type Plan } from './plan.ts'

/** Time of a loss of the engine: by the monotonic clock, and by the wall clock, which the engine has, too. */
interface Loss {
  readonly at: number
  readonly date: Date
}

/**
 * What the reconciler remembers of the engine between two lists. It is lost with the process: grace periods begin anew,
 * and a container that is found ended counts as ended by what ended the process, usually a restart of the host.
 */
export class EngineHistory {
  /** A program that ends up to so long before the loss of the engine counts as ended by it, in ms. */
  readonly #grace: number
  #since = new Map<string, number>()
  #hasListed = false
  #isFirstListing = true
  #isBlind = false
  #loss: Loss | undefined
  #epoch = 0

  constructor(grace: number) {
    this.#grace = grace
  }

  /** When it differs from an earlier value, answers from before may be of an engine that is gone. */
  get epoch(): number {
    return this.#epoch
  }

  /** Time of the last loss of the engine that no list has followed; undefined at the first list of this process. */
  get unexplainedLoss(): Date | undefined {
    return this.#hasListed && this.#isFirstListing ? this.#loss?.date : undefined
  }

  /** Whether no list has followed since the engine came back: the next one must be full. */
  get isFirstListing(): boolean {
    return this.#isFirstListing
  }

  memory(restoring: ReadonlySet<string>): Memory {
    return { since: this.#sinceForPlan(), isFirstListing: this.#isFirstListing, isBlind: this.#isBlind, restoring }
  }

  /**
   * Keeps a plan's timers for the next one; call it right after the plan was made from `memory`.
   * @param planned engine's ids that the plan was made for; undefined: all. Timers of others stay.
   */
  keep({ since }: Plan, planned?: ReadonlySet<string>): void {
    const others = planned ? [...this.#since].filter(([key]) => !planned.has(idIn(key))) : []
    this.#since = new Map([...others, ...since])
    if (this.#isBlind) return
    this.#isFirstListing = false
    this.#hasListed = true
  }

  /** Only the connection was lost: programs that ended meanwhile ended by themselves. */
  itWentOn(): void {
    this.#isFirstListing = false
  }

  /** @param known the container of the event */
  onEvent({ id, action }: RuntimeEvent, known: ContainerState | undefined): void {
    if (action === 'lost') this.#onLost()
    else if (id === undefined) this.#onRecovered()
    else if (action === 'die' && known) this.#since.set(down(id), performance.now())
    else if (action === 'start' || action === 'unpause') this.#since.delete(down(id))
  }

  #onLost(): void {
    this.#epoch++
    if (!this.#isBlind) this.#loss = { at: performance.now(), date: new Date() }
    this.#isBlind = true
  }

  #onRecovered(): void {
    this.#epoch++
    this.#isBlind = false
    this.#isFirstListing = true
  }

  /** An engine that shuts down gracefully ends its programs first, and still reports that. */
  #sinceForPlan(): ReadonlyMap<string, number> {
    const loss = this.#loss
    if (!this.#isFirstListing || !loss) return this.#since
    const isItsDoing = (key: string, at: number) => key.startsWith(down('')) && at > loss.at - this.#grace
    return new Map([...this.#since].filter(([key, at]) => !isItsDoing(key, at)))
  }
}
