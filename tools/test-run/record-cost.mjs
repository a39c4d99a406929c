/**
 * Loaded before each test file (`--import`): at its end, records what the process took. `npm run test:times` reads the
 * records.
 */
import { relative, resolve } from 'node:path'
import { noteCost } from './cost.mjs'

const root = resolve(import.meta.dirname, '../..')
const file = relative(root, process.argv[1] ?? '')

// Programs that tests fork inherit this module; they are not test files. A batch notes the cost of each of its files, too.
if (/\.(test|e2e)\.m?[jt]s$/.test(file)) process.on('exit', () => noteCost(file))
