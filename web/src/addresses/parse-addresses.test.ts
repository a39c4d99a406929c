import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddresses, addressBatches } from './parse-addresses.ts'

const at = (...names: string[]) => names.map((name) => `${name}@x.org`)

test('addresses are found in lines, in lists and in the notation of mail programs', () => {
  const pasted = 'ann@x.org\n\n  bob@x.org , cy@x.org;dora@x.org eve@x.org\r\n"Fay, F." <fay@x.org>\nGus <gus@x.org>'
  assert.deepEqual(parseAddresses(pasted), {
    addresses: at('ann', 'bob', 'cy', 'dora', 'eve', 'fay', 'gus'),
    rejected: [],
  })
})

// A class list with name, address and class once counted three addresses a row.
test('only the addresses of a spreadsheet’s rows count, with any separator, quoted or not', () => {
  for (const rows of [
    'name,email,class\nAnn Arbor,ann@x.org,7b\n"Brown, Bob",bob@x.org,7b\n',
    '"Name";"E-Mail";"Klasse"\r\n"Ann Arbor";"ann@x.org";"7b"\r\n"Bob";"bob@x.org";"7b"\r\n',
    'Mail\tName\nann@x.org\tAnn\nbob@x.org\tBob',
  ])
    assert.deepEqual(parseAddresses(rows), { addresses: at('ann', 'bob'), rejected: [] })
})

test('a duplicate address counts once, and a line without an address is reported', () => {
  assert.deepEqual(parseAddresses('Ann@x.org\nann@x.org\nnonsense\n Dora Doe;7b \n'), {
    addresses: ['Ann@x.org'],
    rejected: ['nonsense', 'Dora Doe;7b'],
  })
  assert.deepEqual(parseAddresses(' \n '), { addresses: [], rejected: [] })
})

test('an invalid address is kept for the server to refuse', () => {
  assert.deepEqual(parseAddresses('ann@\n@x.org').addresses, ['ann@', '@x.org'])
})

test('250 addresses go in three requests', () => {
  const all = Array.from({ length: 250 }, (_, at) => `p${at}@x.org`)
  assert.deepEqual(
    addressBatches(all).map(({ length }) => length),
    [100, 100, 50],
  )
  assert.deepEqual(addressBatches(all).flat(), all)
})
