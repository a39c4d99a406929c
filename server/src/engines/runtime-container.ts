import type { Owner } from './container-spec.ts'

/** How far a pull is. Totals grow while the registry announces further layers. */
export interface PullProgress {
  readonly layersDone: number
  readonly layersTotal: number
  readonly bytesDone: number
  readonly bytesTotal: number
}

/** What a start waits for: a node with room, the pull of the image, the volume of the home, or nothing in particular. */
export type StartWait = 'node' | 'image' | 'volume' | 'none'

/**
 * What became of a container that its engine did not let go on: `evicted`: it was ended to free, drain or shut down the
 * machine that it ran on, or was deleted; `node-lost`: that machine does not answer, so it may still run.
 */
export type Disruption = 'evicted' | 'node-lost'

/** Home volume: it holds a user's files. */
export interface Home {
  readonly volume: string
  readonly owner: Owner
}

/** A container as the runtime sees it now. */
export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** Null when the container does not carry this installation's labels: it is another's. */
  readonly owner: Owner | null
  /** The engine's own word: created, running, paused, restarting, removing, exited, dead. */
  readonly state: string
  /** Where the app can be reached from this host, while it runs; the engine gives addresses on to others afterwards. */
  readonly address: string | null
  readonly port: number | null
  /** Of the image that it was made from, even if the image's name means another by now. */
  readonly imageId: string
  /** Exit code of the last run; null while running, and where a list does not tell it. */
  readonly exitCode: number | null
  /**
   * Whether the kernel killed a program in it for want of memory, in this run or the last; false where only a list was asked. An
   * engine may say so a moment after the end: the event `oom` follows then.
   */
  readonly isOutOfMemory: boolean
  /** Undefined where the engine ended nothing. */
  readonly disruption?: Disruption | undefined
  /** When it was started last, in ms since 1970; null when it never was, and where only a list was asked. */
  readonly startedAt: number | null
  /** When its last run ended, in ms since 1970; null while it runs, when it never did, and where only a list was asked. */
  readonly endedAt: number | null
  readonly fingerprint: string | null
  /** As in the specification that it was made from; undefined where that named none. */
  readonly templateVersion?: string | undefined
}

/** An image that the engine has. */
export interface ImageInfo {
  /** As in `RuntimeContainer.imageId`. */
  readonly id: string
  /** Digest by which its registry knows it; null for one that was built here. */
  readonly digest: string | null
  /** When it was pulled, or built here; null when the engine does not say. */
  readonly taggedAt: Date | null
}

/** What the programs of a container take. */
export interface ContainerUsage {
  /** Since its start, of all cores together. */
  readonly cpuSeconds: number
  /** Now, without the files that the kernel keeps in memory only while it has room; null where the engine does not say. */
  readonly memoryBytes: number | null
  /** As in `RuntimeContainer`. */
  readonly startedAt: number | null
}
