import assert from 'node:assert/strict'
import { parseEnv } from 'node:util'
import { test } from 'node:test'
import { array, assert as assertProperty, constantFrom, oneof, property, string, tuple } from 'fast-check'
import { EnvDocument } from './env-document.ts'

const file = `# my own words

export HOST='10.0.0.1' # behind the router
COLOUR="blue"
#PORT=8080
MAIL_FROM="Berth
<berth@x.org>"
HOST=10.0.0.2
  SIGN_UP = open
LAST=1`

test('a value is changed in its last assignment, and every other line stays', () => {
  const document = new EnvDocument(file)
  document.set('HOST', '::1')
  document.set('MAIL_FROM', 'berth@x.org')
  document.set('SIGN_UP', 'open')
  assert.equal(
    document.text,
    file.replace('HOST=10.0.0.2', 'HOST=::1').replace('MAIL_FROM="Berth\n<berth@x.org>"', 'MAIL_FROM=berth@x.org'),
  )
})

test('a new value goes behind the line that has it commented out, else to the end', () => {
  const document = new EnvDocument(file)
  document.set('PORT', '443')
  document.set('MAX_RUNNING', '30')
  assert.equal(document.text, `${file.replace('#PORT=8080\n', '#PORT=8080\nPORT=443\n')}\nMAX_RUNNING=30\n`)
})

test('a value that is removed is commented out, with all its lines', () => {
  const document = new EnvDocument(file)
  document.unset('MAIL_FROM')
  document.unset('NOTHING')
  assert.match(document.text, /^#MAIL_FROM="Berth\n#<berth@x\.org>"\n/m)
  assert.equal(document.values.MAIL_FROM, undefined)
})

test('a secret gives its place to the name of its file', () => {
  const document = new EnvDocument('A=1\nSMTP_URL=smtp://u:p@x\nB=2\n')
  document.replace('SMTP_URL', 'SMTP_URL_FILE', '/etc/berth/smtp-url')
  assert.equal(document.text, 'A=1\nSMTP_URL_FILE=/etc/berth/smtp-url\nB=2\n')
})

test('whatever a file holds and a value is, the value is read back, and so are all others', () => {
  const value = string({ unit: constantFrom(...'aZ0 #\'"\\=$`,:/@') }).map((text) => text.trim())
  const line = oneof(
    tuple(constantFrom('A', 'B', 'C', 'D'), value).map(([name, text]) => `${name}=${text}`),
    value.map((text) => `# ${text}`),
    constantFrom('', 'X="one\ntwo"', "Y='a", '#A=1', 'export B=2'),
  )
  assertProperty(
    property(array(line), value, (lines, wanted) => {
      const text = lines.map((each) => `${each}\n`).join('')
      const document = new EnvDocument(text)
      assert.equal(document.text, text)
      const before = parseEnv(text)
      try {
        document.set('A', wanted)
      } catch (error) {
        // All three kinds of quotes in one value, or a file with a quote that never ends.
        assert.match((error as Error).message, /quotes|cannot be written/)
        return
      }
      assert.deepEqual({ ...document.values }, { ...before, A: wanted })
    }),
    { numRuns: 2_000 },
  )
})
