import { homedir } from 'node:os'
import { join } from 'node:path'
import { hasDocker, startDocker } from './start-docker.mjs'
import { askEngine } from './engine-api.mjs'

/** @import { Need } from '../machine.mjs' */
/** @import { SetupContext } from '../setup-context.mjs' */

const usualHost = 'unix:///var/run/docker.sock'

/** An engine without a response for this many ms counts as down. */
const pingLimitMs = 2_000

/**
 * A container engine that answers.
 * @param {SetupContext} here
 * @param {{ hosts?: string[], isInstalled?: boolean }} [machine] where to look for one, and whether Docker is installed
 * @returns {Promise<Need | undefined>} undefined when there is one
 */
export async function needEngine(here, { hosts = engineHosts(here.env), isInstalled = hasDocker(here.env) } = {}) {
  const answers = await Promise.all(hosts.map(ping))
  if (answers.includes('ok')) return undefined
  const { DOCKER_HOST } = here.env
  if (DOCKER_HOST && DOCKER_HOST !== usualHost) return chosenEngine(DOCKER_HOST)
  if (answers.includes('EACCES')) return closedEngine
  const start = () => startDocker(here, async () => (await ping(usualHost)) === 'ok')
  return { ...(isInstalled ? stoppedEngine : noEngine), start }
}

/** @type {Need} */
const noEngine = {
  step: 'engine',
  what: 'a container engine: Docker, or Podman with its socket',
  // dockerd does not start without iptables, and Debian only recommends it.
  packages: ['docker.io', 'iptables'],
  byHand: 'With Podman: systemctl --user enable --now podman.socket',
}

/** @type {Need} */
const stoppedEngine = {
  step: 'engine',
  what: 'a running container engine: Docker is installed but does not answer',
  packages: [],
  byHand: 'Start it: sudo systemctl start docker',
}

/**
 * Another engine than the configured one is never started: the server would not use it.
 * @param {string} host
 * @returns {Need}
 */
const chosenEngine = (host) => ({
  step: 'engine',
  what: `the container engine at DOCKER_HOST=${host}, which does not answer`,
  packages: [],
  byHand: 'Start it, or unset DOCKER_HOST.',
})

/** @type {Need} */
const closedEngine = {
  step: 'engine',
  what: 'the right to use the container engine: Docker is there, but its socket is closed to you',
  packages: [],
  byHand: 'Join its group, then sign in again: sudo usermod -aG docker "$USER"',
}

/**
 * The first engine that answers, as a value for DOCKER_HOST; undefined when none does within two seconds.
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} [hosts] where to look
 */
export async function findEngine(env, hosts = engineHosts(env)) {
  const answers = await Promise.all(hosts.map(ping))
  return hosts.find((_, index) => answers[index] === 'ok')
}

/**
 * Where engines listen, the likeliest first. With DOCKER_HOST only that address.
 * @param {NodeJS.ProcessEnv} env
 */
export function engineHosts(env) {
  if (env.DOCKER_HOST) return [env.DOCKER_HOST]
  const own = env.XDG_RUNTIME_DIR || `/run/user/${process.getuid?.() ?? 0}`
  const rootless = `unix://${join(own, 'docker.sock')}`
  const desktop = ['.docker/run/docker.sock', '.docker/desktop/docker.sock'].map(
    (path) => `unix://${join(homedir(), path)}`,
  )
  const podman = [`unix://${join(own, 'podman/podman.sock')}`, 'unix:///run/podman/podman.sock']
  return [usualHost, rootless, ...desktop, ...podman]
}

/**
 * @param {string} host a value for DOCKER_HOST
 * @returns {Promise<string>} `ok`, or why not: an error's code such as ENOENT and EACCES, or a status
 */
async function ping(host) {
  if (!URL.canParse(host)) return 'not an address'
  // Only the server supports TLS and SSH; it reports at its start whether the engine answers.
  if (!isPlain(host)) return 'ok'
  try {
    const { status } = await askEngine(host, 'GET', '/_ping', AbortSignal.timeout(pingLimitMs))
    return status === 200 ? 'ok' : `status ${status}`
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

/** @param {string} host a value for DOCKER_HOST */
export const isPlain = (host) => /^(unix|tcp|http):/.test(host) && !process.env.DOCKER_TLS_VERIFY
