import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Json } from './engine-figures.ts'

/** What `measure-cluster.ts` measured of a real cluster; the fake cluster behaves accordingly. */
export interface ClusterFigures {
  /** ISO 8601, day only. */
  readonly measuredOn: string
  /** Name and version as the API server reports them. */
  readonly cluster: string
  readonly cores: number
  /** By call: 21 quantiles in ms, from the fastest (0 %) to the slowest (100 %) in steps of 5 %. */
  readonly latencies: Readonly<Record<ClusterCallName, readonly number[]>>
  /** What each pod of a page adds to the time until its answer begins, in ms. */
  readonly perListedPod: number
  /** The same for each that a selector leaves out. */
  readonly perPassedPod: number
  readonly perListedClaim: number
  /** Changes that a watch tells of, from the creation until the program runs, and from the deletion until the pod is gone. */
  readonly linesOfStart: number
  readonly linesOfEnd: number
  /** Objects of the real cluster: the fake cluster's have the same fields and size. */
  readonly samples: { readonly pod: Json; readonly claim: Json }
}

/**
 * Calls, whose latency of the two lists has a part per entry in addition, and what nodes do: from the answer to a creation until
 * the program runs, and from the answer to a deletion until the pod is gone.
 */
export const clusterCallNames = [
  'ready',
  'list pods',
  'list claims',
  'get pod',
  'get no pod',
  'get claim',
  'create claim',
  'create pod',
  'create secret',
  'delete pod',
  'delete claim',
  'events',
  'log',
  'pod starts',
  'pod ends',
] as const

export type ClusterCallName = (typeof clusterCallNames)[number]

const file = path.join(import.meta.dirname, 'cluster-figures.json')

/** @throws {Error} when nothing was measured yet */
export const readClusterFigures = (): ClusterFigures => JSON.parse(readFileSync(file, 'utf8')) as ClusterFigures

export function writeClusterFigures(figures: ClusterFigures): void {
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
}
