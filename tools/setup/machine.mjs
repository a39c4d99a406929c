import { existsSync } from 'node:fs'
import { aptInstall } from './packages/apt.mjs'
import { SetupProblem } from './problem.mjs'

/** @import { SetupContext } from './setup-context.mjs' */

/**
 * Something that the machine lacks.
 * @typedef {object} Need
 * @property {string} step who says it, such as "engine"
 * @property {string} what in words, as the end of "Berth needs ..."
 * @property {readonly string[]} packages Debian's packages that bring it
 * @property {() => Promise<void>} [start] what set-up can do once the packages are there; with no packages either, set-up can do nothing
 * @property {string} byHand what the person can do
 * @property {boolean} [isOptional] set-up goes on without it, where it may not provide it
 */

/**
 * Ends set-up before it changed anything, when something is missing that it cannot or may not provide: it may as root on
 * Debian or Ubuntu, unless `BERTH_NO_INSTALL=1` forbids it.
 * @param {SetupContext} here
 * @param {readonly Need[]} needs
 * @param {boolean} [isDebianRoot]
 * @returns {Need[]} what set-up is to provide: without what is optional where it may not install
 * @throws {SetupProblem} one message with everything that is missing
 */
export function refuseUnlessProvidable(
  here,
  needs,
  isDebianRoot = process.getuid?.() === 0 && existsSync('/etc/debian_version'),
) {
  const mayInstall = isDebianRoot && !isForbidden(here.env)
  const refused = needs.filter((need) => !need.isOptional && (!mayInstall || !isProvidable(need)))
  if (refused.length === 0) return needs.filter((need) => mayInstall || !need.isOptional)
  throw new SetupProblem([...refused.map(advice), ...(isForbidden(here.env) ? [forbidden] : [])].join('\n'))
}

const forbidden = 'Set-up did not install or start it because of BERTH_NO_INSTALL.'

/** @param {NodeJS.ProcessEnv} env */
const isForbidden = ({ BERTH_NO_INSTALL }) => BERTH_NO_INSTALL !== undefined && !['', '0'].includes(BERTH_NO_INSTALL)

/** @param {Need} need */
const isProvidable = ({ packages, start }) => packages.length > 0 || start !== undefined

/** @param {Need} need */
function advice({ step, what, packages, byHand }) {
  const onDebian = packages.length === 0 ? '' : `\n  On Debian or Ubuntu: sudo apt-get install ${packages.join(' ')}`
  return `${step}: Berth needs ${what}.${onDebian}\n  ${byHand}`
}

/**
 * Installs the packages of all needs at once, then starts what has to be started.
 * @param {SetupContext} here
 * @param {readonly Need[]} needs
 * @throws {SetupProblem} unless what cannot be installed is optional alone
 */
export async function provide(here, needs) {
  const required = needs.filter((need) => !need.isOptional)
  try {
    await install(here, needs)
  } catch (error) {
    if (required.length === needs.length) throw error
    await install(here, required)
  }
  for (const need of required) await need.start?.()
}

/** @param {SetupContext} here @param {readonly Need[]} needs */
async function install(here, needs) {
  const packages = needs.flatMap((need) => need.packages)
  if (packages.length > 0) await aptInstall(here, packages)
}
