import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { WrongUsage } from './command-failure.ts'
import { readAddresses, readList } from './read-addresses.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'berth-csv-'))
after(() => rmSync(folder, { recursive: true }))

async function read(text: string, column?: string): Promise<string[]> {
  const file = path.join(folder, 'class.csv')
  writeFileSync(file, text)
  return readAddresses(file, column)
}

test('addresses are found as spreadsheets write them: byte order mark, semicolons, quotes, empty lines, CRLF', async () => {
  const text = '\ufeffName;E-Mail;Group\r\n"Lee; Ann";ann@x.org;1\r\n\r\nBob; bob@x.org ;2\r\nCarl;;2\r\n'
  assert.deepEqual(await read(text), ['ann@x.org', 'bob@x.org'])
  assert.deepEqual(await read('ann@x.org\nbob@x.org\n'), ['ann@x.org', 'bob@x.org'], 'without a heading')
  assert.deepEqual(await read('Ann\tann@x.org\nBob\tbob@x.org'), ['ann@x.org', 'bob@x.org'])
  assert.deepEqual(await read('email\n'), [])
})

// Split at every delimiter, the comma in a name moved the columns of its row: the parent was invited.
test('a file is split at the delimiter of its headings alone, and the others are part of its cells', async () => {
  const rows = ['Name;Eltern-Mail;E-Mail', 'Müller, Ann;eltern@x.org;ann@x.org', '']
  assert.deepEqual(await read(rows.join('\n')), ['ann@x.org'])
  assert.deepEqual(await read(rows.join('\n').replaceAll(';', '\t')), ['ann@x.org'])
  assert.deepEqual(await read('"Name; first",E-Mail\nLee; Ann,ann@x.org\n'), ['ann@x.org'])
  assert.deepEqual(await read('E-Mail\nann@x.org;Lee, Ann\n'), ['ann@x.org'], 'one heading for two columns')
  assert.deepEqual(await read('Ann,ann@x.org,tea; cake\nBob,bob@x.org,none\n'), ['ann@x.org', 'bob@x.org'])
  assert.deepEqual(await read(''), [])
})

test('names are those of the columns that have them, and a list without headings has none', async () => {
  const file = path.join(folder, 'named.csv')
  writeFileSync(file, 'Surname,First name,Email\n"Lee, Dr.",Ann,ann@x.org\n,,bob@x.org\n')
  assert.deepEqual(await readList(file), [
    { address: 'ann@x.org', name: 'Ann Lee, Dr.' },
    { address: 'bob@x.org', name: '' },
  ])
  writeFileSync(file, 'Ann,ann@x.org\n')
  assert.deepEqual(await readList(file), [{ address: 'ann@x.org', name: '' }])
})

test('a file that is longer than what is read at once has all of its addresses', async () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `Lee, Ann;pupil${at}@school.example\n`)
  const found = await read(`Name;E-Mail\n${lines.join('')}`)
  assert.deepEqual(
    [found.length, found[0], found.at(-1)],
    [10_000, 'pupil0@school.example', 'pupil9999@school.example'],
  )
})

test('a named column is taken, and a missing one is reported with the names of those that exist', async () => {
  const text = 'email,student mail\nparent@x.org,ann@x.org\n'
  assert.deepEqual(await read(text, 'Student Mail'), ['ann@x.org'])
  await assert.rejects(
    read(text, 'address'),
    (error) => error instanceof WrongUsage && /student mail/.test(error.message),
  )
  await assert.rejects(read('name,group\nAnn,1\n'), /--column/)
})

test('a missing file, or one that is no CSV, is reported in a sentence', async () => {
  await assert.rejects(readAddresses(path.join(folder, 'none.csv')), /none\.csv cannot be read/)
  await assert.rejects(read('email\n"ann@x.org\n'), /cannot be read as CSV/)
})
