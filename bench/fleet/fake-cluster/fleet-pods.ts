import { createHash } from 'node:crypto'
import type { Pod } from '../../../server/src/engines/kubernetes/api-objects.ts'
import type { ClusterFigures } from '../cluster-figures.ts'
import { addressOf, fleetType, podIdOf, slugOf, uidOf, type Fleet } from '../fake-engine/fleet.ts'
import type { StoredObject } from './stored-objects.ts'

/** A pod of the fake cluster. */
export interface FakePod extends StoredObject {
  readonly spec: NonNullable<Pod['spec']>
  readonly status: NonNullable<Pod['status']>
}

type Metadata = StoredObject['metadata']

/** What a creation says of an object, of which the fake cluster uses these. */
export interface Recipe {
  readonly metadata: Pick<Metadata, 'name'> & Partial<Pick<Metadata, 'labels' | 'annotations'>>
  readonly spec?: Pick<FakePod['spec'], 'volumes'>
}

/** Pods and claims with the fields and the size of a real cluster's. */
export class FleetPods {
  readonly #samples: ClusterFigures['samples']
  #number: number

  /** @param fleet the ids of whose containers are taken */
  constructor(samples: ClusterFigures['samples'], fleet: Fleet) {
    this.#samples = samples
    this.#number = fleet.fingerprints.length
  }

  /** The pod of the n-th container, running. */
  running({ installation, fingerprints, appPort }: Fleet, person: number): FakePod {
    const name = `${installation}-${slugOf(person)}-${fleetType}`
    const annotations = {
      'berth.slug': slugOf(person),
      'berth.type': fleetType,
      'berth.name': name,
      'berth.port': String(appPort),
      'berth.fingerprint': fingerprints[person - 1] ?? '',
    }
    const labels = { 'berth.instance': installation, 'berth.user_id': String(person) }
    const claim = `${installation}-home-${person}-${slugOf(person)}-${fleetType}`
    const home = { name: 'home', persistentVolumeClaim: { claimName: claim } }
    const created = this.#created(podIdOf(person), {
      metadata: { name, labels, annotations },
      spec: { volumes: [home] },
    })
    return begun(created, addressOf(person), this.#sample.status)
  }

  /** A new pod that waits for its node, as the API server answers a creation. */
  pending(recipe: Recipe): FakePod {
    return this.#created(podIdOf(++this.#number), recipe)
  }

  /** What its node says once its program runs. */
  begun(pod: FakePod): FakePod {
    const number = createHash('sha256').update(pod.metadata.uid).digest().readUInt16BE()
    return begun(pod, addressOf(number), this.#sample.status)
  }

  /** The home of a user. */
  claim({ installation }: Fleet, person: number): StoredObject {
    const name = `${installation}-home-${person}-${slugOf(person)}-${fleetType}`
    const labels = { 'berth.instance': installation, 'berth.user_id': String(person) }
    const annotations = { 'berth.slug': slugOf(person), 'berth.type': fleetType, 'berth.name': name }
    return this.newClaim({ metadata: { name, labels, annotations } })
  }

  newClaim({ metadata: { name, labels = {}, annotations = {} } }: Recipe): StoredObject {
    const { claim } = this.#samples
    return { ...claim, metadata: { ...(claim.metadata as Metadata), name, uid: uidOf(name), labels, annotations } }
  }

  get #sample(): FakePod {
    return this.#samples.pod as unknown as FakePod
  }

  #created(
    uid: string,
    { metadata: { name, labels = {}, annotations = {} }, spec: { volumes = [] } = {} }: Recipe,
  ): FakePod {
    const sample = this.#sample
    const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '')
    return {
      ...sample,
      metadata: { ...sample.metadata, name, uid, labels, annotations, creationTimestamp },
      spec: { ...sample.spec, volumes },
      status: { phase: 'Pending' },
    }
  }
}

function begun(pod: FakePod, podIP: string, status: FakePod['status']): FakePod {
  return { ...pod, status: { ...status, phase: 'Running', podIP, podIPs: [{ ip: podIP }] } as FakePod['status'] }
}
