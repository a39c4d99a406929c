import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAddresses, readTextFile } from './find-addresses.ts'

test('each address and each line without one has the number that editors and spreadsheets show', () => {
  const table = 'Name;E-Mail\r\nAnn;ann@x.org\r\n\r\nOtto;\r\nBen;ben@x.org\r\nAnn again;ANN@x.org\r\n'
  assert.deepEqual(findAddresses(table), {
    addresses: [
      { line: 2, text: 'ann@x.org', name: 'Ann' },
      { line: 5, text: 'ben@x.org', name: 'Ben' },
    ],
    rejected: [{ line: 4, text: 'Otto;' }],
    columns: [],
    column: undefined,
  })
})

test('names come from the columns that have them, from mail programs, or from the other one of two cells', () => {
  const namesIn = (text: string) => findAddresses(text).addresses.map(({ name }) => name)
  assert.deepEqual(namesIn('First name,Surname,Email address,Class\nAda,Lovelace,ada@x.org,7b'), ['Ada Lovelace'])
  assert.deepEqual(namesIn('Name;Vorname;E-Mail\nÖztürk;Elif;elif@x.org'), ['Elif Öztürk'])
  assert.deepEqual(namesIn('E-Mail\tNachname\nada@x.org\tLovelace'), ['Lovelace'])
  assert.deepEqual(namesIn('name;e-mail;parents\nCem;cem@x.org;family@x.org'), ['Cem'])
  assert.deepEqual(namesIn('Ann Lee <ann@x.org>\n"Fay, F." <fay@x.org>\n<x@x.org>'), ['Ann Lee', 'Fay, F.', undefined])
  assert.deepEqual(namesIn('Ann Lee;ann@x.org\nBen;ben@x.org'), ['Ann Lee', 'Ben'])
})

test('a class, a number, a row of several addresses, and what would be refused are no names', () => {
  const namesIn = (text: string) => findAddresses(text).addresses.map(({ name }) => name)
  assert.deepEqual(namesIn('ann@x.org;7b\nben@x.org;12'), [undefined, undefined])
  assert.deepEqual(namesIn('ann@x.org, ben@x.org'), [undefined, undefined])
  assert.deepEqual(namesIn('Ann;7b;ann@x.org'), [undefined])
  assert.deepEqual(namesIn('a@x.org <ann@x.org>').slice(-1), [undefined])
  assert.deepEqual(namesIn(`Name;E-Mail\n A\u202enn \t Lee;ann@x.org\n${'n'.repeat(200)};ben@x.org`), [
    'A nn Lee',
    'n'.repeat(100),
  ])
})

test('ten thousand lines are read within five seconds', () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `"Pupil ${at}";pupil${at}@school.example;7b`)
  const withParents = lines.map((line, at) => `${line};parent${at}@y.example`)
  const began = performance.now()
  assert.equal(findAddresses(lines.join('\n')).addresses.length, 10_000)
  assert.equal(findAddresses(withParents.join('\n'), '1 ').addresses.length, 10_000)
  assert.ok(performance.now() - began < 5_000)
})

const utf16 = (text: string) => new Blob([new Uint8Array([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

test('a file is decoded as spreadsheet programs encode it: UTF-8 with or without a byte order mark, UTF-16, Windows-1252', async () => {
  assert.equal(await readTextFile(new Blob(['ann@x.org\n'])), 'ann@x.org\n')
  assert.equal(await readTextFile(new Blob(['\ufeffann@x.org'])), 'ann@x.org')
  assert.equal(await readTextFile(utf16('Jörg;jörg@x.org')), 'Jörg;jörg@x.org')
  const windows = new Blob([Buffer.from('Schüler;ann@x.org', 'latin1')])
  assert.equal(await readTextFile(windows), 'Schüler;ann@x.org')
})

test('an image, or a file that is too large, is not read', async () => {
  assert.equal(await readTextFile(new Blob([new Uint8Array([0x89, 0x50, 0, 0, 1])])), undefined)
  assert.equal(await readTextFile(new Blob([new Uint8Array(9 * 1024 * 1024)])), undefined)
})
