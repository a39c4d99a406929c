import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { waitFor } from '@berth/server/test/support/program.ts'
import { LogDestination } from './log-destination.ts'
import { waitLimit } from '@berth/server/test/support/extent.ts'

const line = (index: number) => `${JSON.stringify({ index, text: 'x'.repeat(200) })}\n`

test('a reader that stands still is not waited for, and later reads whole lines in order, and how many were lost', async (t) => {
  const reader = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => reader.kill('SIGKILL'))
  let read = ''
  reader.stdout.setEncoding('utf8').on('data', (chunk: string) => void (read += chunk))
  reader.kill('SIGSTOP')
  const stream = new LogDestination((Reflect.get(reader.stdin, '_handle') as { fd: number }).fd)
  const count = 20_000
  for (let index = 0; index < count; index++) stream.write(line(index))
  reader.kill('SIGCONT')
  await waitFor('the number of lines that were lost', () => read.includes('lines of the log were lost'))
  stream.write(line(count))
  await waitFor('a line that came later', () => read.includes(`{"index":${count},`))

  const lines = read.trimEnd().split('\n')
  const lost = Number(/"msg":"(\d+) lines/.exec(read)?.[1])
  const numbers = lines.flatMap((each) => (JSON.parse(each) as { index?: number }).index ?? [])
  assert.equal(numbers.length + lost, count + 1)
  assert.deepEqual(
    numbers,
    numbers.toSorted((one, other) => one - other),
  )
})

test('a full disk neither throws nor blocks', async () => {
  // Stays open: the destination tries again each second. When the test closed it, lines went to a socket of another test file,
  // which had got the number: mails arrived as log lines, and a mail server answered "421 You talk too soon".
  const fd = openSync('/dev/full', 'w')
  const stream = new LogDestination(fd)
  for (let index = 0; index < 20_000; index++) stream.write(line(index))
  await new Promise((resolve) => setTimeout(resolve, 50))
  stream.write(line(0))
  stream.flushSync()
})

test('a process whose log is on a full disk ends by itself, although its lines wait for room', async (t) => {
  const module = path.join(import.meta.dirname, 'log-destination.ts')
  const program = `
    import { openSync } from 'node:fs'
    const { LogDestination } = await import(${JSON.stringify(module)})
    const stream = new LogDestination(openSync('/dev/full', 'w'))
    for (let index = 0; index < 20_000; index++) stream.write('x'.repeat(200) + '\\n')
    // By then the first attempt has failed, and there is another one each second.
    await new Promise((resolve) => setTimeout(resolve, 200))
    stream.flushSync()
    console.log('done')`
  const flags = ['--input-type=module', '--eval', program]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const written = text(child.stdout)
  await once(child, 'exit', { signal: AbortSignal.timeout(waitLimit(20_000)) })
  assert.deepEqual([child.exitCode, await written], [0, 'done\n'])
})
