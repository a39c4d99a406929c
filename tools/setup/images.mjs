import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { findEngine } from './engine.mjs'
import { SetupProblem } from './problem.mjs'

/** @import { Place } from './place.mjs' */

/**
 * Makes sure that the engine has the demo images, unless the operator's settings name others. Tests always have them.
 * @param {Place} here
 * @param {'start' | 'test'} command
 */
export async function ensureImages(here, command) {
  if (command === 'start' && hasOwnTemplates(here.env)) return
  const engine = await findEngine(here.env)
  if (engine === undefined)
    throw new SetupProblem('The container engine stopped answering. Look at its log, then try again.')
  const { ensureDemoImages } = await import('../../images/build.mjs')
  await ensureDemoImages({
    dockerHost: engine,
    log: (line) => here.say('images', line),
    nodeBinary: realpathSync(join(here.own, 'node')),
  })
}

/** @param {NodeJS.ProcessEnv} env */
function hasOwnTemplates(env) {
  const templates = env.CONTAINER_TEMPLATES || env.CONTAINER_TEMPLATES_FILE
  return Boolean(templates || (env.USER_TEMPLATE_IMAGE_DEV && env.USER_TEMPLATE_IMAGE_PROD))
}
