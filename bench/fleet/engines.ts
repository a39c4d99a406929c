import path from 'node:path'
import { readClusterFigures } from './cluster-figures.ts'
import { readEngineFigures } from './engine-figures.ts'
import { containerIdOf, podIdOf } from './fake-engine/fleet.ts'

/** What Berth runs its containers on, and its stand-in. */
export interface FleetEngine {
  /** The program of the stand-in, and its arguments. */
  standIn(folder: string, fleetFile: string): { readonly program: string; readonly args: readonly string[] }
  /** Settings with which Berth finds it. */
  settings(folder: string): Readonly<Record<string, string>>
  /** The engine's id of the n-th container. */
  idOf(number: number): string
  /** The stand-in in one sentence with its figures. */
  inWords(): string
}

export type EngineName = 'docker' | 'kubernetes'

export const engines: Readonly<Record<EngineName, FleetEngine>> = {
  docker: {
    standIn: (folder, fleetFile) => ({
      program: path.join(import.meta.dirname, 'fake-engine/main.ts'),
      args: [socketIn(folder), fleetFile],
    }),
    settings: (folder) => ({ DOCKER_HOST: `unix://${socketIn(folder)}`, HOST_RULES: 'off' }),
    idOf: containerIdOf,
    inWords: engineInWords,
  },
  kubernetes: {
    standIn: (folder, fleetFile) => ({
      program: path.join(import.meta.dirname, 'fake-cluster/main.ts'),
      args: [folder, fleetFile],
    }),
    settings: (folder) => ({ ENGINE: 'kubernetes', KUBECONFIG: path.join(folder, 'kubeconfig') }),
    idOf: podIdOf,
    inWords: clusterInWords,
  },
}

const socketIn = (folder: string) => path.join(folder, 'engine.sock')

function engineInWords(): string {
  const { engine, measuredOn, cores, latencies, perListedContainer, perPassedContainer, perListedVolume } =
    readEngineFigures()
  return (
    `The stand-in answers as ${engine} did on ${measuredOn} (${cores} cores; medians in ms: ${mediansOf(latencies)}; ` +
    `and for each entry of a list ${inMicroseconds(perListedContainer)}, for each that a filter leaves out ${inMicroseconds(perPassedContainer)}, of the volumes' ${inMicroseconds(perListedVolume)}).`
  )
}

function clusterInWords(): string {
  const { cluster, measuredOn, cores, latencies, perListedPod, perPassedPod, perListedClaim } = readClusterFigures()
  return (
    `The stand-in answers as ${cluster} did on ${measuredOn} (two nodes, ${cores} cores; medians in ms: ${mediansOf(latencies)}; ` +
    `and for each pod of a page ${inMicroseconds(perListedPod)}, for each that a selector leaves out ${inMicroseconds(perPassedPod)}, for each claim of a page ${inMicroseconds(perListedClaim)}).`
  )
}

const mediansOf = (latencies: Readonly<Record<string, readonly number[]>>) =>
  Object.entries(latencies)
    .map(([name, quantiles]) => `${name} ${quantiles[10]?.toFixed(1)}`)
    .join(', ')

const inMicroseconds = (ms: number) => `${(ms * 1000).toFixed(0)} us`
