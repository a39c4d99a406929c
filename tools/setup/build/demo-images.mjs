import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { findEngine } from '../engine/find-engine.mjs'
import { SetupProblem } from '../problem.mjs'
import { findProgram } from '../run.mjs'

/** @import { Need } from '../machine.mjs' */
/** @import { SetupContext } from '../setup-context.mjs' */

/** @typedef {'start' | 'test'} Command */

/**
 * BusyBox, the shell in the demo images.
 * @param {SetupContext} here
 * @param {Command} command
 * @returns {Promise<Need | undefined>} undefined when it is there or the images are not wanted
 */
export async function needBusybox(here, command) {
  if (!wantsDemoImages(here.env, command) || findProgram(here.env, ['busybox']) !== undefined) return undefined
  return {
    step: 'images',
    what: 'BusyBox, because the demo images are built from files of this machine',
    packages: ['busybox-static'],
    byHand: 'Or name images of your own: USER_TEMPLATE_IMAGE_DEV and USER_TEMPLATE_IMAGE_PROD.',
  }
}

/**
 * Makes sure that the engine has the demo images, unless the operator's settings name others. Tests always have them.
 * @param {SetupContext} here
 * @param {Command} command
 * @throws {SetupProblem} when they cannot be built
 */
export async function ensureImages(here, command) {
  if (!wantsDemoImages(here.env, command)) return
  const dockerHost = await findEngine(here.env)
  if (dockerHost === undefined)
    throw new SetupProblem('The container engine stopped answering. Look at its log, then try again.')
  // Loaded here, so that a start without demo images works without these files.
  const { ensureDemoImages } = await import('../../../images/build-demo-images.mjs')
  const nodeBinary = realpathSync(join(here.own, 'node'))
  await ensureDemoImages({ dockerHost, log: (line) => here.say('images', line), nodeBinary }).catch((error) => {
    throw new SetupProblem(`The demo images could not be built. ${error instanceof Error ? error.message : error}`)
  })
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Command} command
 */
function wantsDemoImages(env, command) {
  const templates = env.CONTAINER_TEMPLATES || env.CONTAINER_TEMPLATES_FILE
  const hasOwn = Boolean(templates || (env.USER_TEMPLATE_IMAGE_DEV && env.USER_TEMPLATE_IMAGE_PROD))
  return command === 'test' || !hasOwn
}
