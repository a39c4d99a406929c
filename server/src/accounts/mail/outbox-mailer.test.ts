import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import PostalMime from 'postal-mime'
import { createOutbox } from './outbox-mailer.ts'

const hello = { to: 'ann@x.org', subject: 'Hello', text: 'Open\n\nhttp://x.org/verify?token=abc\n', html: '<p>x</p>' }

async function temporaryFolder(t: TestContext): Promise<string> {
  const parent = await mkdtemp(path.join(tmpdir(), 'berth-outbox-'))
  t.after(() => rm(parent, { recursive: true }))
  return path.join(parent, 'outbox')
}

/** An outbox with a log of this level. @returns the lines that it has logged, without what each line has */
function outboxAt(level: string, folder: string) {
  const printed: object[] = []
  const write = (line: string) => {
    const { time: _, pid: __, hostname: ___, ...rest } = JSON.parse(line) as Record<string, unknown>
    printed.push(rest)
  }
  return { outbox: createOutbox(folder, 'berth@x.org', pino({ level }, { write })), printed }
}

test('without a mail server a mail becomes a file for its owner only, and its link is printed', async (t) => {
  const folder = await temporaryFolder(t)
  const { outbox, printed } = outboxAt('info', folder)
  await outbox.send(hello)
  const files = await readdir(folder)
  assert.equal(files.length, 1)
  const file = path.join(folder, files[0] ?? '')
  assert.match(file, /\.eml$/)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const mail = await PostalMime.parse(await readFile(file))
  assert.equal(mail.to?.[0]?.address, 'ann@x.org')
  assert.match(mail.text ?? '', /token=abc/)
  assert.deepEqual(printed, [{ level: 30, file, link: 'http://x.org/verify?token=abc', msg: 'mail for ann@x.org' }])
})

// With `LOG_LEVEL=warn` no link was printed, and there is no other way in than the files.
test('a link is printed at every level of the log, unless it is silent', async (t) => {
  const folder = await temporaryFolder(t)
  for (const level of ['trace', 'info', 'warn', 'error', 'fatal', 'silent']) {
    const { outbox, printed } = outboxAt(level, folder)
    await outbox.send(hello)
    assert.equal(printed.length, level === 'silent' ? 0 : 1, level)
  }
})
