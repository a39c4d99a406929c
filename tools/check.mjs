/** `npm run check`: types, lint and format of the whole repository, in parallel. Ends with code 1 when one fails. */
import { performance } from 'node:perf_hooks'
import { checks, faultsOf } from './checks.mjs'

const outcomes = await Promise.all([...checks].map(([title, check]) => report(title, check)))
if (outcomes.includes(false)) {
  console.error('\nFormat is mended by: npm run format')
  process.exitCode = 1
}

/**
 * @param {string} title
 * @param {readonly string[]} check
 */
async function report(title, check) {
  const start = performance.now()
  const faults = await faultsOf(check)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(faults === undefined ? `${title}: fine (${seconds} s)` : `${title}: NOT FINE\n\n${faults}\n`)
  return faults === undefined
}
