import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupProblem } from '../problem.mjs'
import { excerpt, findProgram, run } from '../run.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** In ms: timeout of one start, poll interval, and interval of progress messages. */
const waiting = { limit: 60_000, look: 200, tell: 10_000 }

const systemFolders = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/local/bin', '/usr/bin']
const usualPidFile = '/var/run/docker.pid'
const usualNetworkStore = '/var/lib/docker/network/files/local-kv.db'

/** @param {NodeJS.ProcessEnv} env */
const findDockerd = (env) => findProgram(env, ['dockerd'], systemFolders)

/**
 * Whether Docker's engine is installed, running or not.
 * @param {NodeJS.ProcessEnv} env
 */
export const hasDocker = (env) => findDockerd(env) !== undefined

/**
 * Starts Docker's engine as root and waits until it answers. It keeps running after set-up and Berth have ended.
 * @param {SetupContext} here
 * @param {() => Promise<boolean>} answers whether the engine does
 * @param {{ hasSystemd?: boolean, pidFile?: string, networkStore?: string }} [machine] whether systemd runs its services; where
 *   dockerd notes its number and its networks
 * @throws {SetupProblem} when it does not answer after two tries
 */
export async function startDocker(
  here,
  answers,
  { hasSystemd = existsSync('/run/systemd/system'), pidFile = usualPidFile, networkStore = usualNetworkStore } = {},
) {
  if (await answers()) return // Debian's package starts it where services are run.
  const startOnce = () => (hasSystemd ? startService(here, answers) : startProgram(here, answers, pidFile))
  await here.during('engine', 'starting Docker', async () => {
    // Twice: after a dockerd that was killed, the first start can fail over what the killed one left behind.
    if (await startOnce()) return
    if (!hasSystemd) putAsideBrokenNetworks(here, networkStore)
    if (await startOnce()) return
    throw new SetupProblem(
      `Docker was started but does not answer:\n${lastWords(here)}\nStart it by hand, then try again.`,
    )
  })
}

/**
 * A dockerd that is killed while it makes or removes a network can leave an entry over which each later start panics
 * (`libnetwork.(*controller).reservePools`: index out of range). Without its file of networks it starts; containers, images and
 * volumes are not in it, and Berth makes its networks anew.
 * @param {SetupContext} here
 * @param {string} networkStore
 */
function putAsideBrokenNetworks(here, networkStore) {
  if (!/^panic: [^]*libnetwork/m.test(logEnd(here)) || !existsSync(networkStore)) return
  const aside = `${networkStore}.broken-${Date.now()}`
  renameSync(networkStore, aside)
  here.say(
    'engine',
    `Docker cannot read its own networks, which are now in ${aside}; make those of other programs anew`,
  )
}

/** @param {SetupContext} here */
const logFile = (here) => join(here.own, 'dockerd.log')

/**
 * @param {SetupContext} here
 * @param {() => Promise<boolean>} answers
 * @returns {Promise<boolean>} false when it does not answer within a minute
 */
async function startService(here, answers) {
  await run('systemctl', ['start', 'docker'], { log: logFile(here), limitMs: waiting.limit })
  return hasAnswered(here, answers, () => false)
}

/**
 * @param {SetupContext} here
 * @param {() => Promise<boolean>} answers
 * @param {string} pidFile
 * @returns {Promise<boolean>} false when it ended, or does not answer within a minute
 */
async function startProgram(here, answers, pidFile) {
  if (isAlive(pidFile)) return hasAnswered(here, answers, () => !isAlive(pidFile))
  // The process id may belong to another program by now, and dockerd would refuse to start.
  rmSync(pidFile, { force: true })
  const dockerd = launch(here)
  return hasAnswered(here, answers, () => dockerd.exitCode !== null || dockerd.signalCode !== null)
}

/**
 * Whether the engine of the PID file runs: Debian's package starts one, which may need some seconds to answer.
 * @param {string} pidFile
 */
function isAlive(pidFile) {
  try {
    return readFileSync(`/proc/${readFileSync(pidFile, 'utf8').trim()}/comm`, 'utf8').trim() === 'dockerd'
  } catch {
    return false
  }
}

/**
 * For each container dockerd starts itself anew three times, and runc and containerd's shim six times. Each reads some 10 MB
 * of tables and ends; with Go's usual 100 it collects garbage three times meanwhile, which is a fifth of the CPU time that a
 * container takes.
 */
const rareCollection = '400'

/**
 * In a session of its own, so that Ctrl-C at `npm start` does not end it.
 * @param {SetupContext} here
 */
function launch(here) {
  mkdirSync(here.own, { recursive: true })
  const log = openSync(logFile(here), 'a')
  const env = { GOGC: rareCollection, ...here.env, PATH: [here.env.PATH, ...systemFolders].join(':') }
  const dockerd = spawn(findDockerd(env) ?? 'dockerd', [], { detached: true, stdio: ['ignore', log, log], env })
  dockerd.on('error', () => {}) // The exit code says it too, and the log says why.
  dockerd.unref()
  closeSync(log)
  return dockerd
}

/**
 * @param {SetupContext} here
 * @param {() => Promise<boolean>} answers
 * @param {() => boolean} hasEnded
 */
async function hasAnswered(here, answers, hasEnded) {
  const start = Date.now()
  let told = start
  while (Date.now() - start < waiting.limit && !hasEnded()) {
    if (await answers()) return true
    if (Date.now() - told > waiting.tell) {
      told = Date.now()
      here.say('engine', `still waiting for Docker, ${Math.round((told - start) / 1000)} s`)
    }
    await sleep(waiting.look)
  }
  return false
}

/** @param {SetupContext} here */
const logEnd = (here) => (existsSync(logFile(here)) ? readFileSync(logFile(here), 'utf8').slice(-4_000) : '')

/** @param {SetupContext} here */
const lastWords = (here) => excerpt(logEnd(here))
