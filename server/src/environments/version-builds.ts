import type { Logger } from 'pino'
import type { Readable } from 'node:stream'
import { localize } from '@berth/texts/localize.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { ownImageName, type ImageBuilds } from '#/engines/image-builds.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { FairSemaphore } from '#/machine/fair-semaphore.ts'
import { runForNoRequest } from '#/machine/log-context.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  deleteVersions,
  failUnfinished,
  finishVersion,
  listBuilt,
  listEnvironments,
  listVersions,
  setBuilding,
  type StoredEnvironment,
  type StoredVersion,
} from '#/store/environments.ts'
import { BuildLog } from './build-log.ts'
import { VersionFailed, type ImageBuild } from './image-build.ts'

export interface VersionBuildsParts {
  readonly database: Database
  readonly builds: ImageBuilds
  readonly imageBuild: ImageBuild
  /** Says which versions containers use. */
  readonly runtime: Pick<Runtime, 'list'>
  readonly installation: string
  readonly parallel: number
  readonly log: Logger
}

/** Versions of an environment that are kept: so many that are ready, and so many that failed. */
const keptVersions = 3
/** Age, in ms, of a stored version from which on its build has begun, or never will. */
const maxBeginning = 60_000

interface UnderWay {
  readonly log: BuildLog
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Builds that wait or run in this process, and what is left of earlier ones. */
export class VersionBuilds {
  readonly #parts: VersionBuildsParts
  /** Groups take turns: one with many environments delays another by no more than a build. */
  readonly #turns: FairSemaphore
  /** By the id of the version's row. */
  readonly #underWay = new Map<number, UnderWay>()
  #isStopping = false
  /** Whether the engine may have what no version needs. */
  #isSweepDue = true

  constructor(parts: VersionBuildsParts) {
    this.#parts = parts
    this.#turns = new FairSemaphore({ max: parts.parallel, maxOfFlow: parts.parallel })
  }

