/**
 * What `npm start`, `npm test` and `npm run check` run first: `node tools/setup.mjs start|test|firefox|monitoring|check`.
 * It checks what exists, does only what is missing, and prints one line for each step.
 * It must run on Node 20 with nothing installed, so it is plain JavaScript without a dependency.
 */
import { resolve } from 'node:path'
import { argv, env, exit, ppid, versions } from 'node:process'
import { fileURLToPath } from 'node:url'
import { ensureBundles } from './setup/build/bundles.mjs'
import { ensureContainerTool, needCompiler } from './setup/build/container-tool.mjs'
import { ensureSshAddon } from './setup/build/ssh-addon.mjs'
import { needBrowser, needFirefox } from './setup/browser.mjs'
import { ensureReference } from './setup/build/reference.mjs'
import { ensureDependencies } from './setup/packages/dependencies.mjs'
import { needEngine } from './setup/engine/find-engine.mjs'
import { ensureImages, needBusybox } from './setup/build/demo-images.mjs'
import { provide, refuseUnlessProvidable } from './setup/machine.mjs'
import { ensureNode, oldestSetupNode } from './setup/packages/node.mjs'
import { createSetupContext } from './setup/setup-context.mjs'
import { needPostgres } from './setup/postgres.mjs'
import { SetupProblem } from './setup/problem.mjs'
import { needPrometheus } from './setup/prometheus.mjs'
import { ensureWeb } from './setup/build/web-build.mjs'

/** @import { SetupContext } from './setup/setup-context.mjs' */

/** @typedef {keyof typeof needs} Command */

/** What each command needs from the machine, beside the repository's own parts. */
const needs = {
  start: (/** @type {SetupContext} */ here) => [needEngine(here), needBusybox(here, 'start'), needCompiler(here)],
  test: (/** @type {SetupContext} */ here) => [
    needEngine(here),
    needBusybox(here, 'test'),
    needBrowser(here),
    needPostgres(here),
    needCompiler(here),
  ],
  firefox: (/** @type {SetupContext} */ here) => [needEngine(here), needBusybox(here, 'test'), needFirefox(here)],
  monitoring: (/** @type {SetupContext} */ here) => [needEngine(here), needBusybox(here, 'test'), needPrometheus(here)],
  check: () => [],
}

/**
 * @param {Command} command
 * @param {SetupContext} here
 */
async function setUp(command, here) {
  const missing = (await Promise.all(needs[command](here))).filter((need) => need !== undefined)
  await Promise.all([provide(here, refuseUnlessProvidable(here, missing)), prepareRepository(command, here)])
  if (command === 'check') return
  const hasSsh = command !== 'start' || here.env.SSH_LISTEN !== undefined
  await Promise.all([
    ensureContainerTool(here),
    ensureImages(here, command === 'start' ? 'start' : 'test'),
    ...(hasSsh ? [ensureSshAddon(here)] : []),
  ])
}

/**
 * @param {Command} command
 * @param {SetupContext} here
 */
async function prepareRepository(command, here) {
  await Promise.all([ensureNode(here), ensureDependencies(here)])
  if (command === 'check') return
  await ensureWeb(here)
  await Promise.all([ensureBundles(here), ensureReference(here)])
}

/** npm ends the shell between us and it, not us: without this, an interrupted set-up would go on unseen. */
function stopWithParent() {
  setInterval(() => process.ppid !== ppid && exit(143), 500).unref()
}

/** @param {string | undefined} name @returns {name is Command} */
const isCommand = (name) => name !== undefined && Object.hasOwn(needs, name)

async function main() {
  const command = argv[2]
  if (Number.parseInt(versions.node, 10) < oldestSetupNode) {
    throw new SetupProblem(
      `Berth needs Node.js ${oldestSetupNode} or newer to set itself up; this is ${versions.node}.`,
    )
  }
  if (!isCommand(command)) throw new SetupProblem('Usage: node tools/setup.mjs start|test|firefox|monitoring|check')
  stopWithParent()
  await setUp(command, createSetupContext(resolve(fileURLToPath(import.meta.url), '../..'), env))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error
  console.error(`\n${error.message}\n`)
  exit(1)
}
