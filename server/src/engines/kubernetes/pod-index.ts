import type { RuntimeContainer } from '#/engines/runtime.ts'
import type { ObjectMeta, Pod } from './api-objects.ts'
import { toContainer, toListed } from './pod-state.ts'

/** Deletions that are remembered. */
const maxDeleted = 10_000

/** What the index has of a pod. */
export interface KnownPod {
  /** Name of the pod, which may differ from its container's. */
  readonly name: string
  /** `resourceVersion`: with the same one the pod is unchanged. */
  readonly version: string | undefined
  /** What a list has of it; it is shared by all lists, so that 20,000 pods are not in memory once for each. */
  readonly listed: RuntimeContainer
}

/** A list of all pods that is under way. */
export interface Listing {
  /** Uids of which the watch, or a creation, told since it was asked for: of these it may be older. */
  readonly told: Set<string>
}

/**
 * The pods of this installation by uid: their names, because the API finds a pod by its name only, and how lists show
 * them. Filled by lists, creations and the watch. A uid is never given again, so one that a whole list does not have,
 * and that was not created since, is gone.
 */
export class PodIndex {
  readonly watch: WatchState
  /** Whether another process creates pods, and no watch tells this one of them. */
  readonly mayMiss: boolean
  readonly #installation: string
  readonly #pods = new Map<string, KnownPod>()
  readonly #listings = new Set<Listing>()
  /** Created by this process, and not started yet. */
  readonly #unstarted = new Set<string>()
  /** Whose deletion this process asked for; the latest, so that the last events of each find it. */
  readonly #deleted = new Set<string>()
  readonly #followers = new Map<string, Set<PodFollower>>()
  #isComplete = false
  /** The list that makes it complete, while it is under way. */
  #completion: Promise<unknown> | undefined

  constructor(installation: string, watch = new WatchState(), mayMiss = false) {
    this.#installation = installation
    this.watch = watch
    this.mayMiss = mayMiss
  }

  /** Whether a watch tells of changes, so that a wait need not ask often. */
  get isWatched(): boolean {
    return this.watch.isOpen
  }

