import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { createOutbox } from './outbox-mailer.ts'

test('without a mail server a mail becomes a file for its owner only, and its link is printed', async (t) => {
  const parent = await mkdtemp(path.join(tmpdir(), 'berth-outbox-'))
  t.after(() => rm(parent, { recursive: true }))
  const folder = path.join(parent, 'outbox')
  const printed: unknown[] = []
  const outbox = createOutbox(folder, 'berth@x.org', { info: (line: unknown) => void printed.push(line) })
  await outbox.send({
    to: 'ann@x.org',
    subject: 'Hello',
    text: 'Open\n\nhttp://x.org/verify?token=abc\n',
    html: '<p>x</p>',
  })
  const files = await readdir(folder)
  assert.equal(files.length, 1)
  const file = path.join(folder, files[0] ?? '')
  assert.match(file, /\.eml$/)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const mail = await PostalMime.parse(await readFile(file))
  assert.equal(mail.to?.[0]?.address, 'ann@x.org')
  assert.match(mail.text ?? '', /token=abc/)
  assert.deepEqual(printed, [{ file, link: 'http://x.org/verify?token=abc' }])
})
