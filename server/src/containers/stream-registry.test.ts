import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '#/refusals/errors.ts'
import { StreamRegistry } from './stream-registry.ts'

const refused = (status: number, code: string) => (error: unknown) =>
  error instanceof Refusal && error.status === status && error.code === code && error.headers['retry-after'] === '30'

test('one person may have five logs and twenty event streams open, whatever others have', () => {
  const streams = new StreamRegistry()
  const open = (kind: 'logs' | 'events', userId: number) => streams.open(kind, { userId, sid: 's' }, () => undefined)
  const logs = Array.from({ length: 5 }, () => open('logs', 1))
  for (let each = 0; each < 20; each++) open('events', 1)
  assert.throws(() => open('logs', 1), refused(429, 'tooManyStreams'))
  assert.throws(() => open('events', 1), refused(429, 'tooManyStreams'))
  open('logs', 2)
  logs[0]?.()
  open('logs', 1)
})

test('all people together may have 500 logs and 5,000 event streams open; what ended, however it did, makes room', () => {
  const streams = new StreamRegistry()
  const open = (kind: 'logs' | 'events', userId: number) =>
    streams.open(kind, { userId, sid: String(userId) }, () => undefined)
  const closes = Array.from({ length: 500 }, (_, each) => open('logs', Math.floor(each / 5)))
  assert.throws(() => open('logs', 1_000), refused(503, 'streamsFull'))
  for (let each = 0; each < 5_000; each++) open('events', Math.floor(each / 20))
  assert.throws(() => open('events', 1_000), refused(503, 'streamsFull'))
  // Twice is once.
  closes[0]?.()
  closes[0]?.()
  open('logs', 1_000)
  assert.throws(() => open('logs', 1_001), refused(503, 'streamsFull'))
  streams.endUser(7)
  streams.endSession(8, '8')
  for (let each = 0; each < 10; each++) open('logs', 2_000 + each)
  assert.throws(() => open('logs', 3_000), refused(503, 'streamsFull'))
})
