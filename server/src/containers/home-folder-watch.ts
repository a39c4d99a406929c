import { stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { ContainerTimer } from '#/containers/container-timers.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { containerTool } from '#/engines/container-tool.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { fileReason } from '#/machine/allowed-paths.ts'
import { SilentFileSystem, answeringPaths, type AnsweringPaths } from '#/machine/answering-paths.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import { homeFolderOf } from '#/templates/template-sources.ts'
import type { Templates } from '#/templates/template.ts'

/** Between two looks at all folders, in ms. */
const interval = 60_000
/** How long a program in a container may take for a look, in ms. */
const timeout = 5_000
/** Errors that a folder of this machine has in each container that has it mounted; ENOTCONN: the program of a FUSE has ended. */
const staleErrors: ReadonlySet<string> = new Set(['ESTALE', 'ENOTCONN'])
/** What the container tool and the engine say of them, and of a working directory that is mounted no more. */
const staleWords =
  /stale (NFS )?file handle|transport endpoint is not connected|directory is outside of container mount/i

/**
 * Why a container that runs cannot use its home on a file server. `silent`: the server does not answer. `stale`: what the container
 * has mounted is no more, because the server has replaced what it exports, or it was mounted anew on this machine.
 */
export type HomeFault = 'silent' | 'stale'

export interface HomeFolderWatchParts {
  readonly templates: Pick<Templates, 'all' | 'get'>
  readonly routeSync: Pick<RouteSync, 'running' | 'onChange'>
  readonly runtime: Pick<Runtime, 'exec'>
  /** Called when the fault of a container is another than before; must not throw. */
  readonly onChange: (container: ContainerState) => void
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** For tests. */
  readonly answering?: Pick<AnsweringPaths, 'ask'>
}

interface Known {
  readonly containerId: string
  /** Device and inode of the folder on this machine, or the error that it has, when the container was looked at. */
  readonly which: string
  readonly isStale: boolean
  readonly isSilent: boolean
}

const faultOf = ({ isStale, isSilent }: Known): HomeFault | undefined =>
  isStale ? 'stale' : isSilent ? 'silent' : undefined

/**
 * Watches homes on file servers (`home_source` with a path) while their containers run. A container keeps the mount that it was
 * started with, so it alone can tell whether that is stale where this machine has mounted another one since; then it is asked.
 */
export class HomeFolderWatch implements ContainerTimer {
  readonly #parts: HomeFolderWatchParts
  readonly #answering: Pick<AnsweringPaths, 'ask'>
  readonly #known = new Map<string, Known>()
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  constructor(parts: HomeFolderWatchParts) {
    this.#parts = parts
    this.#answering = parts.answering ?? answeringPaths
    // What is started again has the folder as it is then.
    parts.routeSync.onChange({
      onStatus: (container, status) => {
        if (status !== 'running' && status !== 'paused') this.#known.delete(containerKey(container))
      },
      onGone: (owned) => void this.#known.delete(containerKey(owned)),
    })
  }

  /** As of the last look; undefined while nothing is known to be wrong. */
  faultOf(owned: ContainerRef): HomeFault | undefined {
    const known = this.#known.get(containerKey(owned))
    return known && faultOf(known)
  }

  /** Starts the looks, or starts them anew after the templates changed; never, when no template has homes on a file server. */
  start(): void {
    this.stop()
    if (!this.#parts.templates.all().some(({ homeSource }) => homeSource && 'path' in homeSource)) return
    this.#timer = setInterval(() => void this.look(), interval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Looks at the homes of all containers that run, one after the other. Never throws. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      for (const { known, isPaused } of Array.from(this.#parts.routeSync.running()))
        if (!isPaused && known.containerId !== null) await this.#lookAt(known, known.containerId)
    } finally {
      this.#isLooking = false
    }
  }

  async #lookAt(container: ContainerState, containerId: string): Promise<void> {
    const { prefix, userId, type } = container
    const template = this.#parts.templates.get(type)
    const [slug = ''] = prefix.split('-')
    const folder = template && homeFolderOf(template, { userId, slug })
    if (folder === undefined || !template?.home) return
    const which = await this.#whichNow(folder)
    const found = this.#known.get(containerKey(container))
    const before = found?.containerId === containerId ? found : undefined
    const isSame = which === undefined || which === before?.which
    const isStale =
      before?.isStale === true || (!isSame && (staleErrors.has(which) || (await this.#ask(containerId, template.home))))
    if (isStale === undefined) return
    this.#note(container, { containerId, which: which ?? before?.which ?? '', isStale, isSilent: which === undefined })
  }

  #note(container: ContainerState, now: Known): void {
    const { userId, type } = container
    const before = this.faultOf(container)
    this.#known.set(containerKey(container), now)
    const fault = faultOf(now)
    if (fault === before) return
    const { log, onChange } = this.#parts
    if (fault === undefined) log.info({ userId, type }, 'a container can use its home on a file server again')
    else log.warn({ userId, type, fault }, 'a container that runs cannot use its home on a file server')
    onChange(container)
  }

  /** Device and inode of a folder, or the name of its error; undefined while its file system does not answer. */
  async #whichNow(folder: string): Promise<string | undefined> {
    try {
      const { dev, ino } = await this.#answering.ask(folder, () => stat(folder, { bigint: true }))
      return `${dev}:${ino}`
    } catch (error) {
      return error instanceof SilentFileSystem ? undefined : fileReason(error)
    }
  }

  /**
   * Whether what a container has mounted is stale. A socket that is not there is asked for, which the file server has to look for. One that
   * does not answer is not asked again, because each question may hang in it.
   * @returns undefined when the engine cannot ask it now
   */
  async #ask(containerId: string, home: string): Promise<boolean | undefined> {
    const signal = AbortSignal.timeout(timeout)
    try {
      const command = [containerTool, 'connect-unix', `${home}/.berth-look`] as const
      const { stream, ended } = await this.#parts.runtime.exec(containerId, command, signal)
      stream
        .on('error', () => undefined)
        .resume()
        .end()
      const { errors } = await ended
      return staleWords.test(errors)
    } catch (error) {
      // In a working directory that is stale no program can be started at all.
      if (staleWords.test(String((error as Error).cause ?? error))) return true
      return error instanceof RuntimeError && error.kind !== 'failed' && !signal.aborted ? undefined : false
    }
  }
}
