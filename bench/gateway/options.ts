import { parseArgs } from 'node:util'

export interface Options {
  /** Names of the cases to run; undefined for all. */
  readonly only: readonly string[] | undefined
  /** Parts of the names of hostile shapes to measure; undefined for all. */
  readonly shapes: readonly string[] | undefined
  readonly rounds: number
  readonly isProfile: boolean
}

/** @throws {Error} for an unknown option or case, or an invalid number of rounds */
export function readOptions(args: readonly string[], names: ReadonlySet<string>): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      shapes: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      profile: { type: 'boolean', default: false },
    },
  })
  const only = values.only?.split(',')
  const unknown = only?.filter((name) => !names.has(name)) ?? []
  if (unknown.length > 0) throw new Error(`--only=${unknown.join(',')}: there are ${[...names].join(', ')}`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds=${values.rounds}: not a number of rounds`)
  return { only, shapes: values.shapes?.split(';'), rounds, isProfile: values.profile }
}
