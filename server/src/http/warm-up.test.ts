import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { warmUpHttpServer } from './warm-up.ts'

const webDir = path.resolve(import.meta.dirname, '../../../web/dist')

test('a server that was prepared is there sooner than the first one', async () => {
  const timeOf = async () => {
    const begun = performance.now()
    await warmUpHttpServer(webDir)
    return performance.now() - begun
  }
  const [first, second] = [await timeOf(), await timeOf()]
  assert.ok(second < first, `${first} ms, then ${second} ms`)
})
