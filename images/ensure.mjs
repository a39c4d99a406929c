/**
 * Makes the demo images at the start of a released Berth, unless its settings name others. What is missing is said in a
 * sentence and never keeps Berth from starting: it reports itself which image a launch lacks.
 */
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { ensureDemoImages } from './build-demo-images.mjs'

/** The settings file, if there is one; that it cannot be read is reported by the service. */
function fileSettings() {
  try {
    return parseEnv(readFileSync(process.env.BERTH_ENV_FILE || 'berth.env', 'utf8'))
  } catch {
    return {}
  }
}

const settings = { ...fileSettings(), ...process.env }
const hasTemplates = settings.CONTAINER_TEMPLATES || settings.CONTAINER_TEMPLATES_FILE
const hasImages = settings.USER_TEMPLATE_IMAGE_DEV && settings.USER_TEMPLATE_IMAGE_PROD
if (!hasTemplates && !hasImages) {
  const { DOCKER_HOST: dockerHost } = settings
  const log = (/** @type {string} */ line) => console.log(`images: ${line}`)
  await ensureDemoImages({ ...(dockerHost === undefined ? {} : { dockerHost }), log }).catch(
    (/** @type {Error} */ error) => {
      const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
      console.error(`images: ${error.message}${cause}`)
      process.exitCode = 1
    },
  )
}
