import { askEngine } from './setup/engine/engine-api.mjs'
import { findEngine, isPlain } from './setup/engine/find-engine.mjs'

/**
 * Tests name their installation `test-...`; each container, network and volume of one carries the name in this label.
 */
const label = 'berth.instance'

/**
 * In ms: younger objects may belong to a running test, such as the network of the engine of a chaos run, which was removed after half
 * an hour once; and the timeout of the whole removal.
 */
const limits = { age: 10_800_000, all: 15_000 }

/**
 * What the engine tells of a thing; containers, networks and volumes each have their own names for it.
 * @typedef {object} Thing
 * @property {string} [Id]
 * @property {string} [Name]
 * @property {Record<string, string> | null} Labels
 * @property {number | string} [Created] seconds since 1970 (containers) or a date (networks)
 * @property {string} [CreatedAt] a date (volumes)
 */

/** Containers first: a network or a volume in use cannot be removed. */
const kinds = [
  { list: '/containers/json?all=true&', path: '/containers/', removal: '?force=true&v=true' },
  { list: '/networks?', path: '/networks/', removal: '' },
  { list: '/volumes?', path: '/volumes/', removal: '' },
]

/**
 * Removes what killed test runs left in the engine. A failure is printed and otherwise ignored, because leftovers cost
 * space only.
 * @param {NodeJS.ProcessEnv} [env]
 * @param {(line: string) => void} [print]
 */
export async function removeLeftovers(env = process.env, print = console.log) {
  const host = await findEngine(env)
  if (host === undefined || !isPlain(host)) return
  const signal = AbortSignal.timeout(limits.all)
  try {
    for (const kind of kinds) await removeKind(host, kind, print, signal)
  } catch (error) {
    print(`leftovers: could not be removed (${error instanceof Error ? error.message : error})`)
  }
}

/**
 * @param {string} host
 * @param {typeof kinds[number]} kind
 * @param {(line: string) => void} print
 * @param {AbortSignal} signal
 */
async function removeKind(host, { list, path, removal }, print, signal) {
  for (const thing of await labelled(host, list, signal)) {
    if (!isLeftover(thing)) continue
    const { status } = await askEngine(host, 'DELETE', `${path}${thing.Id ?? thing.Name}${removal}`, signal)
    print(
      `leftovers: ${thing.Labels?.[label]} ${status < 300 ? 'removed' : `stays (${status})`} from ${path.slice(1, -1)}`,
    )
  }
}

/**
 * @param {string} host
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<Thing[]>}
 */
async function labelled(host, path, signal) {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  const { status, text } = await askEngine(host, 'GET', `${path}filters=${filters}`, signal)
  if (status !== 200) throw new Error(`the engine answered ${status}`)
  /** @type {Thing[] | { Volumes: Thing[] | null }} */
  const found = JSON.parse(text)
  return Array.isArray(found) ? found : (found.Volumes ?? [])
}

/** @param {Thing} thing */
function isLeftover({ Labels, Created, CreatedAt }) {
  const created = typeof Created === 'number' ? Created * 1000 : Date.parse(Created ?? CreatedAt ?? '')
  return (Labels?.[label] ?? '').startsWith('test-') && Date.now() - created > limits.age
}
