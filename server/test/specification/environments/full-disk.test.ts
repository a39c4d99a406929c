import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { askEngine } from '#test/support/engine/engine.ts'
import { engineAnswering } from '#test/support/engine/faulty-engines.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'

/** The engine's words when its disk is full, as Docker 20.10 to 28 say them in the answer to a build. */
const words = 'failed to register layer: write /usr/lib/x: no space left on device'
const body = `${JSON.stringify({ stream: 'Step 1/2 : FROM x\n' })}\n${JSON.stringify({ error: words })}\n`
const answer = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`

test('a build for which the disk of the engine has no room fails with words', async () => {
  const address = await engineAnswering({ after }, /^POST \S*\/build\?/, answer)
  const { base, make, build, ask, left } = await startEnvironmentBerth(
    { after },
    { engine: { address, ask: askEngine } },
  )
  await make('large', { dockerfile: `FROM ${base}\nRUN true` })
  const { state, error } = await build('large')
  assert.equal(state, 'failed')
  assert.match(error ?? '', /^The disk of the engine is full/)
  assert.match((await ask('GET', '/large/versions/1/log')).text, /The disk of the engine is full/)
  assert.deepEqual(await left(), { containers: 0, networks: 0, images: [] })
})
