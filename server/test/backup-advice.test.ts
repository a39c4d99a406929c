import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { openDatabase } from '#/store/database.ts'

/** The command that docs/how-to/back-up-and-restore.md gives for a copy of the store, run as it stands there. */
const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/how-to/back-up-and-restore.md'), 'utf8')
const [command = ''] = /^\.berth\/node -e .*$/m.exec(page) ?? []

// The advice was `tar` of the data folder, "nothing has to stop": what had been written last was not in berth.sqlite.
test('the copy of a store in use has everything that was committed, and a copy of its file has not', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rm(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'backup'))
  mkdirSync(path.join(folder, '.berth'))
  symlinkSync(process.execPath, path.join(folder, '.berth/node'))
  const { db, close } = await openDatabase(null, path.join(folder, 'data'))
  t.after(() => close())
  await db.insertInto('used_slugs').values({ slug: 'ann' }).execute()

  const file = path.join(folder, 'data/berth.sqlite')
  copyFileSync(file, path.join(folder, 'backup/as-a-file'))
  await promisify(execFile)('sh', ['-c', command.replaceAll('"/backup/', '"backup/')], { cwd: folder })

  assert.throws(() => slugsIn(path.join(folder, 'backup/as-a-file')))
  assert.deepEqual(slugsIn(path.join(folder, 'backup/berth.sqlite')), ['ann'])
})

function slugsIn(file: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true })
  assert.deepEqual(
    database.prepare('PRAGMA integrity_check').get(),
    Object.assign(Object.create(null), { integrity_check: 'ok' }),
  )
  const rows = database.prepare('SELECT slug FROM used_slugs').all()
  database.close()
  return rows.map(({ slug }) => slug)
}
