import { numberOption } from '../options.ts'

/** Options of `npm run bench:web`, such as `-- --rounds=1 --people=1000`. */
export const rounds = numberOption('rounds', 5)
export const people = numberOption('people', 100_000)
export const rowsToScroll = Math.min(10_000, people)
