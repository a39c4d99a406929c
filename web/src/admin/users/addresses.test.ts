import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressesIn, inParts } from './addresses.ts'

test('addresses are found in lines, lists and what mail programs copy', () => {
  const pasted = 'ann@x.org\n\n  bob@x.org , cy@x.org;dora@x.org eve@x.org\r\n"Fay, F." <fay@x.org>\nGus <gus@x.org>'
  const names = ['ann', 'bob', 'cy', 'dora', 'eve', 'fay', 'gus']
  assert.deepEqual(
    addressesIn(pasted),
    names.map((name) => `${name}@x.org`),
  )
})

test('an address that is there twice counts once, and what is none is kept to be told of', () => {
  assert.deepEqual(addressesIn('Ann@x.org\nann@x.org\nnonsense'), ['Ann@x.org', 'nonsense'])
  assert.deepEqual(addressesIn(' \n '), [])
})

test('250 addresses go in three requests', () => {
  const all = Array.from({ length: 250 }, (_, at) => `p${at}@x.org`)
  assert.deepEqual(
    inParts(all).map(({ length }) => length),
    [100, 100, 50],
  )
  assert.deepEqual(inParts(all).flat(), all)
})
