import { parseArgs } from 'node:util'
import { engines, type EngineName } from './engines.ts'
import { scenarios } from './scenarios.ts'

export interface Options {
  readonly engine: EngineName
  /** Containers at each level, ascending. */
  readonly sizes: readonly number[]
  /** Containers that run at each level, at most. */
  readonly running: number
  readonly only: readonly (keyof typeof scenarios)[]
  /** Duration of `morning`; the other scenarios take a tenth of it. */
  readonly minutes: number
  readonly isWritten: boolean
  /** A folder for CPU profiles; undefined for none. */
  readonly profiles: string | undefined
}

/** @throws {Error} for an unknown option or an invalid value */
export function readOptions(args: readonly string[]): Options {
  const names = Object.keys(scenarios) as (keyof typeof scenarios)[]
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: 'string', default: 'docker' },
      running: { type: 'string', default: '2000' },
      sizes: { type: 'string', default: '1000,10000,20000' },
      only: { type: 'string' },
      minutes: { type: 'string', default: '4' },
      write: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  })
  const sizes = values.sizes.split(',').map(Number)
  if (sizes.some((size) => !Number.isInteger(size) || size < 10)) throw new Error(`--sizes=${values.sizes}: not sizes`)
  const engine = (Object.keys(engines) as EngineName[]).find((name) => name === values.engine)
  if (!engine) throw new Error(`--engine=${values.engine}: there are ${Object.keys(engines).join(', ')}`)
  const running = Number(values.running)
  if (!Number.isInteger(running) || running < 10)
    throw new Error(`--running=${values.running}: not a number of containers`)
  const wanted = values.only?.split(',')
  const unknown = wanted?.filter((name) => !names.some((each) => each === name)) ?? []
  if (unknown.length > 0) throw new Error(`--only=${unknown.join(',')}: there are ${names.join(', ')}`)
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error(`--minutes=${values.minutes}: not a number of minutes`)
  const only = names.filter((name) => wanted?.includes(name) ?? true)
  return { engine, sizes, running, only, minutes, isWritten: values.write, profiles: values.profile }
}
