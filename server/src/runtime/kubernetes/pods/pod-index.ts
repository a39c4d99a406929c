import { ownerOf } from '../object-labels.ts'
import type { Pod } from '../client/api-objects.ts'

/** Deletions that are remembered. */
const maxDeleted = 10_000

/**
 * Names of the pods of this installation by uid, because the API finds a pod by its name only. Filled by lists, creations and
 * the watch. A uid is never given again, so one that a whole list does not have, and that was not created since, is gone.
 */
export class PodIndex {
  readonly #installation: string
  readonly #names = new Map<string, string>()
  /** Created by this process, and not started yet. */
  readonly #unstarted = new Set<string>()
  /** Whose deletion this process asked for; the latest, so that the last events of each find it. */
  readonly #deleted = new Set<string>()
  readonly #waiting = new Map<string, Set<() => void>>()
  #isComplete = false
  /** Whether a watch tells of changes, so that a wait need not ask often. */
  isWatched = false

  constructor(installation: string) {
    this.#installation = installation
  }

  /** Whether a whole list was taken: an unknown uid is gone then. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  nameOf(uid: string): string | undefined {
    return this.#names.get(uid)
  }

  noteCreated({ uid, name }: { readonly uid: string; readonly name: string }): void {
    this.#names.set(uid, name)
    this.#unstarted.add(uid)
  }

  note({ metadata }: Pod): void {
    if (ownerOf(metadata, this.#installation)) this.#names.set(metadata.uid, metadata.name)
    this.notify(metadata.uid)
  }

  /** All pods of the installation, as of one list; those created since it was asked for stay. @param before as `mark` was then */
  noteAll(pods: readonly Pod[], before: ReadonlySet<string>): void {
    const listed = new Set(pods.map(({ metadata }) => metadata.uid))
    for (const uid of before) if (!listed.has(uid)) this.noteGone(uid)
    for (const pod of pods) this.note(pod)
    this.#isComplete = true
  }

  /** The uids that are known now. */
  mark(): ReadonlySet<string> {
    return new Set(this.#names.keys())
  }

  /** This process is about to ask for its deletion. */
  noteDeleted(uid: string): void {
    this.#deleted.add(uid)
    const [oldest] = this.#deleted
    if (this.#deleted.size > maxDeleted && oldest !== undefined) this.#deleted.delete(oldest)
  }

  /** Whether this process asked for its deletion. */
  isDeletedHere(uid: string): boolean {
    return this.#deleted.has(uid)
  }

  noteGone(uid: string): void {
    this.#names.delete(uid)
    this.#unstarted.delete(uid)
    this.notify(uid)
  }

  /** Whether this process created it and has not waited for its start yet; from now on it has. */
  takeUnstarted(uid: string): boolean {
    return this.#unstarted.delete(uid)
  }

  notify(uid: string): void {
    for (const wake of this.#waiting.get(uid) ?? []) wake()
  }

  /** Resolves at the next change of this pod that the watch tells of, after `ms`, or when the signal aborts. */
  async changed(uid: string, ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const theirs = this.#waiting.get(uid) ?? new Set()
    this.#waiting.set(uid, theirs.add(resolve))
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    await promise
    clearTimeout(timer)
    theirs.delete(resolve)
    if (theirs.size === 0) this.#waiting.delete(uid)
  }
}
