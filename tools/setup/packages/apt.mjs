import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../run.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** How often, and how long apart in ms, `apt-get update` is tried while another apt-get holds the package lists. */
const listTries = { count: 12, pauseMs: 10_000 }

/**
 * Installs Debian packages; what is installed already is left alone. Waits up to five minutes for another apt-get.
 * @param {SetupContext} here
 * @param {readonly string[]} packages
 * @param {number} [limitMs] of each call of apt-get
 * @throws {SetupProblem} with apt-get's last words
 */
export async function aptInstall(here, packages, limitMs = 1_200_000) {
  const args = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages]
  await here.during('packages', `installing Debian's ${packages.join(', ')}`, async () => {
    try {
      await aptGet(here, args, limitMs)
    } catch {
      // The package lists may be missing (a fresh machine) or older than the archive. Asking for them first would cost
      // every machine that has them half a minute.
      await updateLists(here, limitMs)
      await aptGet(here, args, limitMs)
    }
  })
}

/** @param {SetupContext} here @param {number} limitMs */
async function updateLists(here, limitMs) {
  for (let left = listTries.count; ; left--) {
    try {
      return await aptGet(here, ['update'], limitMs)
    } catch (error) {
      // DPkg::Lock::Timeout does not cover the lock of the lists.
      if (left <= 1 || !/Could not get lock/.test(String(error))) throw error
      await sleep(listTries.pauseMs)
    }
  }
}

/**
 * @param {SetupContext} here
 * @param {readonly string[]} args
 * @param {number} limitMs
 */
function aptGet(here, args, limitMs) {
  const env = { ...here.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  return run('apt-get', args, { log: join(here.own, 'apt.log'), env, limitMs })
}
