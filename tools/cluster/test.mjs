/**
 * `npm run test:cluster`: the contract of the runtime port, and Berth itself, on a cluster: the one of `KUBECONFIG`, or one that
 * is made on this machine and taken down afterwards. `KEEP_CLUSTER=1` leaves it running for the next run.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { argv, env, execPath, exit } from 'node:process'

const root = resolve(import.meta.dirname, '../..')
const script = (/** @type {string} */ name) => join(import.meta.dirname, name)

/** The contract's own files run on Docker in `npm test`. */
const files = ['runtimes', 'runtime-output', 'runtime-lifecycle'].map((name) => `server/test/engine/${name}.test.ts`)
const others = [
  'pods',
  'placement',
  'homes',
  'rights',
  'isolation',
  'installation',
  'operator',
  'in-cluster',
  'nodes-in-cluster',
  'faults',
].map((name) => `server/test/cluster/${name}.ts`)

const isOwn = !env.KUBECONFIG
/** The main journey in Chromium needs the demo images on the nodes. */
const journeys = isOwn ? ['server/test/journeys/new-user.test.ts'] : []

const words = argv.slice(2)
const all = [...files, ...others, ...journeys]
const chosen = all.filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
// An interrupt ends the tests; the cluster is taken down after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
let code = 1
try {
  const kubeconfig = env.KUBECONFIG ?? startCluster()
  const flags = ['--test', '--test-reporter=spec', '--test-concurrency=1', '--test-timeout=300000']
  const runner = spawnSync(execPath, [...flags, ...chosen], {
    cwd: root,
    stdio: 'inherit',
    env: { ...env, BERTH_TEST_CLUSTER: kubeconfig, ...(isOwn ? { BERTH_TEST_CLUSTER_IS_OWN: '1' } : {}) },
  })
  code = runner.status ?? 1
} finally {
  if (isOwn && !env.KEEP_CLUSTER) execFileSync(script('down.sh'), { stdio: 'inherit' })
}
exit(code)

function startCluster() {
  const said = execFileSync(script('up.sh'), ['2'], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  const [, file = ''] = /^KUBECONFIG=(.*)$/m.exec(said) ?? []
  return file
}
