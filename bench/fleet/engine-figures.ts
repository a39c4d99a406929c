import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What `measure-engine.ts` measured of a real engine; the fake engine behaves accordingly. */
export interface EngineFigures {
  /** ISO 8601, day only. */
  readonly measuredOn: string
  /** Name and version as the engine reports them. */
  readonly engine: string
  readonly cores: number
  /** By call: 21 quantiles in ms, from the fastest (0 %) to the slowest (100 %) in steps of 5 %. */
  readonly latencies: Readonly<Record<CallName, readonly number[]>>
  /** What each listed container and volume adds to the latency of a list, in ms. */
  readonly perListedContainer: number
  /** The same for each that a filter excludes. */
  readonly perPassedContainer: number
  readonly perListedVolume: number
  /** Responses of the real engine: the fake engine's have the same fields and size. */
  readonly samples: EngineSamples
}

export interface EngineSamples {
  /** One container in a list, exited. */
  readonly listed: Json
  /** A running container, inspected. */
  readonly inspected: Json
  readonly image: Json
  readonly info: Json
  readonly network: Json
  readonly volume: Json
}

export type Json = Record<string, unknown>

/** Calls whose latency does not depend on the number of objects; the two lists have a part per entry in addition. */
export const callNames = [
  'ping',
  'info',
  'inspect',
  'listByIds',
  'listAll',
  'create',
  'start',
  'stop',
  'pause',
  'unpause',
  'remove',
  'stats',
  'image',
  'networks',
  'volumes',
] as const

export type CallName = (typeof callNames)[number]

const file = path.join(import.meta.dirname, 'engine-figures.json')

/** @throws {Error} when nothing was measured yet */
export const readEngineFigures = (): EngineFigures => JSON.parse(readFileSync(file, 'utf8')) as EngineFigures

export function writeEngineFigures(figures: EngineFigures): void {
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
}
