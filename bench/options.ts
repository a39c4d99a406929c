import { parseArgs } from 'node:util'

const { values } = parseArgs({ strict: false })

/** The text of `--name=text` on the command line; undefined without it. */
export function textOption(name: string): string | undefined {
  const text = values[name]
  return typeof text === 'string' ? text : undefined
}

/** The number of `--name=7` on the command line. */
export const numberOption = (name: string, fallback: number): number => Number(textOption(name) ?? fallback)
