import type { ContainerState } from '#/containers/state/container-state.ts'
import type { RuntimeEvent } from '#/runtime/runtime.ts'
import { down, idIn } from './condition-timers.ts'
import type { Memory, Plan } from './plan.ts'

/** When the engine was lost: on a clock that nobody sets, and on the one that the engine has, too. */
interface Loss {
  readonly at: number
  readonly date: Date
}

/**
 * What the reconciler remembers of the engine from one look to the next. It is lost with the process: graces begin anew then,
 * and what is found ended counts as ended by whatever ended the process, most often a restart of the host.
 */
export class EngineHistory {
  /** How long before the engine went away a program's end counts as its doing, in ms. */
  readonly #grace: number
  #since = new Map<string, number>()
  #hasLooked = false
  #isFirstLook = true
  #isBlind = false
  #loss: Loss | undefined
  #epoch = 0

  constructor(grace: number) {
    this.#grace = grace
  }

  /** Another one than before means that what was asked of the engine in between may be of an engine that is gone. */
  get epoch(): number {
    return this.#epoch
  }

  /** When the engine was lost that was found since and not looked at yet; undefined at the first look of this process. */
  get unexplainedLoss(): Date | undefined {
    return this.#hasLooked && this.#isFirstLook ? this.#loss?.date : undefined
  }

  /** Whether the engine was not looked at since it came back: everything has to be, then. */
  get isFirstLook(): boolean {
    return this.#isFirstLook
  }

  memory(restoring: ReadonlySet<string>): Memory {
    return { since: this.#sinceForPlan(), isFirstLook: this.#isFirstLook, isBlind: this.#isBlind, restoring }
  }

  /**
   * What a plan leaves for the next one; at once after it was made from `memory`.
   * @param planned engine's ids of what it was made for; undefined: of all. What is remembered of others stays.
   */
  keep({ since }: Plan, planned?: ReadonlySet<string>): void {
    const others = planned ? [...this.#since].filter(([key]) => !planned.has(idIn(key))) : []
    this.#since = new Map([...others, ...since])
    if (this.#isBlind) return
    this.#isFirstLook = false
    this.#hasLooked = true
  }

  /** The engine was only not heard, and went on: what ended meanwhile did so by itself. */
  itWentOn(): void {
    this.#isFirstLook = false
  }

  /** @param known the container that the event is about */
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
    this.#isFirstLook = true
  }

  /** An engine that is stopped in good order ends its programs first, and can still say so. */
  #sinceForPlan(): ReadonlyMap<string, number> {
    const loss = this.#loss
    if (!this.#isFirstLook || !loss) return this.#since
    const isItsDoing = (key: string, at: number) => key.startsWith(down('')) && at > loss.at - this.#grace
    return new Map([...this.#since].filter(([key, at]) => !isItsDoing(key, at)))
  }
}
