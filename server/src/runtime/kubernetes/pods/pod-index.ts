import { ownerOf } from '../object-labels.ts'
import type { Pod } from '../client/api-objects.ts'
import { PodFollower } from './pod-follower.ts'

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
  readonly #followers = new Map<string, Set<PodFollower>>()
  #isComplete = false
  /** The list that makes it complete, while it is under way. */
  #completion: Promise<unknown> | undefined
  /** Whether a watch tells of changes, so that a wait need not ask often. */
  isWatched = false

  constructor(installation: string) {
    this.#installation = installation
  }

  /**
   * Resolves when a whole list was taken: an unknown uid is gone then. At the start all who ask share one. @param list takes
   * it @throws whatever `list` throws
   */
  async completed(list: () => Promise<unknown>): Promise<void> {
    if (this.#isComplete) return
    this.#completion ??= list().finally(() => (this.#completion = undefined))
    await this.#completion
  }

  nameOf(uid: string): string | undefined {
    return this.#names.get(uid)
  }

  noteCreated({ uid, name }: { readonly uid: string; readonly name: string }): void {
    this.#names.set(uid, name)
    this.#unstarted.add(uid)
  }

  /** A pod as the watch just told of it. */
  note(pod: Pod): void {
    this.#noteName(pod)
    for (const follower of this.#followers.get(pod.metadata.uid) ?? []) follower.tell(pod)
  }

  /**
   * All pods of the installation, as of one list; those created since it was asked for stay.
   * @param listed their names by uid @param before as `mark` was then
   */
  noteAll(listed: ReadonlyMap<string, string>, before: ReadonlySet<string>): void {
    for (const uid of before) if (!listed.has(uid)) this.noteGone(uid)
    // A list may be older than what the watch has told.
    for (const [uid, name] of listed) this.#names.set(uid, name)
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
    for (const follower of this.#followers.get(uid) ?? []) follower.tell(undefined)
  }

  /** Whether this process created it and has not waited for its start yet; from now on it has. */
  takeUnstarted(uid: string): boolean {
    return this.#unstarted.delete(uid)
  }

  #noteName({ metadata }: Pod): void {
    if (ownerOf(metadata, this.#installation)) this.#names.set(metadata.uid, metadata.name)
  }

  /** What the watch tells of this pod from now on; its reader ends it. */
  follow(uid: string): PodFollower {
    const theirs = this.#followers.get(uid) ?? new Set()
    const follower = new PodFollower(() => {
      theirs.delete(follower)
      if (theirs.size === 0 && this.#followers.get(uid) === theirs) this.#followers.delete(uid)
    })
    this.#followers.set(uid, theirs.add(follower))
    return follower
  }
}
