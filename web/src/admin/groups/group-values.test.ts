import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldOf, localTimeOf, readGroup } from './group-values.ts'

const typed = {
  name: ' Physics ',
  description: '',
  types: null,
  ends: '',
  limits: { running: '', memory: '', cpus: '', disk: '' },
}

test('empty fields are no limit, memory and disk are typed in GiB, with a comma or a point', () => {
  const none = { running: null, memory: null, cpus: null, disk: null }
  assert.deepEqual(readGroup(typed), { name: 'Physics', description: '', types: null, limits: none, expires_at: null })
  const limits = { running: '2', memory: '1,5', cpus: '0.5', disk: '10' }
  const read = readGroup({ ...typed, limits })
  assert.deepEqual(typeof read === 'object' && read.limits, {
    running: 2,
    memory: 1.5 * 1024 ** 3,
    cpus: 0.5,
    disk: 10 * 1024 ** 3,
  })
})

test('a name that is missing and limits that are no numbers are said before anything is sent', () => {
  assert.equal(readGroup({ ...typed, name: ' ' }), 'nameMissing')
  for (const running of ['x', '-1', '1.5'])
    assert.equal(readGroup({ ...typed, limits: { ...typed.limits, running } }), 'badNumber')
})

test('what a group has stands in its fields as it was typed', () => {
  const limits = { running: 2, memory: 1.5 * 1024 ** 3, cpus: 0.5, disk: null }
  assert.deepEqual([fieldOf(limits, 'running'), fieldOf(limits, 'memory'), fieldOf(limits, 'disk')], ['2', '1.5', ''])
  const read = readGroup({ ...typed, ends: localTimeOf('2027-07-31T22:00:00.000Z') })
  assert.equal(typeof read === 'object' && read.expires_at, '2027-07-31T22:00:00.000Z')
  assert.equal(localTimeOf(null), '')
})
