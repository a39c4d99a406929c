import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awaitTurn } from './await-turn.ts'

/** A process that waits for its turn; what happens is written down. */
function waiting(isReplacement: boolean, warm: (isWanted: () => boolean) => Promise<void> = async () => undefined) {
  const events: string[] = []
  const turn = Promise.withResolvers<void>()
  const note = (line: unknown, words?: string) => void events.push(words ?? String(line))
  const over = awaitTurn(
    {
      awaitStart: () => {
        events.push('loaded')
        return turn.promise
      },
    },
    {
      isReplacement,
      warmUp: async (isWanted) => {
        events.push('prepared')
        await warm(isWanted)
      },
      log: { info: note, warn: note } as never,
      answersWithin: 20,
    },
  )
  return { events, begin: () => turn.resolve(), over }
}

// With seven times as much other work a reload kept the API away for 3.3 s: the new process built its server for the first time
// after the old one had ended.
test('a replacement prepares its start before it says that it is loaded, which ends the other one', async () => {
  const { events, begin, over } = waiting(true)
  begin()
  assert.equal(await over, true)
  assert.deepEqual(events, ['prepared', 'loaded'])
})

test('where no other process serves, nothing is prepared, and the start begins at once', async () => {
  const { events, begin, over } = waiting(false)
  begin()
  assert.equal(await over, false)
  assert.deepEqual(events, ['loaded'])
})

test('a service that waits for the end of another one says so, and prepares its start meanwhile', async () => {
  const { events, begin, over } = waiting(false)
  while (!events.includes('prepared')) await new Promise((resolve) => setImmediate(resolve))
  begin()
  assert.equal(await over, true)
  assert.deepEqual(events, [
    'loaded',
    'another API process serves; this one takes its place when that ends',
    'prepared',
  ])
})

test('a preparation that is under way ends when the turn comes', async () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
  const { events, begin, over } = waiting(false, async (isWanted) => {
    while (isWanted()) await nextTurn()
  })
  while (!events.includes('prepared')) await nextTurn()
  begin()
  assert.equal(await over, true)
})

test('a preparation that fails is logged, and the process starts', async () => {
  const { events, begin, over } = waiting(true, () => Promise.reject(new Error('no memory')))
  begin()
  await over
  assert.deepEqual(events, ['prepared', 'the start was not prepared', 'loaded'])
})
