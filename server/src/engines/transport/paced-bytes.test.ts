import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pacedBytes } from './paced-bytes.ts'
import { waitLimit } from '#test/support/extent.ts'

const chunk = Buffer.alloc(64 * 1024)

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield chunk
}

/** Five pages that followed a program without line ends took half a core of the API process, and pings took ten times as long. */
test('a source that never ends is read at its rate once the first bytes are through', async () => {
  const enough = AbortSignal.timeout(1_000)
  let bytes = 0
  for await (const part of pacedBytes(endless(), enough)) {
    bytes += part.length
    if (enough.aborted) break
  }
  assert.ok(bytes >= 2_000_000, `${bytes} come at once`)
  assert.ok(bytes < 2_800_000, `${bytes} within a second`)
})

test('a source that ends or fails does so at once, also during a pause', async () => {
  const finite = async function* () {
    // At its rate it takes ten seconds.
    for (let index = 0; index < 72; index++) yield chunk
    throw new Error('the engine is gone')
  }
  const over = AbortSignal.timeout(50)
  const begun = performance.now()
  const read = async () => {
    for await (const part of pacedBytes(finite(), over)) assert.equal(part, chunk)
  }
  await assert.rejects(read(), /the engine is gone/)
  assert.ok(performance.now() - begun < waitLimit(5_000))
})
