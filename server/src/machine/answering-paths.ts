import { spawn } from 'node:child_process'
import { lstat, readFile, readlink, realpath, statfs } from 'node:fs/promises'
import path from 'node:path'
import pLimit from 'p-limit'
import { fileReason, isBelow, pathOutside, unusablePath, walkPath, type AllowedPath } from './allowed-paths.ts'
import { isAnsweredElsewhere, mountPointOf, mountsIn } from './mounts.ts'
import { withTimeout } from './try-or-log.ts'

/** How long a file system may take to answer, in ms. */
const answerTimeout = 5_000

/** One that hangs after it has been reached holds one of the four threads of libuv; with the question under way one is left. */
const maxHanging = 2

/** A file system does not answer, such as NFS without its server. */
export class SilentFileSystem extends Error {
  override readonly name = 'SilentFileSystem'
  /** Where it is mounted. */
  readonly place: string

  constructor(place: string) {
    super(`the file system at ${place} does not answer`)
    this.place = place
  }
}

/** What is asked of file systems. */
export interface FileQuestions {
  /** Mount points of this machine, `/` among them. */
  mountPoints(): Promise<readonly string[]>
  /** Once the file system that is mounted there has answered by itself, with an error, too. */
  reach(mountPoint: string): Promise<void>
  /** Target of a symbolic link; undefined for what is none. */
  linkOf(entry: string): Promise<string | undefined>
}

/**
 * Asks whether the file systems of paths answer, before something looks at them synchronously: one that hangs would stop the whole
 * process. One question is under way at a time, and a file system that has not answered is not asked again before it has, so that it
 * holds one thread, and others go on.
 */
export class AnsweringPaths {
  readonly #timeout: number
  readonly #questions: FileQuestions
  readonly #limit = pLimit(1)
  /** Mount points, in the order in which they were found silent. */
  readonly #hanging = new Set<string>()

  /** @param timeout of a question, in ms @param questions for tests */
  constructor(timeout: number = answerTimeout, questions: FileQuestions = ofThisMachine) {
    this.#timeout = timeout
    this.#questions = questions
  }

  /** @returns the mount point that does not answer; undefined when all do; a missing path is an answer */
  async silentPlace(file: string): Promise<string | undefined> {
    try {
      const mounts = await this.#questions.mountPoints()
      await this.#follow(path.resolve(file), mounts)
      return undefined
    } catch (error) {
      if (error instanceof SilentFileSystem) return error.place
      throw error
    }
  }

  /**
   * Asks something about a path without symbolic links, once its file system has answered.
   * @throws {SilentFileSystem} when it takes too long, and at once while its file system does not answer · what the question throws
   */
  async ask<T>(file: string, question: () => Promise<T>): Promise<T> {
    const place = mountPointOf(file, await this.#questions.mountPoints())
    await this.#askAt(place, () => this.#questions.reach(place))
    return this.#askAt(place, question)
  }

  /**
   * What `allowedPath` finds, while other requests are served: a file system that does not answer is a problem in words. Roots that do
   * not answer count as none. @param given absolute
   */
  async findAllowed(given: string, roots: readonly string[], setting: string): Promise<AllowedPath> {
    const found = await this.#realPath(given)
    if ('problem' in found) return found
    for (const root of roots) {
      const above = await this.#realPath(root)
      if ('real' in above && isBelow(found.real, above.real)) return found
    }
    return pathOutside(given, roots, setting)
  }

  async #realPath(file: string): Promise<AllowedPath> {
    const place = await this.silentPlace(file)
    try {
      if (place !== undefined) throw new SilentFileSystem(place)
      return { real: await this.ask(file, () => realpath(file)) }
    } catch (error) {
      if (error instanceof SilentFileSystem) return { problem: `names the path ${file}, and ${error.message}` }
      return unusablePath(file, fileReason(error))
    }
  }

  /** Entry by entry, so that it is known which file system is asked where a link leads to another one. */
  async #follow(file: string, mounts: readonly string[]): Promise<void> {
    const walk = walkPath(file)
    const reached = new Set<string>()
    for (let step = walk.next(); !step.done;) {
      const entry = step.value
      const place = mountPointOf(entry, mounts)
      if (!reached.has(place)) await this.#askAt(place, () => this.#questions.reach(place))
      reached.add(place)
      step = walk.next(await this.#askAt(place, () => this.#questions.linkOf(entry)))
    }
  }

  #askAt<T>(place: string, question: () => Promise<T>): Promise<T> {
    return this.#limit(async () => {
      if (this.#hanging.has(place)) throw new SilentFileSystem(place)
      if (this.#hanging.size > maxHanging) throw new SilentFileSystem([...this.#hanging].join(', '))
      const answered = question().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      const answer = await withTimeout(this.#timeout, answered)
      if (!answer) {
        this.#hanging.add(place)
        void answered.then(() => this.#hanging.delete(place))
        throw new SilentFileSystem(place)
      }
      if ('error' in answer) throw answer.error
      return answer.value
    })
  }
}

// A machine without it has all paths in one place.
const ownMounts = async () => mountsIn(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''))

const ofThisMachine: FileQuestions = {
  mountPoints: async () => (await ownMounts()).map(({ place }) => place),
  // The kernel answers from what it remembers of files for up to a minute after their server is gone; not of a file system.
  async reach(mountPoint) {
    const mount = (await ownMounts()).findLast(({ place }) => place === mountPoint)
    await (mount && isAnsweredElsewhere(mount) ? reachByProgram(mountPoint) : reachHere(mountPoint))
  },
  async linkOf(entry) {
    try {
      if ((await lstat(entry)).isSymbolicLink()) return await readlink(entry)
    } catch {
      // What is not there, or may not be looked at, is an answer.
    }
    return undefined
  },
}

const reachHere = async (mountPoint: string) => void (await statfs(mountPoint).catch(() => undefined))

/**
 * A program may hang there until the server is back, and be left behind. A thread of this process may not: Node waits for its threads
 * when it ends, so that `berth doctor` beside NFS without its server printed what it had found and stayed. An image may lack the program.
 */
async function reachByProgram(mountPoint: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const program = spawn('stat', ['-f', mountPoint], { stdio: 'ignore' })
  program.once('error', () => resolve(reachHere(mountPoint))).once('exit', () => resolve())
  program.unref()
  await promise
}

/** For all of the process, because its threads are. */
export const answeringPaths = new AnsweringPaths()
