import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { CommandFailed } from './command-failure.ts'
import { Terminal, formatTable } from './terminal.ts'

function makeTerminal({ isTTY = false, isJson = false } = {}) {
  const make = () => Object.assign(new PassThrough(), { isTTY, columns: 40 })
  const [stdin, stdout, stderr] = [make(), make(), make()]
  const read = (stream: PassThrough) => String(stream.read() ?? '')
  return {
    terminal: new Terminal({ stdin, stdout, stderr }, isJson),
    stdin,
    read: { out: () => read(stdout), err: () => read(stderr) },
  }
}

const never = new AbortController().signal
const confirm = (terminal: Terminal) => terminal.confirm('This deletes Ann.', '--yes', never)

test('a table fits the terminal by cutting its widest columns, and is whole elsewhere', () => {
  const rows = [
    ['1', `${'a'.repeat(60)}@x.org`, 'no'],
    ['22', 'b@x.org', 'yes'],
  ]
  const narrow = formatTable(['ID', 'EMAIL', 'BLOCKED'], rows, 30)
  assert.ok(
    narrow.every((line) => line.length <= 30),
    narrow.join('\n'),
  )
  assert.match(narrow[1] ?? '', /^1 {3}a+… +no$/)
  assert.equal(narrow[2], '22  b@x.org            yes')
  assert.match(formatTable(['ID', 'EMAIL', 'BLOCKED'], rows).join('\n'), /a{60}@x\.org/)
})

test('text from outside reaches no terminal as a control sequence, and stays in its line', () => {
  const [, line = ''] = formatTable(['REASON'], [['\u001b[2J\nok\u202e']])
  assert.equal(line, '?[2J?ok?')
})

test('a table that comes in pages has its headings once', () => {
  const { terminal, read } = makeTerminal()
  const headings = ['A']
  for (const row of ['1', '2']) terminal.table(headings, [[row]])
  assert.equal(read.out(), 'A\n1\n2\n')
})

test('for programs nothing but JSON goes to the output', () => {
  const { terminal, read } = makeTerminal({ isJson: true })
  terminal.print('words')
  terminal.table(['A'], [['1']])
  terminal.json({ a: 1 })
  terminal.note('a note')
  assert.deepEqual([read.out(), read.err()], ['{"a":1}\n', 'a note\n'])
})

/** Text of users is in results: a reason with U+009B coloured the operator's terminal, or moved its cursor. */
test('JSON has no control or format character of a text, and is the same value', () => {
  const { terminal, read } = makeTerminal({ isJson: true })
  const value = { reason: '\u009b31m \u001b[2J \u007f \u202e \u2028 \u{e0001} \n ü 😀' }
  terminal.json(value)
  const line = read.out()
  assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\u2028]/u)
  assert.match(line, /ü 😀/)
  assert.deepEqual(JSON.parse(line), value)
})

test('a line that changes is for people only: elsewhere progress is lines without escape sequences', () => {
  const person = makeTerminal({ isTTY: true })
  person.terminal.progress('1 of 2')
  person.terminal.endProgress()
  assert.equal(person.read.err(), '\r\u001b[K1 of 2\r\u001b[K')
  const other = makeTerminal()
  other.terminal.progress('1 of 2')
  other.terminal.progress('2 of 2')
  assert.match(other.read.err(), /^(1 of 2\n)?$/, 'a line every five seconds at most')
})

test('only a yes goes on; any other input, its end, and a missing terminal change nothing', async () => {
  const willing = makeTerminal({ isTTY: true })
  const confirmed = confirm(willing.terminal)
  willing.stdin.write('Yes\n')
  await confirmed
  assert.match(willing.read.err(), /This deletes Ann\. Type yes/)
  for (const answer of ['y\n', '\n', '\u0003', undefined]) {
    const { terminal, stdin } = makeTerminal({ isTTY: true })
    const refused = assert.rejects(confirm(terminal), CommandFailed)
    if (answer === undefined) stdin.end()
    else stdin.write(answer)
    await refused
  }
  await assert.rejects(confirm(makeTerminal().terminal), /add --yes/)
})
