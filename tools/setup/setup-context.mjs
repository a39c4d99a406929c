import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

/**
 * Where set-up works, handed to every step.
 * @typedef {object} SetupContext
 * @property {string} root the repository
 * @property {string} own its git-ignored folder `.berth`: runtime, stamps, logs. Deleting it is safe.
 * @property {NodeJS.ProcessEnv} env
 * @property {(step: string, line: string) => void} say prints one line
 * @property {<T>(step: string, doing: string, work: () => Promise<T>) => Promise<T>} during says what begins, does it, says how long it took
 */

/**
 * @param {string} root absolute path
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} [print]
 * @returns {SetupContext}
 */
export function createSetupContext(root, env, print = console.log) {
  /** @type {SetupContext['say']} */
  const say = (step, line) => print(`${step}: ${line}`)
  return {
    root,
    own: join(root, '.berth'),
    env,
    say,
    async during(step, doing, work) {
      const start = performance.now()
      say(step, `${doing} ...`)
      const result = await work()
      say(step, `done in ${((performance.now() - start) / 1000).toFixed(1)} s`)
      return result
    },
  }
}