  /** Begins to build a version that was stored as waiting, when it is its turn. */
  begin(environment: StoredEnvironment, version: StoredVersion, allowed: readonly string[] | null): void {
    const log = new BuildLog()
    const controller = new AbortController()
    const { signal } = controller
    const ended = Promise.withResolvers<void>()
    let hasBegun = false
    const work = async () => {
      // It was cancelled while it waited, and has ended.
      if (signal.aborted) return
      hasBegun = true
      await this.#run(environment, version, allowed, log, signal)
      ended.resolve()
    }
    // Others may take an hour until it is its turn.
    signal.addEventListener('abort', () => {
      if (!hasBegun) void this.#fail(version, signal.reason, log).then(ended.resolve)
    })
    void runForNoRequest(() => this.#turns.run(String(environment.groupId), work))
    const done = ended.promise.finally(() => this.#underWay.delete(version.id))
    this.#underWay.set(version.id, { log, controller, done })
  }

  /** Output of a version that waits or is being built; undefined when it is neither. */
  logOf(versionId: number): Readable | undefined {
    return this.#underWay.get(versionId)?.log.stream()
  }

  /** Ends a build. @param reason why the version failed @returns false when it is not under way; resolves when it has ended */
  async cancel(versionId: number, reason: LocalizedMessage): Promise<boolean> {
    const found = this.#underWay.get(versionId)
    if (!found) return false
    found.controller.abort(new VersionFailed(reason))
    await found.done
    return true
  }

  /** To be called before the first build: what another process was building failed with its end. */
  async failInterrupted(): Promise<void> {
    await failUnfinished(this.#parts.database.db, message('environments.interrupted'))
  }

  /** All builds fail, and none begins afterwards. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const all = [...this.#underWay.values()]
    for (const { controller } of all) controller.abort(new VersionFailed(message('environments.interrupted')))
    await Promise.all(all.map(({ done }) => done))
  }

  /** The next `clean` looks at the engine. */
  requestSweep(): void {
    this.#isSweepDue = true
  }

  /**
   * Fails versions that are unfinished in the store and not being built, because it did not take their end. Forgets versions beyond
   * the newest that no container uses, and removes images that no version needs and no container uses.
   * @param isForced also when nothing has changed here: containers that used an image may be gone
   * @throws {RuntimeError} {StoreFailure}
   */
  async clean(isForced = false): Promise<void> {
    const { database, builds } = this.#parts
    if (this.#isStopping) return
    const others = { except: [...this.#underWay.keys()], before: new Date(Date.now() - maxBeginning) }
    if ((await failUnfinished(database.db, message('environments.interrupted'), others)) > 0) this.#isSweepDue = true
    if (!this.#isSweepDue && !isForced) return
    this.#isSweepDue = false
    try {
      await this.#forgetOldVersions()
      await builds.sweep(async () => {
        const built = await listBuilt(database.db)
        return new Set(built.map(({ environmentId, version }) => buildId(environmentId, version)))
      })
    } catch (error) {
      this.#isSweepDue = true
      throw error
    }
  }

  async #run(
    environment: StoredEnvironment,
    version: StoredVersion,
    allowed: readonly string[] | null,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<void> {
    const { database, imageBuild, installation, log: logger } = this.#parts
    const name = ownImageName(installation, environment.name, version.version)
    const id = buildId(environment.id, version.version)
    try {
      await setBuilding(database.db, version.id)
      crashPoint('build.after-begin')
      const built = await imageBuild.run({ id, name, source: version.source, allowed }, log, signal)
      const { id: imageId, size, commit } = built
      crashPoint('build.after-image')
      await this.#finish(
        version,
        { state: 'ready', imageId, size, source: { ...version.source, ...(commit !== undefined && { commit }) } },
        log,
      )
      crashPoint('build.after-end')
      log.end()
    } catch (error) {
      await this.#fail(version, error, log)
    }
    this.#isSweepDue = true
    await tryOrLog(logger, 'removing images that no environment needs', () => this.clean())
  }

  /** Never rejects. */
  async #fail(version: StoredVersion, error: unknown, log: BuildLog): Promise<void> {
    const { log: logger } = this.#parts
    const isExpected = error instanceof VersionFailed
    const sentence = isExpected ? error.sentence : message('environments.internal')
    if (!isExpected) logger.error({ err: error, version: version.id }, 'a build failed')
    log.append(`\n${localize(defaultLanguage, sentence)}\n`)
    await tryOrLog(logger, 'storing the end of a build', () =>
      this.#finish(version, { state: 'failed', error: sentence }, log),
    )
    log.end()
  }

  async #finish(version: StoredVersion, end: Parameters<typeof finishVersion>[2], log: BuildLog): Promise<void> {
    await this.#parts.database.transaction((tx) => finishVersion(tx, version.id, end, log.text))
  }

  /** Those that launches or containers use stay, however old. @throws {RuntimeError} */
  async #forgetOldVersions(): Promise<void> {
    const { database, runtime } = this.#parts
    if ((await oldVersions(database.db)).length === 0) return
    const used = new Set((await runtime.list()).map(({ imageId }) => `sha256:${imageId}`))
    await database.transaction(async (tx) => {
      // None of them is published meanwhile.
      await database.lock(tx, 'environments')
      const unused = (await oldVersions(tx)).filter(({ imageId }) => imageId === null || !used.has(imageId))
      await deleteVersions(
        tx,
        unused.map(({ id }) => id),
      )
    })
  }
}

/** Versions beyond the newest of each environment, without the published one. */
async function oldVersions(db: Db): Promise<StoredVersion[]> {
  const old: StoredVersion[] = []
  for (let after = 0; ;) {
    const page = await listEnvironments(db, { limit: 100, after }, null)
    if (page.length === 0) return old
    after = page.at(-1)?.id ?? after
    const ids = page.map(({ id }) => id)
    const versions = await listVersions(db, ids)
    for (const { id, published } of page) {
      const beyond = (ended: 'ready' | 'failed') =>
        versions.filter((each) => each.environmentId === id && each.state === ended).slice(keptVersions)
      old.push(...[...beyond('ready'), ...beyond('failed')].filter(({ version }) => version !== published))
    }
  }
}

/** Names a build in the engine; ids of environments and numbers of versions are never given twice. */
const buildId = (environmentId: number, version: number): string => `${environmentId}-${version}`
