import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createProgram } from '@berth/cli/program.ts'

/** Commands of the command line as pages for operators print them: each is one that the program takes. */
const root = path.resolve(import.meta.dirname, '../..')
const folders = ['docs/tutorial', 'docs/how-to']
const pages = [
  'README.md',
  ...folders.flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => path.join(folder, name))),
].filter((name) => name.endsWith('.md'))

/** A line of a shell, or words in a sentence, which may name a command alone. */
interface Printed {
  readonly line: string
  readonly isWhole: boolean
}

function* commandsIn(text: string): Generator<Printed> {
  const blocks = /^ *```(?:sh|console|bash)?\n([^]*?)^ *```$/gm
  for (const [, block = ''] of text.matchAll(blocks))
    for (const line of block.replace(/\\\n\s*/g, ' ').split('\n')) yield { line, isWhole: true }
  for (const [, line = ''] of text.replace(blocks, '').matchAll(/`([^`\n]+)`/g)) yield { line, isWhole: false }
}

/** Where a shell, or a program that runs another one, takes the name of a program. */
const begin =
  /^\s*(?:.*(?:[;&|(]|\s--|\sapi)\s*)?(?:sudo(?:\s+-u\s+\S+)?\s+)?(?:[A-Z_]+=\S+\s+)*(?:\.\/|\/usr\/bin\/)?berth\s+(.*)$/

/** Words of the command line in a line; undefined where it runs another program. */
function wordsOf(line: string): readonly string[] | undefined {
  const [, rest = ''] = begin.exec(line.replace(/(?:^|\s)#\s.*$/, '')) ?? []
  const words: string[] = []
  // Up to what a shell takes for itself.
  for (const [word] of rest.matchAll(/"(?:\\.|[^"])*"|'[^']*'|[|;&<>#)]|\$\([^)]*\)|[^\s|;&<>#)"']+/g)) {
    if (/^[|;&<>#)]$/.test(word)) break
    words.push(word.replace(/^(["'])(.*)\1$/, '$2'))
  }
  return words.length === 0 || words.includes('...') ? undefined : words
}

const taken = new Error('the command was taken')
const quiet = { writeOut: () => undefined, writeErr: () => undefined }

/** Why the program does not take these words; undefined when it does, or when a sentence names a command by them. */
async function refusalOf(words: readonly string[], isWhole: boolean): Promise<string | undefined> {
  const program = createProgram(() => {
    throw taken
  }, quiet)
  try {
    await program.parseAsync(words, { from: 'user' })
    return 'nothing is run'
  } catch (error) {
    if (error === taken) return undefined
    const { message } = error as Error
    const isName = !isWhole && /missing required argument|required option|argument missing|outputHelp/.test(message)
    return isName || message === '(outputHelp)' ? undefined : message
  }
}

test('every printed command of the command line is one that it takes', async () => {
  const faults: string[] = []
  let count = 0
  for (const page of pages)
    for (const { line, isWhole } of commandsIn(readFileSync(path.join(root, page), 'utf8'))) {
      const words = wordsOf(line)
      // `berth start` and the like are of the programs beside the command line.
      if (!words || ['start', 'warm-up', 'gateway', 'api', 'engine-broker', 'demo-images'].includes(words[0] ?? ''))
        continue
      count++
      const refusal = await refusalOf(words, isWhole)
      if (refusal !== undefined) faults.push(`${page}: ${line.trim()}: ${refusal}`)
    }
  assert.deepEqual(faults, [])
  assert.ok(count > 80, `${count}`)
})

/** The package has no `./berth`; these two pages are about a folder that has it. */
const ofFolders = ['docs/how-to/install-as-a-service.md', 'docs/how-to/install-from-the-tarball.md']

test('commands are printed as the package has them', () => {
  const otherwise = pages.filter((page) =>
    /(?:^|[\s`])\.\/berth[\s`]/m.test(readFileSync(path.join(root, page), 'utf8')),
  )
  assert.deepEqual(
    otherwise.filter((page) => !ofFolders.includes(page)),
    ['README.md', 'docs/how-to/use-the-command-line.md'],
  )
})
