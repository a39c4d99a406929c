import type { HostRulesReport } from '#/engines/runtime.ts'
import type { ClusterNamespace } from './cluster-client.ts'
import type { PodIndex } from './pod-index.ts'
import type { PullSecretUse, SecretAnchor, UnstartedEnvironments } from './pod-secrets.ts'

/** What every verb works with. */
export interface ClusterContext extends ClusterNamespace {
  /** Null: the cluster's default. */
  readonly storageClass: string | null
  /** Image of helpers; null: files of homes are out of reach. */
  readonly helperImage: string | null
  /** Image that has the container tool; null: pods have none. */
  readonly toolImage: string | null
  readonly index: PodIndex
  /** Who uses the accounts at registries, by the names of their Secrets. */
  readonly pullSecrets: Map<string, PullSecretUse>
  /** Owns environments of pods that are not there yet. */
  readonly anchor: SecretAnchor
  readonly environments: UnstartedEnvironments
  readonly timeouts: ClusterTimeouts
  /** Result of the last trial; null before the first. */
  isolation: HostRulesReport | null
}

/** How long a start waits in each of its phases, and a watch for a line, in ms. */
export interface ClusterTimeouts {
  /** For a node with room: an autoscaler takes minutes to make one. */
  readonly scheduling: number
  /** For an image that could not be pulled, or a container that could not be made: the cluster tries again. */
  readonly retries: number
  /** For all of it, a pull included. */
  readonly total: number
  /**
   * A watch without a line for this long is broken: with bookmarks a line comes every minute or so, and a connection
   * that is half open would otherwise stay silent for ever.
   */
  readonly silence: number
  /** For a home that sends, or takes, nothing while it is read or written. */
  readonly stall: number
  /** For the network plugin, to close a pod that has just started. */
  readonly enforcement: number
}

export const defaultTimeouts: ClusterTimeouts = {
  scheduling: 300_000,
  retries: 15_000,
  total: 1_800_000,
  silence: 150_000,
  stall: 120_000,
  enforcement: 30_000,
}
