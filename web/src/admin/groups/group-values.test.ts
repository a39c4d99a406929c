import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '@berth/api/schemas/groups.ts'
import { changesOf, fieldOf, localTimeOf, readGroup } from './group-values.ts'

const typed = {
  name: ' Physics ',
  description: '',
  types: null,
  ends: '',
  limits: { running: '', memory: '', cpus: '', gpus: '', disk: '' },
}

test('empty fields are no limit, memory and disk are typed in GiB, with a comma or a point', () => {
  const none = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  assert.deepEqual(readGroup(typed), { name: 'Physics', description: '', types: null, limits: none, expires_at: null })
  const limits = { running: '2', memory: '1,5', cpus: '0.5', gpus: '1', disk: '10' }
  const read = readGroup({ ...typed, limits })
  assert.deepEqual('name' in read && read.limits, {
    running: 2,
    memory: 1.5 * 1024 ** 3,
    cpus: 0.5,
    gpus: 1,
    disk: 10 * 1024 ** 3,
  })
})

test('the field of a name that is missing, and of a limit that is no number, is known before anything is sent', () => {
  assert.deepEqual(readGroup({ ...typed, name: ' ' }), { wrong: 'name' })
  for (const running of ['x', '-1', '1.5'])
    assert.deepEqual(readGroup({ ...typed, limits: { ...typed.limits, running } }), { wrong: 'running' })
  assert.deepEqual(readGroup({ ...typed, limits: { ...typed.limits, gpus: '0.5' } }), { wrong: 'gpus' })
  assert.deepEqual(readGroup({ ...typed, limits: { ...typed.limits, cpus: '1.5', disk: '10 GB' } }), { wrong: 'disk' })
})

test('what a group has stands in its fields as it was typed', () => {
  const limits = { running: 2, memory: 1.5 * 1024 ** 3, cpus: 0.5, gpus: 1, disk: null }
  assert.deepEqual([fieldOf(limits, 'running'), fieldOf(limits, 'memory'), fieldOf(limits, 'disk')], ['2', '1.5', ''])
  const read = readGroup({ ...typed, ends: localTimeOf('2027-07-31T22:00:00.000Z') })
  assert.equal('name' in read && read.expires_at, '2027-07-31T22:00:00.000Z')
  assert.equal(localTimeOf(null), '')
})

// A new description of a group with 100 MiB made them 100.35 MiB, and its end a minute's part earlier.
test('what was not changed keeps the exact limit and end', () => {
  const limits = { running: 2, memory: 100 * 1024 ** 2, cpus: 0.5, gpus: null, disk: 10e9 }
  const before = { limits, expires_at: '2027-07-31T22:00:30.000Z' }
  const fields = {
    running: fieldOf(limits, 'running'),
    memory: fieldOf(limits, 'memory'),
    cpus: fieldOf(limits, 'cpus'),
    gpus: fieldOf(limits, 'gpus'),
    disk: fieldOf(limits, 'disk'),
  }
  const same = readGroup({ ...typed, limits: fields, ends: localTimeOf(before.expires_at) }, before)
  assert.deepEqual('name' in same && [same.limits, same.expires_at], [limits, before.expires_at])
  const other = readGroup({ ...typed, limits: { ...fields, memory: '0.5' } }, before)
  assert.deepEqual('name' in other && [other.limits?.memory, other.expires_at], [1024 ** 3 / 2, null])
})

// A dialog that was open while a manager ended the group removed that end with a new description.
test('of a group that is changed only what differs from what it was is sent', () => {
  const limits = { running: 2, memory: 100 * 1024 ** 2, cpus: null, gpus: null, disk: null }
  const before = { id: 3, name: 'Physics', description: '', source: 'local', member_count: 0, folder: null } as const
  const group: Group = { ...before, types: ['dev'], limits, expires_at: null }
  const fields = { running: '2', memory: fieldOf(limits, 'memory'), cpus: '', gpus: '', disk: '' }
  const change = (changes: object) => {
    const body = readGroup({ ...typed, types: ['dev'], limits: fields, ...changes }, group)
    assert.ok('name' in body)
    return changesOf(body, group)
  }
  assert.deepEqual(change({}), {})
  assert.deepEqual(change({ description: 'Room 12' }), { description: 'Room 12' })
  assert.deepEqual(change({ types: null }), { types: null })
  assert.deepEqual(change({ limits: { ...fields, running: '', cpus: '1' } }), { limits: { running: null, cpus: 1 } })
})