  /**
   * Resolves when a whole list was taken: an unknown uid is gone then, unless this index may miss pods. At the start all who
   * ask share one, that of the
   * watch if it is under way.
   * @param list takes it
   * @throws whatever `list` throws
   */
  async completed(list: () => Promise<unknown>): Promise<void> {
    if (!this.#isComplete) await this.watch.settled()
    if (this.#isComplete && !this.mayMiss) return
    this.#completion ??= list().finally(() => (this.#completion = undefined))
    await this.#completion
  }

  nameOf(uid: string): string | undefined {
    return this.#pods.get(uid)?.name
  }

  /** How lists show the pods that are known now. */
  listed(): RuntimeContainer[] {
    return [...this.#pods.values()].map(({ listed }) => listed)
  }

  /** What there is to know of a pod: the same object again for one that is unchanged. */
  knownOf(pod: Pod): KnownPod {
    const { uid, name, resourceVersion: version } = pod.metadata
    const known = this.#pods.get(uid)
    // A removal that takes too long is told apart by the time that has passed.
    const isSame = version !== undefined && known?.version === version && known.listed.state !== 'removing'
    return isSame ? known : { name, version, listed: toListed(toContainer(this.#installation, pod)) }
  }

  noteCreated(metadata: ObjectMeta): void {
    this.#put({ metadata })
    this.#unstarted.add(metadata.uid)
  }

  /** A pod as the watch just told of it. */
  note(pod: Pod): void {
    this.#put(pod)
    for (const follower of this.#followers.get(pod.metadata.uid) ?? []) follower.tell(pod)
  }

  /** A list of all pods is about to be asked for; `noteAll` or `endListing` follows. */
  beginListing(): Listing {
    const listing = { told: new Set<string>() }
    this.#listings.add(listing)
    return listing
  }

  /**
   * All pods of the installation, as of one list. It is newer than all that was told before it was asked for, and may
   * be older than what was told since.
   */
  noteAll(listed: ReadonlyMap<string, KnownPod>, listing: Listing): void {
    this.endListing(listing)
    for (const uid of this.#pods.keys()) if (!listed.has(uid) && !listing.told.has(uid)) this.noteGone(uid)
    for (const [uid, known] of listed) if (!listing.told.has(uid)) this.#pods.set(uid, known)
    this.#isComplete = true
  }

  /** The list came to nothing, or was taken note of. */
  endListing(listing: Listing): void {
    this.#listings.delete(listing)
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
    for (const { told } of this.#listings) told.add(uid)
    this.#pods.delete(uid)
    this.#unstarted.delete(uid)
    for (const follower of this.#followers.get(uid) ?? []) follower.tell(undefined)
  }

  /** Whether this process created it and has not waited for its start yet; from now on it has. */
  takeUnstarted(uid: string): boolean {
    return this.#unstarted.delete(uid)
  }

  #put(pod: Pod): void {
    const { uid } = pod.metadata
    for (const { told } of this.#listings) told.add(uid)
    const known = this.knownOf(pod)
    if (known.listed.owner) this.#pods.set(uid, known)
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

/**
 * What the watch tells of one pod. A change that comes while its reader is busy is kept: a reader that only heard
 * changes while it listens would miss the last one, and look for it a second later.
 */
class PodFollower {
  readonly #onEnd: () => void
  /** The newest that was told and not read yet. */
  #news: { readonly pod: Pod | undefined } | undefined
  #wake: (() => void) | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** @param pod undefined: it is gone */
  tell(pod: Pod | undefined): void {
    this.#news = { pod }
    this.#wake?.()
  }

  /**
   * The pod as of the newest change since the last call, at once if there was one. One reader at a time.
   * @returns undefined when it is gone, when nothing was told within `ms`, and when the signal aborts
   */
  async next(ms: number, signal?: AbortSignal): Promise<Pod | undefined> {
    if (!this.#news && !signal?.aborted) await this.#change(ms, signal)
    const news = this.#news
    this.#news = undefined
    return news?.pod
  }

  end(): void {
    this.#onEnd()
  }

  async #change(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', this.#wake, { once: true })
    await promise
    signal?.removeEventListener('abort', this.#wake)
    clearTimeout(timer)
    this.#wake = undefined
  }
}

/** Within this time after the list that a watch begins with, other lists of all pods are answered from both, in ms. */
const listSharing = 10_000
/**
 * A watch without a line for this long answers no list, in ms: bookmarks come every minute or so, and a connection that
 * is half open is noticed only later (`ClusterTimeouts.silence`).
 */
const maxSilence = 90_000

/** Whether the watch of pods tells of all changes now, so that what it told can answer a list. */
export class WatchState {
  readonly #now: () => number
  /** While a watch takes the list that it begins with, until it is open or has failed. */
  #opening: PromiseWithResolvers<void> | undefined
  #isOpen = false
  #heardAt = -Infinity
  #sharedUntil = -Infinity

  /** @param now monotonic clock, in ms */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The list of all pods, from which the watch continues, is about to be asked for. */
  noteOpening(): void {
    this.#opening ??= Promise.withResolvers()
  }

  /** The watch is open: it tells of each change since its list, or since the last line of the watch before. */
  noteOpen(): void {
    this.#isOpen = true
    this.noteLine()
    if (this.#opening) this.#sharedUntil = this.#now() + listSharing
    this.#endOpening()
  }

  /** A change, or a bookmark. */
  noteLine(): void {
    this.#heardAt = this.#now()
  }

  /** The watch has broken, or did not open. */
  noteLost(): void {
    this.#isOpen = false
    this.#sharedUntil = -Infinity
    this.#endOpening()
  }

  /** Resolves when no list of the watch is under way, whatever became of it. */
  async settled(): Promise<void> {
    await this.#opening?.promise
  }

  /**
   * Whether what the watch told can answer a list now.
   * @param isUp whether of running pods alone: a list of all is asked for, so that a line that never came is noticed,
   *   except right after the list that the watch began with
   */
  canAnswer(isUp: boolean): boolean {
    const now = this.#now()
    return this.#isOpen && now - this.#heardAt < maxSilence && (isUp || now < this.#sharedUntil)
  }

  #endOpening(): void {
    this.#opening?.resolve()
    this.#opening = undefined
  }
}
