// Part of npm run test:more: a long sample; two-nodes.test.ts and gateway/oracle state the rule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extent } from '#test/support/extent.ts'
import { runOracle } from '../gateway/oracle/oracle.ts'
import { pairGateways } from './gateway-pair.ts'

test('requests to the gateways of two nodes reach no app but their own, while everything changes and the nodes lose each other', async (t) => {
  const pair = await pairGateways({ after: (end) => t.after(end) })
  // As `npm run test:cluster` has it.
  const requests = Number(process.env.BERTH_TEST_ORACLE_REQUESTS ?? extent(3_000, 50_000))
  const found = await runOracle(pair.gateway, {
    seed: 20_261_123,
    requests,
    clients: 100,
    changesPerSecond: 300,
    others: async () => [await pair.join()],
  })
  t.diagnostic(JSON.stringify({ ...found, cuts: pair.cuts, wrong: found.wrong.length }))
  assert.deepEqual(found.wrong.slice(0, 10), [])
  assert.ok(found.answered > requests / 20, `only ${found.answered} answers came from apps`)
})
