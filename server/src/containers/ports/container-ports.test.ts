import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { ContainerPorts, type ContainerPortsParts } from './container-ports.ts'

const running = (userId: number, prefix: string): ContainerState => ({
  recordId: userId,
  userId,
  type: 'dev',
  prefix,
  containerId: prefix,
  isBlocked: false,
  wasStopped: false,
  stopReason: null,
  since: null,
  isStopRequested: false,
  isRetired: false,
  isKeptStopped: true,
  failure: undefined,
  seen: {
    id: prefix,
    state: 'running',
    address: '127.0.0.1',
    port: 80,
    owner: { userId, slug: prefix.slice(0, 3), type: 'dev' },
  } as never,
})

// Eight at a time were started in the order in which they were asked for: one person's 64 kept those of all others waiting for ten seconds.
test('connections that one person waits for keep no other person waiting', async () => {
  const states = [running(1, 'ann-dev'), running(2, 'bob-dev')]
  let begun = 0
  const parts: Partial<Record<keyof ContainerPortsParts, unknown>> = {
    routeSync: { findByPrefix: (prefix: string) => states.find((each) => each.prefix === prefix) },
    runtime: {
      connectToLoopback: async (id: string, _: number, signal: AbortSignal) => {
        begun++
        if (id === 'bob-dev') return new PassThrough()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
    },
  }
  const ports = new ContainerPorts(parts as ContainerPortsParts)
  const left = new AbortController()
  const waiting = Array.from({ length: 64 }, () => ports.connect('ann-dev', 3_000, left.signal))
  const got = await ports.connect('bob-dev', 3_000, AbortSignal.timeout(5_000))
  assert.ok(got instanceof PassThrough)
  const before = begun
  left.abort(new Error('left'))
  const ends = await Promise.allSettled(waiting)
  assert.ok(ends.every(({ status }) => status === 'rejected'))
  assert.equal(begun, before, 'what was given up is not begun')
})
