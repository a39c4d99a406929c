import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveRequests } from './exclusive-calls.ts'

// The look at a home right after its first launch came while the engine removed the container for a restart, and the home was empty.
test('a container is removed after its requests, and none begins meanwhile', async () => {
  const requests = archiveRequests()
  const ends = [requests.begin('a'), requests.begin('a')]
  const end = Promise.withResolvers<void>()
  const steps: string[] = []
  const removal = requests.exclude('a', async () => {
    steps.push('removal')
    await end.promise
  })
  assert.throws(() => requests.begin('a'), { kind: 'missing' })
  requests.begin('b')()
  for (const done of ends) {
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(steps, [])
    done()
  }
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(steps, ['removal'])
  assert.throws(() => requests.begin('a'), { kind: 'missing' })
  end.resolve()
  await removal
  requests.begin('a')()
})

test('after a removal that failed requests are made again', async () => {
  const requests = archiveRequests()
  await assert.rejects(
    requests.exclude('a', () => Promise.reject(new Error('the engine is busy'))),
    /busy/,
  )
  requests.begin('a')()
})
