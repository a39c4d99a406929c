import { existsSync, statfsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { aptInstall } from '../setup/packages/apt.mjs'
import { findProgram } from '../setup/run.mjs'
import { runLimited } from './limited.mjs'

/** @import { SetupContext } from '../setup/setup-context.mjs' */

const script = (/** @type {string} */ name) => join(import.meta.dirname, `${name}.sh`)

/** Programs of the scripts, and Debian's packages that bring them. */
const programs = {
  containerd: 'containerd',
  runc: 'runc',
  gcc: 'gcc',
  jq: 'jq',
  curl: 'curl',
  openssl: 'openssl',
  ip: 'iproute2',
  pgrep: 'procps',
}
const folders = ['/usr/sbin', '/sbin', '/usr/bin']

/**
 * How long each step may take, in seconds; on two cores they take up to 30, 20, 400, 20 and 10.
 * @typedef {keyof typeof limits} Step
 */
const limits = { packages: 300, fetch: 240, build: 900, up: 180, try: 90 }

/** What the programs take in the cache while they are built, in bytes. */
const space = 4e9

/** The version of control groups that the kubelet of Debian 12 knows has a file system for each controller. */
const cgroup2 = 0x63677270

/** Types of file systems, as statfs has them. */
const typeOf = (/** @type {string} */ path) => (existsSync(path) ? statfsSync(path).type : undefined)

/**
 * Starts the cluster of the tests with two nodes, after it has made its programs where the cache has none; each step has a time limit. What has
 * been started is left for `down.sh`, also after a failure.
 * @param {SetupContext} here
 * @param {() => number} remaining seconds that are left in all
 * @returns {Promise<{ kubeconfig: string } | { reason: string }>} the file of an administrator, or why this machine has no cluster
 */
export async function makeCluster(here, remaining) {
  const reason = unsuitable() ?? (await addPackages(here))
  if (reason !== undefined) return { reason }
  const cache = env.BERTH_CLUSTER_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'berth/cluster')
  /** @type {Step[]} */
  const steps = [
    ...(existsSync(join(cache, 'fetch.done')) ? [] : /** @type {const} */ (['fetch'])),
    ...(existsSync(join(cache, 'bin/kubelet')) ? [] : /** @type {const} */ (['build'])),
    'up',
    'try',
  ]
  let kubeconfig = ''
  for (const step of steps) {
    const began = performance.now()
    const { output, problem } = await runLimited('nice', argumentsOf(step), within(step, remaining()))
    if (problem !== undefined) return { reason: `${step}.sh ${problem}` }
    console.log(`cluster: ${step}.sh took ${((performance.now() - began) / 1000).toFixed(1)} s`)
    kubeconfig ||= /^KUBECONFIG=(.*)$/m.exec(output)?.[1] ?? ''
  }
  return { kubeconfig }
}

/** Of `nice`: a developer goes on working while the programs are built. @param {Step} step */
const argumentsOf = (step) =>
  step === 'build' ? ['-n', '15', script(step)] : ['-n', '0', script(step), ...(step === 'up' ? ['2'] : [])]

/** @param {Step} step @param {number} remaining */
const within = (step, remaining) => Math.max(1, Math.min(limits[step], remaining))

/** @returns {string | undefined} why no cluster can run on this machine */
function unsuitable() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the cluster runs on Linux on x86-64'
  if (process.getuid?.() !== 0) return 'the nodes of the cluster need root: they have namespaces of their own'
  if (typeOf('/sys/fs/cgroup') === cgroup2) return 'the control groups of this machine are of version 2 alone'
  const { bavail, bsize } = statfsSync(homedir())
  return bavail * bsize < space ? `the programs of the cluster need ${space / 1e9} GB of disk` : undefined
}

/** @param {SetupContext} here @returns {Promise<string | undefined>} why the programs of the scripts are missing */
async function addPackages(here) {
  const missing = Object.entries(programs).filter(([name]) => findProgram(here.env, [name], folders) === undefined)
  if (missing.length === 0) return undefined
  const packages = missing.map(([, name]) => name)
  // Of the compiler of the image that holds a pod.
  if (packages.includes('gcc')) packages.push('libc6-dev')
  try {
    await aptInstall(here, packages, limits.packages * 1000)
    return undefined
  } catch (error) {
    return `${packages.join(', ')} cannot be installed: ${String(error).split('\n')[0]}`
  }
}
