import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checks, faultsOf } from './checks.mjs'

/** It reads every file for 20 s of CPU time; `npm run check` does it, too. */
const isOnlyLong = (/** @type {string} */ title) =>
  (title === 'format' || title === 'types of journeys') && process.env.BERTH_TESTS !== 'long'

for (const [title, check] of checks) {
  const skip = isOnlyLong(title) ? 'part of npm run test:long' : false
  test(`the check of ${title} passes`, { timeout: 300_000, skip }, async () => {
    const faults = await faultsOf(check)
    assert.ok(faults === undefined, faults)
  })
}
