import { createRequire } from 'node:module'
import type * as undici from 'undici'

/**
 * undici's `Pool` without the rest of the package: its main file also loads fetch, caches, mocks and WebSockets, and with
 * them Node's own copy of all that. What the main file adds to every dispatcher (`request`, `stream`...) is added here.
 */
const require = createRequire(import.meta.url)
const dispatcher = require('undici/lib/dispatcher/dispatcher.js') as typeof undici.Dispatcher
Object.assign(dispatcher.prototype, require('undici/lib/api/index.js'))

export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export type Pool = undici.Pool
export type PoolOptions = undici.Pool.Options
