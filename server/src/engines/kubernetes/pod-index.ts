import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { ObjectMeta, Pod } from './api-objects.ts'
import { PodFollower } from './pod-follower.ts'
import { toContainer, toListed } from './pod-state.ts'
import { WatchState } from './watch-state.ts'

/** Deletions that are remembered. */
const maxDeleted = 10_000

/** What the index has of a pod. */
export interface KnownPod {
  /** Of the pod, which may differ from its container's. */
  readonly name: string
  /** `resourceVersion`: with the same one the pod is unchanged. */
  readonly version: string | undefined
  /** As a list has it; shared by all lists, so that 20,000 pods are not in memory once for each. */
  readonly listed: RuntimeContainer
}

/** A list of all pods that is under way. */
export interface Listing {
  /** Uids of which the watch, or a creation, told since it was asked for: of these it may be older. */
  readonly told: Set<string>
}

/**
 * The pods of this installation by uid: their names, because the API finds a pod by its name only, and how lists show them.
 * Filled by lists, creations and the watch. A uid is never given again, so one that a whole list does not have, and that was not
 * created since, is gone.
 */
export class PodIndex {
  readonly watch: WatchState
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
  constructor(installation: string, watch = new WatchState()) {
    this.#installation = installation
    this.watch = watch
  }

  /** Whether a watch tells of changes, so that a wait need not ask often. */
  get isWatched(): boolean {
    return this.watch.isOpen
  }

  /**
   * Resolves when a whole list was taken: an unknown uid is gone then. At the start all who ask share one, that of the watch if it is
   * under way. @param list takes it @throws whatever `list` throws
   */
  async completed(list: () => Promise<unknown>): Promise<void> {
    if (!this.#isComplete) await this.watch.settled()
    if (this.#isComplete) return
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
   * All pods of the installation, as of one list. It is newer than all that was told before it was asked for, and may be older than
   * what was told since.
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
