import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { ListedContainers } from './engine-context.ts'

const container = (change: Partial<RuntimeContainer> = {}): RuntimeContainer => ({
  id: 'a',
  name: 'berth-ann-dev',
  owner: { userId: 1, slug: 'ann', type: 'dev' },
  state: 'running',
  address: '10.0.0.2',
  port: 80,
  imageId: 'b',
  exitCode: null,
  isOutOfMemory: false,
  startedAt: null,
  endedAt: null,
  fingerprint: 'c',
  ...change,
})

test('the next list repeats the object of a container that has not changed, and no other', () => {
  const listed = new ListedContainers()
  const first = container()
  assert.equal(listed.shared(first), first)
  listed.noteAll([first])
  assert.equal(listed.shared(container()), first)
  for (const change of [
    { state: 'exited' },
    { address: '10.0.0.3' },
    { id: 'other' },
    { owner: null },
    { owner: { userId: 1, slug: 'bob', type: 'dev' } },
    { templateVersion: '1' },
  ]) {
    const changed = container(change)
    assert.equal(listed.shared(changed), changed)
    assert.deepEqual(changed, container(change))
  }
})

test('a container that is in no full list any more is forgotten', () => {
  const listed = new ListedContainers()
  listed.noteAll([container()])
  listed.noteAll([])
  const again = container()
  assert.equal(listed.shared(again), again)
})
