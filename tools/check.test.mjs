// Part of npm run test:more: it is `npm run check`, a minute of CPU time that tells nothing of what Berth does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checks, faultsOf } from './checks.mjs'

for (const [title, check] of checks) {
  test(`the check of ${title} passes`, { timeout: 300_000 }, async () => {
    const faults = await faultsOf(check)
    assert.ok(faults === undefined, faults)
  })
}
