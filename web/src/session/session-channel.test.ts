import assert from 'node:assert/strict'
import { test } from 'node:test'
import { announceChange, SessionChannel } from './session-channel.ts'

function newChannel() {
  const posted: unknown[] = []
  let listener: (event: { data: unknown }) => void = () => undefined
  const channel = new SessionChannel({
    postMessage: (message: unknown) => void posted.push(message),
    addEventListener: (_type: string, added: typeof listener) => void (listener = added),
  } as never)
  return { channel, posted, receive: (data: unknown) => listener({ data }) }
}

test('an announcement carries nothing', () => {
  const { channel, posted } = newChannel()
  channel.announce()
  assert.deepEqual(posted, [null])
})

test('a message causes one check at once, and a flood of them one every five seconds', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { channel, receive } = newChannel()
  let checks = 0
  channel.subscribe(() => (checks += 1))
  receive(null)
  assert.equal(checks, 1)
  for (let second = 0; second < 60; second++) {
    for (let n = 0; n < 1_000; n++) receive({ user: 'eve', url: '//evil.example' })
    t.mock.timers.tick(1_000)
  }
  assert.equal(checks, 13)
})

test('a message within the five seconds is not lost', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { channel, receive } = newChannel()
  let checks = 0
  const unsubscribe = channel.subscribe(() => (checks += 1))
  receive(null)
  receive(null)
  t.mock.timers.tick(5_000)
  assert.equal(checks, 2)
  t.mock.timers.tick(60_000)
  assert.equal(checks, 2)
  unsubscribe()
  receive(null)
  assert.equal(checks, 2)
})

test('a browser without channels, or one that refuses, signs in and out all the same', () => {
  new SessionChannel(undefined).announce()
  const closed = { addEventListener: () => undefined, postMessage: () => assert.fail('closed') }
  new SessionChannel(closed as never).announce()
})

test('a sign-in or sign-out between two documents of a tab is announced, and a usual navigation is not', () => {
  const { channel, posted } = newChannel()
  const values = new Map<string, string>()
  const storage = { getItem: (key: string) => values.get(key) ?? null, setItem: values.set.bind(values) } as never
  for (const isSignedIn of [false, false, true, true]) announceChange(isSignedIn, channel, storage)
  assert.equal(posted.length, 1)
  announceChange(false, channel, storage)
  assert.equal(posted.length, 2)
  const disabled = { getItem: () => assert.fail('disabled'), setItem: () => undefined }
  announceChange(true, channel, disabled as never)
  assert.equal(posted.length, 2)
})
