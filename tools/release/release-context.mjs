import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../setup/problem.mjs'

/**
 * What every step of a release gets.
 * @typedef {object} ReleaseContext
 * @property {string} root the repository whose program is packed: a checkout with its packages installed
 * @property {string} version
 * @property {number} epoch time of the commit, in seconds since 1970: the time of every file in every artefact
 * @property {string} commit
 * @property {string} work folder of what is built on the way, below `.berth`; it may be deleted
 * @property {string} dist folder of the artefacts
 * @property {NodeJS.ProcessEnv} env for programs that are started: `SOURCE_DATE_EPOCH`, one locale, one time zone
 */

/**
 * @param {{ root: string, work: string, dist: string, version?: string, isTrial?: boolean }} options `version` replaces
 *   that of package.json; a trial may have changes that no commit has
 * @returns {ReleaseContext}
 * @throws {SetupProblem} when files differ from the commit, or are in none: what is packed would be in no history
 */
export function createReleaseContext({ root, work, dist, version, isTrial = false }) {
  const changed = git(root, ['status', '--porcelain'])
  if (changed !== '' && !isTrial)
    throw new SetupProblem(`These files differ from the commit:\n${changed}\nCommit them, or use --trial.`)
  const [commit = '', seconds = ''] = git(root, ['log', '-1', '--format=%H %ct']).split(' ')
  /** @type {{ version: string }} */
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const env = { ...process.env, SOURCE_DATE_EPOCH: seconds, LC_ALL: 'C.UTF-8', TZ: 'UTC', NODE_ENV: 'production' }
  return { root, version: version ?? own.version, epoch: Number(seconds), commit, work, dist, env }
}

/** @param {string} cwd @param {readonly string[]} args */
const git = (cwd, args) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()
