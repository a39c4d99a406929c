import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

/**
 * What people read stands in the catalogue, in every language: no sentence is left in the code. The command line is
 * English (texts/README.md), and so is what only the operator's terminal and the log show; those stand here by their
 * beginning. A list that should only become shorter. `*-descriptions.ts` and the tables of settings and template fields
 * are the text of docs/reference, which is English.
 */
const forOperators: Readonly<Record<string, readonly string[]>> = {
  'gateway/src/gateway-service.ts': ['BERTH_LINK_DIR names the folder'],
  'gateway/src/supervisor/run-folder.ts': ['Another gateway runs in', 'BERTH_LINK_DIR is ${folder}'],
  'server/src/accounts/sign-up/registration.ts': ['No administrator has verified', 'Sign-up is closed.'],
  'server/src/containers/reconcile/host-check.ts': ['Berth sets no rules on this host'],
  'server/src/engines/broker/main.ts': ['BROKER_SOCKET names the socket'],
  'server/src/start/api-process.ts': ['Start Berth with "npm start"'],
}

const root = path.resolve(import.meta.dirname, '../..')
const files = globSync('{gateway,server}/src/**/*.ts', { cwd: root }).filter(
  (file) => !/-descriptions\.ts$|\/(config\/settings|templates\/fields)\.ts$|\.test\.ts$/.test(file),
)

/** A comment, or a literal in one of the three kinds of quotes. */
const commentOrLiteral = /\/\*[^]*?\*\/|\/\/[^\n]*|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g
/** A capital letter, three words or more, and an end. */
const sentence = /^\p{Lu}\S* \S+ [^]*[.?!…]$/u

function sentencesIn(text: string): string[] {
  const literals = [...text.matchAll(commentOrLiteral)].map(([, one, two, three]) => one ?? two ?? three ?? '')
  return literals.map((each) => each.trim()).filter((each) => sentence.test(each))
}

test('no sentence is left in the code: what people read is in the catalogue', () => {
  assert.ok(files.length > 150, `only ${files.length} files`)
  const found = files.flatMap((file) =>
    sentencesIn(readFileSync(path.join(root, file), 'utf8'))
      .filter((each) => !forOperators[file]?.some((beginning) => each.startsWith(beginning)))
      .map((each) => `${file}: ${each}`),
  )
  assert.deepEqual(found, [])
})

test('what stands on the list is still there', () => {
  for (const [file, beginnings] of Object.entries(forOperators)) {
    const sentences = sentencesIn(readFileSync(path.join(root, file), 'utf8'))
    for (const beginning of beginnings)
      assert.ok(
        sentences.some((each) => each.startsWith(beginning)),
        `${file}: ${beginning}`,
      )
  }
})

test('a sentence is seen in any quotes, and not in a comment', () => {
  const code = `say('This is one.') // This is none, isn't it.\nsay("It's another one.", \`And \${this} is, too.\`) /* Not this one. */`
  assert.deepEqual(sentencesIn(code), ['This is one.', "It's another one.", 'And ${this} is, too.'])
})
