import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import { findContainer, setHomeProblem, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import type { Template } from '#/templates/template.ts'
import type { AdmissionControl } from './admission-control.ts'
import type { LaunchFailure } from './launch-failure.ts'

/** How long the engine may take for a look, and a launch waits for its own and those before it, in ms. */
const timeout = 3_000

/** How long a look that no launch waits for lets launches pass first, and how often it asks whether there are any, in ms. */
const [longestDelay, pause] = [30_000, 250]

/** Reasons of a failed launch for which a home that the program cannot enter may be the cause. */
const mayConcernHome: ReadonlySet<LaunchFailure['reason']> = new Set(['crashed', 'failed'])

export interface HomeCheckParts {
  readonly runtime: Pick<Runtime, 'homeRights'>
  readonly database: Pick<Database, 'db'>
  readonly admission: Pick<AdmissionControl, 'counts'>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Finds out whether the program of a new container can write to its home: images run their programs as different accounts, and
 * what a person saves would be lost. Nothing is changed; the list of the owner's containers says it.
 */
export class HomeCheck {
  readonly #parts: HomeCheckParts
  readonly #limit = pLimit(1)

  constructor(parts: HomeCheckParts) {
    this.#parts = parts
  }

  /**
   * Looks at a container that was just started. Never throws.
   * @param record as it was before the launch: a home that has had another program is looked at before the launch is answered, one
   * that is new behind it
   */
  async run(record: UserContainer, id: string, { home, homeOf, homeSource, user, image }: Template): Promise<void> {
    if (home === null || (record.containerId === id && record.homeProblem === null)) return
    const look = () => this.#limit(() => this.#look(record, id, home))
    const mayBeOthers = homeOf === 'user' || homeSource !== null || user !== null || record.homeProblem !== null
    if (mayBeOthers || record.image !== image) await withTimeout(timeout, look())
    else void this.#afterLaunches().then(look)
  }

  /** For each look the engine mounts the volumes of a container: among 30 launches at once they took a tenth of the time. */
  async #afterLaunches(): Promise<void> {
    const isLaunching = () => {
      const { waiting, underWay } = this.#parts.admission.counts()
      return waiting + underWay > 0
    }
    for (let waited = 0; waited < longestDelay && isLaunching(); waited += pause)
      await sleep(pause, undefined, { ref: false })
  }

  /**
   * Looks at a container that did not start: that its program cannot enter its home may be why. Never throws.
   * @param owned whose container it is, of which the record is as the launch left it
   */
  async runAfterFailure({ reason }: LaunchFailure, { userId, type }: ContainerRef, { home }: Template): Promise<void> {
    if (home === null || !mayConcernHome.has(reason)) return
    const { database, log } = this.#parts
    await withTimeout(
      timeout,
      this.#limit(() =>
        tryOrLog(log, 'looking whether a program that ended could enter its home', async () => {
          const record = await findContainer(database.db, userId, type)
          if (record?.containerId) await this.#look(record, record.containerId, home)
        }),
      ),
    )
  }

  async #look(record: UserContainer, id: string, home: string): Promise<void> {
    const { runtime, database, log } = this.#parts
    await tryOrLog(log, `looking whether a container can write to its home`, async () => {
      const rights = await runtime.homeRights(id, home, AbortSignal.timeout(timeout)).catch((error: unknown) => {
        if (error instanceof RuntimeError && error.kind === 'missing') return 'gone' as const
        throw error
      })
      if (rights === 'gone') return
      const problem = rights && !mayWrite(rights) ? { program: rights.program.uid, owner: rights.owner.uid } : null
      if (JSON.stringify(problem) !== JSON.stringify(record.homeProblem))
        await setHomeProblem(database.db, record.id, problem)
    })
  }
}

type Rights = NonNullable<Awaited<ReturnType<Runtime['homeRights']>>>

/** Without its further groups, which the engine does not tell. */
function mayWrite({ program, owner, mode }: Rights): boolean {
  if (program.uid === 0 || (mode & 0o002) !== 0) return true
  return (program.uid === owner.uid && (mode & 0o200) !== 0) || (program.gid === owner.gid && (mode & 0o020) !== 0)
}
