/** What is taken from the API's answers. Times are texts of RFC 3339 with seconds. */
export interface ObjectMeta {
  readonly name: string
  readonly uid: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly resourceVersion?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

export interface ContainerEnd {
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
  readonly startedAt?: string
  readonly finishedAt?: string
}

export interface ContainerStatus {
  readonly name?: string
  readonly imageID?: string
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: ContainerEnd
  }
}

export interface PodCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface PodToleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

export interface Pod {
  readonly metadata: ObjectMeta
  readonly spec?: {
    readonly nodeName?: string
    readonly tolerations?: readonly PodToleration[]
    readonly initContainers?: readonly { readonly name: string }[]
    readonly volumes?: readonly {
      readonly name?: string
      readonly persistentVolumeClaim?: { readonly claimName: string }
    }[]
    readonly containers?: readonly {
      readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
    }[]
  }
  readonly status?: {
    readonly phase?: string
    /** Reason for the pod as a whole: `Evicted`, `NodeLost`. */
    readonly reason?: string
    readonly message?: string
    /** When its node took it. */
    readonly startTime?: string
    readonly podIP?: string
    /** Address of its node. */
    readonly hostIP?: string
    readonly conditions?: readonly PodCondition[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

export interface Claim {
  readonly metadata: ObjectMeta
  readonly spec?: {
    readonly accessModes?: readonly string[]
    readonly resources?: { readonly requests?: { readonly storage?: string } }
    readonly storageClassName?: string
    /** Once it is bound. */
    readonly volumeName?: string
  }
}

/** An event about a pod. */
export interface ClusterEvent {
  readonly reason?: string
  readonly message?: string
  readonly lastTimestamp?: string
  readonly eventTime?: string
}

export interface ObjectList<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly T[]
}

/** One line of a watch. Of `ERROR` the object is a `Status`. */
export interface WatchLine<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

const unitFactors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/** A quantity of a cluster's API, such as `500m`, `10Gi` or `1e3`, as a number; NaN for what is none. */
export function quantity(text: string): number {
  const [, amount = '', unit = ''] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]{0,2})$/.exec(text) ?? []
  return amount === '' ? Number.NaN : Number(amount) * (unitFactors[unit] ?? Number.NaN)
}
