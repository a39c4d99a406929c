import { findProgram } from './run.mjs'

/** @import { Need } from './machine.mjs' */
/** @import { SetupContext } from './setup-context.mjs' */

/**
 * A Chromium, for the tests that use the pages in a browser.
 * @param {SetupContext} here
 * @returns {Promise<Need | undefined>} undefined when it is installed
 */
export async function needBrowser(here) {
  if (findProgram(here.env, ['chromium', 'chromium-browser', 'google-chrome']) !== undefined) return undefined
  return {
    step: 'browser',
    what: 'Chromium, because tests use the pages as a person would',
    packages: ['chromium'],
    byHand: 'Elsewhere: put a program called chromium in PATH.',
  }
}

/**
 * Debian's Firefox, for `npm run test:firefox`.
 * @param {SetupContext} here
 * @returns {Promise<Need | undefined>} undefined when it is installed
 */
export async function needFirefox(here) {
  if (findProgram(here.env, ['firefox-esr']) !== undefined) return undefined
  return {
    step: 'firefox',
    what: 'Firefox, because journeys of members, teachers and administrators are tried in it, too',
    packages: ['firefox-esr'],
    byHand: 'Elsewhere: put a program called firefox-esr in PATH.',
  }
}
