import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allColumns } from '#/addresses/find-addresses.ts'
import { addressBatches, parseAddresses, unansweredOf } from './invited-addresses.ts'

function found(text: string, column?: string) {
  const { addresses, rejected } = parseAddresses(text, column)
  return { addresses, rejected }
}
const at = (...names: string[]) => names.map((name) => `${name}@x.org`)

test('addresses are found in lines, in lists and in the notation of mail programs', () => {
  const pasted = 'ann@x.org\n\n  bob@x.org , cy@x.org;dora@x.org eve@x.org\r\n"Fay, F." <fay@x.org>\nGus <gus@x.org>'
  assert.deepEqual(parseAddresses(pasted), {
    addresses: at('ann', 'bob', 'cy', 'dora', 'eve', 'fay', 'gus'),
    rejected: [],
    columns: [],
    column: undefined,
  })
})

// A class list with name, address and class once counted three addresses a row.
test('only the addresses of a spreadsheet’s rows count, with any separator, quoted or not', () => {
  for (const rows of [
    'name,email,class\nAnn Arbor,ann@x.org,7b\n"Brown, Bob",bob@x.org,7b\n',
    '"Name";"E-Mail";"Klasse"\r\n"Ann Arbor";"ann@x.org";"7b"\r\n"Bob";"bob@x.org";"7b"\r\n',
    'Mail\tName\nann@x.org\tAnn\nbob@x.org\tBob',
  ])
    assert.deepEqual(found(rows), { addresses: at('ann', 'bob'), rejected: [] })
})

test('of two tables whose columns differ every address counts, as of a list', () => {
  const rows = 'Name;E-Mail\nAnn;ann@x.org\nE-Mail;Eltern\nbob@x.org;pb@y.org'
  const { addresses, columns } = parseAddresses(rows)
  assert.deepEqual([addresses, columns], [['ann@x.org', 'bob@x.org', 'pb@y.org'], []])
})

// Parents and teachers of a class list got accounts and mails.
test('of several columns with addresses the one whose heading means an address counts', () => {
  const rows =
    'Name;E-Mail;Eltern;Lehrkraft\nAnn;ann@x.org;pa@y.org;tom@x.org\n"Brown; Bob";bob@x.org;;tom@x.org\nCy;;pc@y.org;\n'
  const { columns, column, ...rest } = parseAddresses(rows)
  assert.deepEqual(rest, { addresses: at('ann', 'bob'), rejected: ['Cy;;pc@y.org;'] })
  assert.deepEqual(
    columns.map(({ heading, example }) => [heading, example]),
    [
      ['E-Mail', 'ann@x.org'],
      ['Eltern', 'pa@y.org'],
      ['Lehrkraft', 'tom@x.org'],
    ],
  )
  assert.equal(column, columns[0]?.id)
  assert.deepEqual(found(rows, columns[1]?.id).addresses, ['pa@y.org', 'pc@y.org'])
  assert.deepEqual(found(rows, allColumns).addresses, ['ann@x.org', 'pa@y.org', 'tom@x.org', 'bob@x.org', 'pc@y.org'])
})

test('a column is to be chosen where no heading or more than one means an address; until then nothing is found', () => {
  for (const rows of [
    'Kind\tVater\tMutter\n\tann@x.org\teve@x.org\nBob\tbob@x.org\t',
    'Mail;E-Mail-Adresse\nann@x.org;eve@x.org\nbob@x.org;',
    'Ann,ann@x.org,eve@x.org\nBob,bob@x.org,\n',
  ]) {
    const { addresses, columns, column } = parseAddresses(rows)
    assert.deepEqual([addresses, columns.length, column], [[], 2, undefined])
    assert.deepEqual(found(rows, columns[0]?.id), { addresses: at('ann', 'bob'), rejected: [] })
  }
})

test('a list with several addresses in a line is no table', () => {
  for (const list of [
    'ann@x.org, bob@x.org\ncy@x.org, dora@x.org',
    '7b: ann@x.org, bob@x.org\n7c: cy@x.org, dora@x.org',
    'Please invite:\nAnn <ann@x.org>, "Brown, Bob" <bob@x.org>\ncy@x.org; dora@x.org',
  ]) {
    assert.deepEqual(parseAddresses(list).addresses, at('ann', 'bob', 'cy', 'dora'))
    assert.deepEqual(parseAddresses(list).columns, [])
  }
})

test('a duplicate address counts once, and a line without an address is reported', () => {
  assert.deepEqual(found('Ann@x.org\nann@x.org\nnonsense\n Dora Doe;7b \n'), {
    addresses: ['Ann@x.org'],
    rejected: ['nonsense', 'Dora Doe;7b'],
  })
  assert.deepEqual(found(' \n '), { addresses: [], rejected: [] })
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

// The form was empty after a failure in the middle of a list, and no page named the addresses that were left.
test('after a failure the addresses are left that have no result yet', () => {
  const asked = ['Ann@x.org', 'ben@x.org', 'eve@x.org']
  assert.deepEqual(unansweredOf(asked, [{ email: 'ann@x.org' }]), ['ben@x.org', 'eve@x.org'])
  assert.deepEqual(unansweredOf(asked, []), asked)
  assert.deepEqual(
    unansweredOf(
      asked,
      asked.map((email) => ({ email: email.toLowerCase() })),
    ),
    [],
  )
})
