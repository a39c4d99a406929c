import { parseArgs } from 'node:util'
import { scenarios } from './scenarios.ts'

export interface Options {
  /** Containers at each level, ascending. */
  readonly sizes: readonly number[]
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
      sizes: { type: 'string', default: '1000,10000,20000' },
      only: { type: 'string' },
      minutes: { type: 'string', default: '4' },
      write: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  })
  const sizes = values.sizes.split(',').map(Number)
  if (sizes.some((size) => !Number.isInteger(size) || size < 10)) throw new Error(`--sizes=${values.sizes}: not sizes`)
  const wanted = values.only?.split(',')
  const unknown = wanted?.filter((name) => !names.some((each) => each === name)) ?? []
  if (unknown.length > 0) throw new Error(`--only=${unknown.join(',')}: there are ${names.join(', ')}`)
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error(`--minutes=${values.minutes}: not a number of minutes`)
  const only = names.filter((name) => wanted?.includes(name) ?? true)
  return { sizes, only, minutes, isWritten: values.write, profiles: values.profile }
}
