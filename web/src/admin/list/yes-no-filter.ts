import type { Choice } from './toolbar.tsx'

/** A choice between all rows, those of which something is true, and those of which it is not; with the words for each. */
export function yesNoFilter(name: string, label: string, all: string, yes: string, no: string): Choice {
  const options = [
    ['', all],
    ['true', yes],
    ['false', no],
  ] as const
  return { name, label, options }
}
