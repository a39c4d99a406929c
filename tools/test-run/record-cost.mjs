/**
 * Loaded before each test file (`--import`): at its end, records what the process took. `npm run test:times` reads the
 * records.
 */
import { relative, resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { noteCost } from './cost.mjs'

const root = resolve(import.meta.dirname, '../..')
const file = relative(root, process.argv[1] ?? '')

/** Programs and threads that tests start inherit the modules of `--import`; they are not test files. */
export const isTestFile = isMainThread && /\.(test|e2e)\.m?[jt]s$/.test(file)

// A batch notes the cost of each of its files, too.
if (isTestFile) process.on('exit', () => noteCost(file))
