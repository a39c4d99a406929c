import { containerName } from '#/containers/container-name.ts'
import type { HomeLocks } from '#/containers/home-locks.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { FairSemaphore } from '#/machine/fair-semaphore.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { containerKey, findContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import { filesOfLink, type GitLink } from '#/templates/starter-files/link-files.ts'
import type { NewContainer, PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import type { StarterFiles, Templates } from '#/templates/template.ts'

/** Max time of one request, in ms: fetching and writing. */
const timeout = 120_000
/** Requests that fetch or write at the same time, in all and of one person. */
const parallel = { max: 4, maxOfFlow: 1 }
/** Those that wait for that: a class opens one link within seconds, a person one link in each of some containers. */
const maxWaiting = { ofAll: 500, ofOwner: 5 }

export interface LinkFilesParts {
  readonly runtime: Pick<Runtime, 'inspectId' | 'pause' | 'start' | 'capabilities'>
  readonly database: Database
  readonly templates: Pick<Templates, 'get' | 'openTypes'>
  readonly rules: Pick<LaunchRules, 'refusalFor'>
  readonly singleFlight: SingleFlight
  readonly starterFiles: Pick<PutStarterFiles, 'run' | 'prefetch'>
  readonly homes: Pick<HomeLocks, 'share'>
  /** Name of this installation; begins the names of containers. */
  readonly installation: string
}

/** Puts the files of a link into the home of a container that exists, as starter files: what a person changed is kept. */
export class LinkFiles {
  /** `OPEN_GIT_HOSTS` */
  readonly hosts: readonly string[]
  readonly #parts: LinkFilesParts
  readonly #turns = new FairSemaphore(parallel)

  constructor(hosts: readonly string[], parts: LinkFilesParts) {
    this.hosts = hosts
    this.#parts = parts
  }

  /**
   * @throws {Refusal} 400 a host that is not allowed, or no link · 403 blocked, or a type of other groups · 409 the container was not
   * launched yet, or its engine cannot do it · 500 the files could not be fetched or written; 503 too many wait
   */
  async put(user: User, type: string, link: GitLink, now: Date): Promise<void> {
    const { templates, database, rules } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    const files = filesOfLink(link, this.hosts)
    if (files === 'host') throw refusals.linkHost()
    if (files === 'link') throw refusals.badLink()
    const record = await findContainer(database.db, user.id, type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    const refusal = await rules.refusalFor(user, template, now)
    if (refusal) throw refusal
    const home = template.homeSource || !this.#parts.runtime.capabilities.putsFiles ? null : template.home
    if (!record?.containerId || home === null) throw refusals.noHomeForFiles()
    const flow = String(user.id)
    if (this.#turns.waiting >= maxWaiting.ofAll || this.#turns.waitingOf(flow) >= maxWaiting.ofOwner)
      throw refusals.tooManyLaunches()
    const name = containerName(this.#parts.installation, user.slug, type)
    const container = { name, home, id: record.containerId, requestedAt: performance.now() }
    await this.#turns.run(flow, () => this.#putNow(user, type, container, files))
  }

  /** The fetch comes first, because the container stands still while files are written. */
  async #putNow(
    { id: userId, slug }: User,
    type: string,
    container: Omit<NewContainer, 'volume'>,
    files: StarterFiles,
  ): Promise<void> {
    const { singleFlight, starterFiles, homes } = this.#parts
    const signal = AbortSignal.timeout(timeout)
    try {
      const release = await starterFiles.prefetch(files.from, container.requestedAt, signal)
      try {
        // Types may share a home (`home_of: user`), whose volume has another name.
        await singleFlight.run(containerKey({ userId, type }), `put files ${container.requestedAt}`, () =>
          homes.share({ userId, slug }, type, ({ volume }) => this.#write({ ...container, volume }, files, signal)),
        )
      } finally {
        await release()
      }
    } catch (error) {
      if (error instanceof Refusal) throw error
      throw refusals.filesFailed(withoutAddress(error, files))
    }
  }

  /**
   * A program that ran meanwhile could exchange folders for links, through which files would be written elsewhere in its container.
   * Where nothing can be paused, the engine writes beside it (`putsFiles`).
   */
  async #write(container: NewContainer, files: StarterFiles, signal: AbortSignal): Promise<void> {
    const { runtime, starterFiles } = this.#parts
    const isRunning = runtime.capabilities.pauses && (await runtime.inspectId(container.id))?.state === 'running'
    if (isRunning) await runtime.pause(container.id)
    try {
      await starterFiles.run(container, [files], signal)
    } finally {
      if (isRunning) await runtime.start(container.id)
    }
  }
}

/** For the log, which has no links: the words of a failure, with the host alone of the address that was fetched. */
function withoutAddress(error: unknown, { from }: StarterFiles): Error {
  const { message } = error as Error
  if (!('git' in from)) return new Error(message)
  const { host, pathname } = new URL(from.git)
  return new Error(`${host}: ${message.replaceAll(from.git, host).replaceAll(pathname, '/...')}`)
}
