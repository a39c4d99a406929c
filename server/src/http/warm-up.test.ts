import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warmUpHttpServer } from './warm-up.ts'

test('a server that was prepared is there sooner than the first one', async () => {
  const timeOf = async () => {
    const begun = performance.now()
    await warmUpHttpServer()
    return performance.now() - begun
  }
  const [first, second] = [await timeOf(), await timeOf()]
  assert.ok(second < first, `${first} ms, then ${second} ms`)
})
