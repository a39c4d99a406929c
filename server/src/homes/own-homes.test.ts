import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { StreamRegistry } from '#/containers/stream-registry.ts'
import { sharedHome } from '#/containers/container-name.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { OwnHomes, type OwnHomesParts } from './own-homes.ts'

// The error came before anyone listened, and ended the process.
test('a download of a home whose archive breaks off at once fails alone, and gives its place back', async () => {
  const ann = { id: 1, slug: 'ann' }
  const owner = { userId: 1, slug: 'ann', type: sharedHome }
  const homes = new OwnHomes({
    runtime: { homes: async () => [{ volume: 'home', owner }], removeHome: async () => undefined },
    contents: {
      async *read() {
        yield await Promise.reject(new RuntimeError('missing', 'read home: it is gone'))
      },
    },
    names: {},
    templates: { all: () => [] },
    streams: new StreamRegistry(),
    bytesOf: () => new Map(),
  } as unknown as OwnHomesParts)
  const [{ id } = { id: '' }] = await homes.list(ann)
  const now = new Date()
  for (let at = 0; at < 4; at++) {
    const { ticket } = await homes.offer(ann, id, now)
    const { stream } = await homes.begin({ userId: 1, sid: 's' }, ticket, now)
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    assert.equal(stream.closed, true)
    assert.match(String(stream.errored), /it is gone/)
  }
})
