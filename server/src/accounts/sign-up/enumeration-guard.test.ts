import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponsePadding } from './enumeration-guard.ts'

/** ms */
async function waited(padding: ResponsePadding): Promise<number> {
  const begun = performance.now()
  await padding.wait(begun)
  return performance.now() - begun
}

test('before any mail was sent nothing is waited for, and then as long as one of the last hundred took', async () => {
  const padding = new ResponsePadding()
  assert.ok((await waited(padding)) < 1_000)
  for (let index = 0; index < 100; index++) padding.record(9_000)
  for (let index = 0; index < 100; index++) padding.record(200)
  const took = await waited(padding)
  // Timers may come a millisecond early.
  assert.ok(took >= 198 && took < 5_000, `${took} ms`)
})

test('what was done meanwhile is part of the time', async () => {
  const padding = new ResponsePadding()
  padding.record(9_000)
  const begun = performance.now()
  await padding.wait(begun - 9_000)
  assert.ok(performance.now() - begun < 5_000)
})

test('closing ends every wait, and there are none afterwards', async () => {
  const padding = new ResponsePadding()
  padding.record(9_000)
  const begun = performance.now()
  const waits = [padding.wait(begun), padding.wait(begun)]
  padding.close()
  await Promise.all(waits)
  await padding.wait(performance.now())
  assert.ok(performance.now() - begun < 5_000)
})
