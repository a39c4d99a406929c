import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { StreamRegistry } from '#/containers/stream-registry.ts'
import type { StoredSshKey } from '#/store/ssh-keys.ts'
import { SshSessions, type SshSessionsParts } from './ssh-sessions.ts'

const client = { name: 'ann-dev', fingerprint: 'SHA256:x', address: '192.0.2.1' }

/** Sessions of one account with one key, in which something happens while a session begins. */
function sessionsWith(meanwhile: (end: { block: () => void; removeKey: () => void }) => void) {
  const streams = new StreamRegistry()
  const key = { id: 3, title: 'desk' } as StoredSshKey
  const owner = { id: 7, email: 'ann@x.org', isBlocked: false }
  const removed: ((key: StoredSshKey) => void)[] = []
  const end = { block: () => streams.endUser(7), removeKey: () => removed.forEach((each) => each(key)) }
  const parts = {
    streams,
    keys: {
      find: async () => ({ key, owner }),
      noteUse: async () => undefined,
      onRemoved: (listener: (key: StoredSshKey) => void) => void removed.push(listener),
    },
    containers: { routeSync: { onChange: () => undefined } },
    database: { transaction: async () => meanwhile(end) },
    listener: () => ({ endSessions: () => undefined, setPaused: () => undefined }),
    log: pino({ level: 'silent' }),
  }
  return { sessions: new SshSessions(parts as unknown as SshSessionsParts), ...end }
}

// The SSH process knows a session only when it has begun, and cannot end it before.
test('an account that is blocked, and a key that is removed, while a session begins get none', async () => {
  for (const what of ['block', 'removeKey'] as const) {
    const { sessions } = sessionsWith((end) => end[what]())
    assert.ok('refusal' in (await sessions.begin(client)), what)
  }
})

test('a session that was ended before the SSH process had it opens no container', async () => {
  for (const what of ['block', 'removeKey'] as const) {
    const { sessions, ...end } = sessionsWith(() => undefined)
    const begun = await sessions.begin(client)
    assert.ok('session' in begun)
    end[what]()
    assert.ok('refusal' in (await sessions.open(begun.session)), what)
  }
})
