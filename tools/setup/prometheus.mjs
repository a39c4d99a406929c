import { findProgram } from './run.mjs'

/** @import { Need } from './machine.mjs' */
/** @import { SetupContext } from './setup-context.mjs' */

/**
 * Prometheus and promtool, for `npm run test:monitoring`. The test starts a server of its own; none needs to be running.
 * @param {SetupContext} here
 * @returns {Promise<Need | undefined>} undefined when they are there
 */
export async function needPrometheus(here) {
  if (['prometheus', 'promtool'].every((name) => findProgram(here.env, [name]) !== undefined)) return undefined
  return {
    step: 'prometheus',
    what: 'prometheus and promtool, because a test evaluates the dashboard and the alert rules with them',
    packages: ['prometheus'],
    byHand: 'Elsewhere: put the folder of both programs in PATH.',
  }
}
